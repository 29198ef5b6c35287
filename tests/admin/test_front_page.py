"""The admin's front page says how the queue stands."""

from __future__ import annotations

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from capture import heartbeat, queue, staff_actions
from capture.models import CaptureJob, Charge, Lane
from capture.models.clock import database_now, database_today
from capture.models.jobs import Status
from capture.reports.failures import Failure, failures_at
from tests.admin.staff import LOOK, get, staff
from tests.factories import WORKER, claim_one, complete_one, error, make_check, make_job, prompts, unknown_error

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]

FRONT = "/admin/"


def failed(reason: str, *, ago: timedelta = timedelta(0), **fields) -> None:
    job = make_job(**fields)
    queue.fail(claim_one(job), error(reason))
    CaptureJob.objects.filter(pk=job.pk).update(finished_at=database_now() - ago)


def cells(html: str, caption: str) -> dict[str, list[str]]:
    """The rows of a table by their heads, as text."""
    table = next(table for table in re.split(r"<table[^>]*>", html) if f"<caption>{caption}" in table)
    rows = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', re.sub(r">\s+<", "><", table), re.DOTALL)
    return {text(head): [text(cell) for cell in re.findall(r"<td>(.*?)</td>", rest)] for head, rest in rows}


def text(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_states_by_system_lead_to_the_jobs(admin_client):
    complete_one(make_job())
    make_job()
    make_job(providers=("gemini",))

    html = get(admin_client, FRONT)

    rows = cells(html, "Jobs by AI system and state")
    assert rows["ChatGPT"] == ["1", "0", "0", "0", "1", "0", "0"]
    assert rows["Gemini"] == ["1", "0", "0", "0", "0", "0", "0"]
    link = "/admin/capture/capturejob/?state=done&amp;provider=chatgpt&amp;age=ended-1d"
    assert link in html
    assert "1 job" in get(admin_client, link.replace("&amp;", "&"))


def test_failures_are_told_by_reason_in_the_last_hour_and_day(admin_client):
    failed("http_429")
    failed("http_429", ago=timedelta(hours=2))
    failed("timeout", ago=timedelta(hours=23), providers=("gemini",))
    failed("timeout", ago=timedelta(hours=25))

    assert failures_at(database_now()) == [
        Failure("http_429", "chatgpt", 1, 2),
        Failure("timeout", "gemini", 0, 1),
    ]
    rows = cells(get(admin_client, FRONT), "Failures by reason")
    assert rows == {
        "too many questions at once for this account http_429": ["ChatGPT", "1", "2"],
        f"{Failure('timeout', '', 0, 0).words} timeout": ["Gemini", "0", "1"],
    }


def test_it_says_what_needs_a_person_and_what_waits_longest(admin_client):
    job = make_job()

    html = get(admin_client, FRONT)

    assert "Needs a person: no worker is alive; open jobs: 1" in text(html)
    assert f'/admin/capture/capturejob/{job.pk}/change/">job {job.pk}</a>, ChatGPT, for 0 s: no worker is alive' in html


def test_it_shows_lanes_workers_unknown_outcomes_and_spend(admin_client):
    heartbeat.register(WORKER, ["chatgpt"], 8)
    Lane.objects.filter(name="gemini").update(paused=True)
    queue.fail(claim_one(make_job()), unknown_error())
    usual = {"team": make_check().team, "provider": "chatgpt", "day": database_today(), "check_uuid": uuid4()}
    Charge.objects.create(attempt=uuid4(), amount=3, basis="estimated", simulated=False, **usual)

    html = get(admin_client, FRONT)

    assert cells(html, "Lanes")["gemini"] == ["0", "20", "paused"]
    (worker,) = cells(html, "Workers: 1 alive").values()
    assert worker == ["alive", "0 s ago", "0", "8", "0"]
    beside = cells(html, "And beside it")
    assert beside["Unknown outcomes"] == ["1 not settled"]
    assert beside["Spent today (UTC)"] == ["$3.00 , of which $3.00 is an estimate; simulated: $0.02"]


def test_what_staff_have_under_way_is_not_forgotten(admin_client, admin_user):
    make_job()
    targets = staff_actions.targets_of("cancel", CaptureJob.objects.all())
    action = staff_actions.propose(admin_user, "cancel", targets, FRONT)
    assert action
    staff_actions.confirm(action)

    html = get(admin_client, FRONT)

    assert f'<a href="/admin/capture/staffaction/{action.pk}/change/">cancel</a>, by admin, 0 of 1' in html


def test_whoever_may_not_look_at_jobs_sees_none_of_it(client):
    client.force_login(staff("view_team"))

    html = get(client, FRONT)

    assert "queue-state" not in html
    assert "/admin/capture/team/" in html


def test_whoever_may_look_sees_it(client):
    client.force_login(staff(*LOOK))

    assert "Nothing needs a person." in get(client, FRONT)


def test_it_asks_as_often_for_many_jobs_as_for_one(admin_client):
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            get(admin_client, FRONT)
        return len(captured)

    make_check()
    queries()
    few = queries()
    make_check(prompts=prompts(20), providers=("chatgpt", "gemini"))
    CaptureJob.objects.filter(provider="gemini").update(
        status=Status.FAILED, reason="timeout", finished_at=database_now()
    )

    assert queries() == few
