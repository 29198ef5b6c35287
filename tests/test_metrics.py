"""The figures for Prometheus: each from rows that are known."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from prometheus_client.parser import text_string_to_metric_families

from capture import lanes, queue
from capture.models import Attempt, Capture, CaptureJob, Charge
from capture.models.clock import database_today
from capture.reports import metrics
from capture.reports.recent import COUNTS, ENDED
from tests.factories import claim_one, complete_one, error, make_check, make_job, make_team, unknown_error
from tests.lost_workers import fall_silent, make_worker

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]

SECOND = timedelta(seconds=1)


@pytest.fixture(autouse=True)
def _lanes():
    lanes.make_missing()


def read() -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    text, _ = metrics.exposition("")
    families = text_string_to_metric_families(text.decode())
    return {
        (sample.name.removeprefix("aicontrol_"), frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def of(name: str, **labels: str) -> float:
    return read()[name, frozenset(labels.items())]


def test_open_jobs_by_system_and_state():
    make_check(prompts=("a?", "b?"))
    claim_one(make_job(providers=("perplexity",)))

    assert of("jobs", system="chatgpt", state="pending") == 2
    assert of("jobs", system="perplexity", state="running") == 1
    assert of("jobs", system="gemini", state="pending") == 0


def test_jobs_that_ended_with_their_attempts_retries_and_unknown_outcomes():
    complete_one(make_job())
    job = make_job()
    queue.ask_again(claim_one(job), unknown_error(), 0)
    CaptureJob.objects.filter(pk=job.pk).update(run_after=None)
    queue.fail(claim_one(job), error())

    done, failed = {"system": "chatgpt", "state": "done"}, {"system": "chatgpt", "state": "failed"}
    assert (of("jobs_ended_last_day", **done), of("jobs_ended_last_day", **failed)) == (1, 1)
    assert (of("jobs_ended_last_hour", **done), of("jobs_ended_last_hour", **failed)) == (1, 1)
    assert (of("attempts_last_hour", **done), of("attempts_last_hour", **failed)) == (1, 2)
    assert (of("retries_last_hour", **done), of("retries_last_hour", **failed)) == (0, 1)
    assert of("unknown_outcomes_last_hour", **failed) == 1
    assert of("unknown_outcomes") == 1
    # Asked again, a job begins to count its attempts anew; what was started was started all the same.
    queue.requeue(CaptureJob.objects.filter(pk=job.pk))
    queue.fail(claim_one(job), error())
    assert (of("attempts_last_hour", **failed), of("retries_last_hour", **failed)) == (3, 2)
    assert of("unknown_outcomes_last_hour", **failed) == 1


def test_what_ended_longer_ago_is_not_of_the_last_hour():
    complete_one(make_job())
    CaptureJob.objects.update(finished_at="2026-01-01T00:00Z")

    assert ("jobs_ended_last_hour", frozenset({("system", "chatgpt"), ("state", "done")})) not in read()


def test_how_long_jobs_wait_and_calls_take():
    for seconds in range(1, 22):
        job = make_job()
        complete_one(job)
        created = CaptureJob.objects.get(pk=job.pk).created_at
        Attempt.objects.filter(job=job).update(started_at=created + seconds * SECOND)
        Capture.objects.filter(prompt=job.prompt).update(seconds=10 * seconds)

    assert of("wait_seconds", system="chatgpt", quantile="0.5") == pytest.approx(11)
    assert of("wait_seconds", system="chatgpt", quantile="0.95") == pytest.approx(20)
    assert of("call_seconds", system="chatgpt", simulated="true", quantile="0.5") == pytest.approx(110)
    assert of("call_seconds", system="chatgpt", simulated="true", quantile="0.95") == pytest.approx(200)


def test_the_oldest_that_waits():
    assert of("oldest_pending_seconds") == 0
    make_job()
    CaptureJob.objects.update(created_at="2026-01-01T00:00Z")

    assert of("oldest_pending_seconds") > 86_400


def test_lanes():
    claim_one(make_job())
    lanes.change(["openai"], limit=7, paused=True)

    assert of("lane_limit", lane="openai") == 7
    assert of("lane_in_flight", lane="openai") == 1
    assert (of("lane_paused", lane="openai"), of("lane_paused", lane="gemini")) == (1, 0)
    assert of("lane_enabled", lane="openai") == 1
    assert of("lane_cooling_seconds", lane="openai") == 0


def test_workers_and_their_seats():
    make_worker(stuck=3)
    fall_silent(make_worker())

    assert (of("workers", health="alive"), of("workers", health="silent")) == (1, 1)
    assert (of("seats"), of("seats_stuck")) == (8, 3)


def test_what_needs_a_person_is_told_by_kind():
    make_job()

    assert of("troubles", kind="no_worker") == 1
    assert of("troubles", kind="cooling") == 0


def test_spend_of_today_by_system_and_nothing_simulated_in_what_is_real():
    for amount, basis, simulated in (("1.50", "computed", False), ("2", "estimated", False), ("4", "computed", True)):
        Charge.objects.create(
            attempt=f"00000000-0000-0000-0000-00000000000{amount[0]}",
            team=make_team(),
            day=database_today(),
            provider="chatgpt",
            amount=Decimal(amount),
            basis=basis,
            check_uuid="00000000-0000-0000-0000-000000000000",
            simulated=simulated,
        )

    kinds = ("real", "estimated", "simulated")
    assert [of("spend_today_dollars", system="chatgpt", kind=kind) for kind in kinds] == [3.5, 2, 4]


def test_a_scrape_asks_as_often_for_many_rows_as_for_few():
    complete_one(make_job())
    with CaptureQueriesContext(connection) as few:
        read()
    for _ in range(5):
        complete_one(make_job(providers=("perplexity",)))
        make_worker()

    with CaptureQueriesContext(connection) as many:
        read()

    assert len(many) == len(few) <= 20


def test_what_ended_lately_is_found_by_its_index():
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {ENDED}{COUNTS}", {"since": "2026-01-01T00:00Z", "most": 10})
        plan = "\n".join(row[0] for row in cursor.fetchall())

    assert "job_finished" in plan
