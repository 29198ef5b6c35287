"""What a worker is told that there is to do."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection

from capture import queue
from capture.models import CaptureJob, Lane
from capture.models.clock import ClockTimestamp
from capture.queue.outlook import LOOK, Outlook
from tests.factories import claim_one, error, make_job

pytestmark = pytest.mark.django_db

LANES = ("openai", "perplexity")


def put_off(job: CaptureJob, seconds: float) -> None:
    CaptureJob.objects.filter(pk=job.pk).update(run_after=ClockTimestamp() + timedelta(seconds=seconds))


def waiting(seconds: float) -> CaptureJob:
    job = make_job()
    queue.wait(claim_one(job), "resp_1", seconds)
    return job


def test_an_empty_queue_has_nothing_to_do():
    assert queue.look(LANES) == Outlook()


def test_a_lane_with_a_new_job_is_ready_and_no_other():
    make_job()

    assert queue.look(LANES) == Outlook(ready=frozenset({"openai"}))


def test_lanes_that_nobody_asks_about_are_left_out():
    make_job()

    assert queue.look(["perplexity"]) == Outlook()


def test_a_job_in_somebodys_hands_is_nothing_to_do():
    claim_one(make_job())

    assert queue.look(LANES) == Outlook()


def test_a_job_that_was_put_off_is_announced_and_then_overdue():
    job = make_job()
    queue.ask_again(claim_one(job), error(), 30)

    before = queue.look(LANES)
    put_off(job, -1)
    after = queue.look(LANES)

    assert (before.ready, before.overdue) == (frozenset(), False)
    assert before.until_due is not None
    assert 20 < before.until_due <= 30
    assert after == Outlook(overdue=True)


def test_a_call_in_hand_is_announced_and_then_ready():
    job = waiting(30)

    before = queue.look(LANES)
    put_off(job, -1)
    after = queue.look(LANES)

    assert before.ready == frozenset()
    assert before.until_due is not None
    assert 20 < before.until_due <= 30
    assert after == Outlook(ready=frozenset({"openai"}), to_poll=frozenset({"openai"}))


def test_a_paused_lane_is_ready_for_polls_only():
    make_job()
    Lane.objects.update(paused=True)
    assert queue.look(LANES) == Outlook()

    Lane.objects.update(paused=False)
    CaptureJob.objects.all().delete()
    waiting(0)
    Lane.objects.update(paused=True)

    assert queue.look(LANES).ready == {"openai"}


def test_a_lane_that_is_switched_off_is_not_ready():
    make_job()
    Lane.objects.update(enabled=False)

    assert queue.look(LANES) == Outlook()


def test_the_end_of_a_cooling_is_announced():
    at = ClockTimestamp()
    Lane.objects.filter(name="openai").update(cooling_since=at, cooling_until=at + timedelta(seconds=30))

    until_due = queue.look(LANES).until_due

    assert until_due is not None
    assert 20 < until_due <= 30


def test_fault_16_a_look_reads_the_first_entries_of_partial_indexes():
    make_job()
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO capture_capturejob (team_id, of_check_id, prompt_id, provider, lane, sample, polls, attempts,
                unknowns, crashes, reason, estimate, turn, status, run_after, remote_id, finished_at)
            SELECT team_id, of_check_id, prompt_id, 'row' || n, lane, 1, 0, 0, 0, 0, '', 0.02, n,
                (array['done', 'pending', 'pending', 'waiting'])[1 + n % 4],
                CASE WHEN n % 4 IN (2, 3) THEN clock_timestamp() + n * interval '1 second' END,
                CASE WHEN n % 4 = 3 THEN 'resp' END,
                CASE WHEN n % 4 = 0 THEN clock_timestamp() END
            FROM (SELECT * FROM capture_capturejob LIMIT 1) job, generate_series(1, 20000) n
            """
        )
        cursor.execute("ANALYZE capture_capturejob")
        cursor.execute("EXPLAIN " + LOOK, [list(LANES)])
        plan = " ".join(row[0] for row in cursor.fetchall())

    assert "Seq Scan on capture_capturejob" not in plan
    assert "Sort" not in plan
    assert all(index in plan for index in ("job_claimable", "job_waiting", "job_postponed"))
