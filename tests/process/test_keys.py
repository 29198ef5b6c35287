"""Keys are in no log, no page, no row, no error and no repr, whatever the systems answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection
from django.db.models import Q
from django.test import Client

from capture import cooling, lanes, systems
from capture.models import Capture, CaptureJob, Lane, Status
from capture.providers import registry
from tests.factories import make_check, make_user
from tests.process.running import simulator, until, worker

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

SLUGS = tuple(registry.by_slug)
KEYS = {
    "OPENAI_API_KEY": "sk-proj-Zq4xT9vLmN2",
    "PERPLEXITY_API_KEY": "pplx-Zq4xT9vLmN2",
    "GEMINI_API_KEY": "AIzaZq4xT9vLmN2",
    "SERPAPI_API_KEY": "serpZq4xT9vLmN2",
}
MARK = "Zq4xT9vLmN2"  # in every key

FAILURES = (
    "bad_key",
    "no_money",
    "rate_limit_header",
    "overloaded",
    "html_401",
    "html_502",
    "truncated",
    "empty",
    "failed",
    "hostile",
)


@pytest.fixture
def system():
    with simulator("--speed", "1000") as running:
        yield running


def addresses(system):
    return {f"{provider.env_prefix}_BASE_URL": system.url + provider.simulator_path for provider in registry.PROVIDERS}


def everything_in_the_database() -> str:
    """A dump of all rows of all our tables, as text."""
    tables = [name for name in connection.introspection.table_names() if not name.startswith("django_migrations")]
    rows = []
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f'SELECT t::text FROM "{table}" t')
            rows += [row[0] for row in cursor.fetchall()]
    return "\n".join(rows)


def every_job_has_met_its_failure() -> bool:
    cooling.resume(list(Lane.objects.values_list("name", flat=True)))  # what a refused key has stopped
    polled = Q(status=Status.WAITING, polls__gte=1)
    refused = Q(tries__ended_at__isnull=False)
    return not CaptureJob.objects.open().exclude(polled | refused).exists()


def test_no_key_shows_anywhere(system, tmp_path: Path, settings):
    lanes.make_missing()
    user = make_user("ann", is_staff=True, is_superuser=True)
    checks = [make_check(user, providers=SLUGS, prompts=(f"{shape}?",)) for shape in ("well", *FAILURES)]
    for shape in FAILURES:
        for call in ("start", "poll"):
            step = {"call": call, "times": None, "prompt_contains": f"{shape}?", "do": {"shape": shape}}
            system.script(step)
    settings.CAPTURE_PROVIDER_KEYS = KEYS | addresses(system)
    log = tmp_path / "log"

    with worker(log=log, LOG_LEVEL="DEBUG", CAPTURE_MAX_ATTEMPTS="1", **KEYS, **addresses(system)) as process:
        until(every_job_has_met_its_failure)
        process.terminate()
        process.wait(40)

    client = Client()
    client.force_login(user)
    pages = [client.get(f"/checks/{check.uuid}/{page}") for check in checks for page in ("", "status.json")]
    pages += [
        client.get("/checks/new/"),
        client.get("/admin/capture/capturejob/"),
        client.get("/admin/capture/attempt/"),
    ]
    shown = "\n".join(page.content.decode() for page in pages)
    assert Capture.objects.answered().filter(prompt__text="well?").count() == len(SLUGS)
    assert Capture.objects.exclude(prompt__text="well?").exclude(outcome="answered").count() > len(SLUGS)
    assert MARK not in log.read_text()
    assert MARK not in everything_in_the_database()
    assert MARK not in shown
    assert not any(MARK in repr(provider) + repr(vars(provider)) for provider in systems.configured().values())
