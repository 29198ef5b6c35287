"""Times in the admin can be compared with a log: to the second, by 24 hours, and with their zone."""

from __future__ import annotations

import re

import pytest
from django.contrib import admin
from django.urls import reverse

from capture import heartbeat, queue, schedules
from capture.models import CaptureJob, Lane, Schedule
from capture.models.clock import database_now
from tests.admin.staff import JOBS, choose, get, say_yes
from tests.factories import WORKER, claim_one, complete_one, error, make_job

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]

MODELS = [model._meta.label_lower for model in admin.site._registry]

HALF_A_DAY = re.compile(r"\b[ap]\.m\.|\b(?:noon|midnight)\b", re.IGNORECASE)
TIME = re.compile(r"\b\d{1,2}:\d\d\b(?P<rest>(?::\d\d)? ?\w*)")
EXACT = re.compile(r":\d\d UTC")


@pytest.fixture
def rows(admin_client) -> None:
    """One of everything that has a time."""
    heartbeat.register(WORKER, ["chatgpt"], 8)
    done = make_job()
    complete_one(done)
    queue.fail(claim_one(make_job()), error())
    schedules.plan(done.of_check, Schedule.Every.DAILY, 6)
    say_yes(admin_client, choose(admin_client, "requeue", *CaptureJob.objects.all(), path=JOBS))
    Lane.objects.update(last_start_at=database_now())


def text(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def pages(client, label: str) -> list[str]:
    """A list, and the page and the history of its first row."""
    listed = get(client, reverse(f"admin:{label.replace('.', '_')}_changelist"))
    found = re.search(r'href="(/admin/[a-z]+/[a-z]+/[^/"]+/)change/', listed)
    more = [get(client, f"{found[1]}{page}/") for page in ("change", "history")] if found else []
    return [listed, *more]


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("label", MODELS)
def test_they_have_seconds_and_a_zone_on_every_page(admin_client, label):
    for page in map(text, pages(admin_client, label)):
        assert not HALF_A_DAY.search(page)
        assert [time[0] for time in TIME.finditer(page) if not EXACT.match(time["rest"])] == []


@pytest.mark.usefixtures("rows")
def test_such_a_page_has_some(admin_client):
    listed, page, _history = pages(admin_client, "capture.worker")

    assert re.search(r"\d \w{3} \d{4}, \d\d:\d\d:\d\d UTC", text(listed))
    assert EXACT.search(text(page))
