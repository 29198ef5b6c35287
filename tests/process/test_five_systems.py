"""A check over all AI systems, with a real worker and the simulator."""

from __future__ import annotations

import pytest

from capture import lanes
from capture.models import Attempt, Capture, CaptureJob, Charge, Outcome, Status
from capture.providers import registry
from tests.factories import make_check
from tests.process.running import simulator, until, worker

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

SLUGS = tuple(registry.by_slug)
PROMPTS = ("Which espresso machine is best?", "What do people drink at work?")


@pytest.fixture(autouse=True)
def _lanes():
    lanes.make_missing()


@pytest.fixture
def system():
    with simulator("--speed", "1000") as running:
        yield running


def work_off(system, log, **variables):
    with worker("--drain", log=log, SIMULATOR_URL=system.url, **variables) as process:
        assert process.wait(90) == 0


@pytest.mark.parametrize("plans", ["off", "on"])
def test_a_check_over_all_systems_completes(system, tmp_path, plans):
    make_check(providers=SLUGS, prompts=PROMPTS, samples=2, country="DE", language="de")

    work_off(system, tmp_path / "log", DATABASE_KEEP_PLANS=plans)

    starts = system.counts()["starts"]
    assert set(CaptureJob.objects.values_list("status", flat=True)) == {Status.DONE}
    for slug, provider in registry.by_slug.items():
        captures = Capture.objects.answered().filter(provider=slug)
        assert captures.count() == starts[slug]["total"] == 2 * min(2, provider.most_samples or 2)
        assert set(captures.values_list("surface", flat=True)) == {provider.surface}
        assert captures.filter(sources__isnull=False).distinct().count() == captures.count()
    assert Charge.objects.count() == Attempt.objects.count() == Capture.objects.count()


def test_the_redirects_of_gemini_become_pages_beside_the_answers(system, tmp_path):
    make_check(providers=("gemini",), prompts=PROMPTS)

    with worker(log=tmp_path / "log", SIMULATOR_URL=system.url):
        until(lambda: Capture.objects.answered().count() == 2)
        until(lambda: not _redirects().exists())

    urls = list(Capture.objects.values_list("sources__url", "sources__raw_url"))
    assert all(".example/" in url and "grounding-api-redirect" in raw_url for url, raw_url in urls)


def _redirects():
    return Capture.objects.filter(sources__url__contains="grounding-api-redirect")


def test_gemini_is_asked_by_its_second_route_when_that_is_set(system, tmp_path):
    make_check(providers=("gemini",), prompts=PROMPTS)

    work_off(
        system,
        tmp_path / "log",
        GEMINI_API="generate_content",
        GEMINI_API_KEY="real-looking",
        GEMINI_BASE_URL=f"{system.url}/gemini",
    )

    assert Capture.objects.answered().count() == 2
    # Its answer comes at once, so its id is only kept to tell calls apart.
    assert not Attempt.objects.filter(live=True).exists()
    assert Attempt.objects.values("remote_id").distinct().count() == 2


@pytest.mark.parametrize("slug", SLUGS)
def test_a_system_that_fails_shows_its_reason_beside_the_answers_of_the_others(system, tmp_path, slug):
    check = make_check(providers=SLUGS, prompts=PROMPTS[:1])
    system.script({"system": slug, "call": "start", "times": None, "do": {"shape": "failed"}})

    work_off(system, tmp_path / "log", CAPTURE_MAX_ATTEMPTS="1")

    failed = check.captures.exclude(outcome=Outcome.ANSWERED).get()
    assert (failed.provider, failed.outcome) == (slug, Outcome.FAILED)
    assert failed.reason
    assert failed.detail
    assert check.captures.answered().count() == len(SLUGS) - 1
