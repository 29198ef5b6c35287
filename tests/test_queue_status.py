"""How the queue stands, and what of it needs a person."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from capture import heartbeat, lanes, queue, recovery
from capture.models import Attempt, Capture, CaptureJob, Charge, Lane, Status, Team, Worker
from capture.models.clock import ClockTimestamp, database_now
from capture.models.workers import LEASE
from capture.reports import backlog, crew
from capture.reports import queue_status as reading
from capture.reports.crew import Health
from capture.reports.queue_status import QueueStatus, queue_status
from capture.reports.standings import with_standing
from tests.factories import claim_one, complete_one, error, make_check, make_job, unknown_error
from tests.lost_workers import LIMITS, claim, die, end_exchanges, fall_silent, lose, make_worker, poll

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]

HOUR = timedelta(hours=1)


def troubles() -> list[str]:
    return [trouble.kind for trouble in queue_status().troubles]


def set_back(worker, by: timedelta) -> None:
    """This worker's last beat is so long ago."""
    Worker.objects.filter(pk=worker).update(beat_at=ClockTimestamp() - by)


def cool(since: timedelta, *, until: timedelta = HOUR, reason: str = "invalid_api_key") -> None:
    now = database_now()
    Lane.objects.filter(name="openai").update(
        cooling_since=now - since, cooling_until=now + until, cooling_reason=reason
    )


class TestJobs:
    def test_they_are_counted_by_system_and_state(self):
        complete_one(make_job())
        queue.fail(claim_one(make_job()), error())
        queue.wait(claim_one(make_job()), "resp_1", 60)
        make_check(providers=("chatgpt", "gemini"), prompts=("One?", "Two?"))

        jobs = queue_status().backlog.jobs

        nothing = dict.fromkeys(("pending", "claimed", "running", "waiting", "done", "failed", "cancelled"), 0)
        assert jobs["chatgpt"] == {**nothing, "pending": 2, "waiting": 1, "done": 1, "failed": 1}
        assert jobs["gemini"] == {**nothing, "pending": 2}
        assert jobs["perplexity"] == nothing

    def test_a_system_that_was_taken_out_of_the_product_is_counted_all_the_same(self):
        CaptureJob.objects.filter(pk=make_job().pk).update(provider="bygone")

        assert queue_status().backlog.open == {"bygone": 1}

    def test_final_ones_count_for_a_day(self):
        job = make_job()
        complete_one(job)
        CaptureJob.objects.update(finished_at=ClockTimestamp() - timedelta(days=1, seconds=1))

        assert queue_status().backlog.jobs["chatgpt"]["done"] == 0

    def test_final_ones_are_counted_up_to_a_bound_and_it_is_told(self, monkeypatch):
        for _ in range(3):
            complete_one(make_job())
        everything = queue_status().backlog
        monkeypatch.setattr(backlog, "MOST_FINISHED", 2)

        some = queue_status().backlog

        assert (everything.jobs["chatgpt"]["done"], everything.complete) == (3, True)
        assert (some.jobs["chatgpt"]["done"], some.complete) == (2, False)

    def test_the_oldest_that_waits_is_told_with_its_reason(self):
        worker = make_worker()
        queue.wait(claim(worker, make_job()), "resp_1", 60)
        oldest = make_job()
        make_job()
        CaptureJob.objects.filter(pk=oldest.pk).update(created_at=ClockTimestamp() - HOUR)

        told = queue_status().backlog.oldest

        assert told is not None
        assert (told.job, told.provider, told.wait.words) == (oldest.pk, "chatgpt", "next in line")
        assert told.seconds == pytest.approx(3600, abs=60)

    def test_nothing_waits_while_nothing_is_pending(self):
        complete_one(make_job())

        assert queue_status().backlog.oldest is None


class TestWorkers:
    def test_a_worker_is_told_with_its_beat_and_what_it_holds(self):
        worker = make_worker(stuck=1)
        claim(worker, make_job())
        set_back(worker, timedelta(seconds=7))

        (line,) = queue_status().crew.workers

        assert (line.id, line.health, line.seats, line.stuck, line.held) == (str(worker), Health.ALIVE, 8, 1, 1)
        assert line.providers == ("chatgpt", "perplexity")
        assert 7 <= line.silent_seconds < 20

    def test_one_that_is_silent_is_told_and_one_that_is_lost_or_has_stopped_is_not(self):
        silent, lost, stopped = make_worker(), make_worker(), make_worker()
        lose(lost)
        heartbeat.close(stopped)
        fall_silent(silent)

        status = queue_status()

        assert [(line.id, line.health) for line in status.crew.workers] == [(str(silent), Health.SILENT)]
        assert status.crew.alive == []


class TestOrphans:
    def test_what_a_living_worker_holds_is_no_orphan(self):
        claim(make_worker(), make_job())

        assert queue_status().crew.orphans.jobs == 0

    @pytest.mark.parametrize("gone", [fall_silent, heartbeat.close, recovery.give_up_the_dead])
    def test_what_a_worker_holds_of_whom_nothing_is_heard_is_one(self, gone):
        worker = make_worker()
        claim(worker, make_job())
        poll(worker, make_job(providers=("perplexity",)))
        die(worker)

        gone(*() if gone is recovery.give_up_the_dead else (worker,))

        assert queue_status().crew.orphans.jobs == 2

    def test_they_are_overdue_after_two_leases_once_the_exchange_must_be_over(self):
        worker = make_worker()
        claim(worker, make_job())
        make_worker()
        set_back(worker, 2 * LEASE - timedelta(seconds=20))
        end_exchanges()
        early = queue_status().crew.orphans
        set_back(worker, 2 * LEASE + timedelta(seconds=1))
        late = queue_status()
        Attempt.objects.update(deadline=ClockTimestamp() + HOUR)
        under_way = queue_status().crew.orphans

        assert (early.jobs, early.overdue) == (1, 0)
        assert (late.crew.orphans.jobs, late.crew.orphans.overdue) == (1, 1)
        assert (under_way.jobs, under_way.overdue) == (1, 0)
        (trouble,) = late.troubles
        assert trouble.kind == "orphans"
        assert trouble.words.startswith(
            "jobs that nobody takes back: 1; nothing was heard of their workers for up to 6"
        )

    def test_a_worker_whose_row_is_gone_was_never_heard_of(self):
        job = make_job()
        claim_one(job)
        end_exchanges()
        CaptureJob.objects.update(created_at=ClockTimestamp() - HOUR)

        assert queue_status().crew.orphans.overdue == 1


class TestRecovered:
    def test_what_was_taken_back_is_counted(self):
        worker = make_worker()
        claim(worker, make_job())
        poll(worker, make_job(providers=("perplexity",)))
        die(worker)

        recovery.recover(LIMITS)

        recovered = queue_status().crew.recovered
        assert (recovered.workers_lost, recovered.jobs_taken_back, recovered.crashed_open) == (1, 2, 2)

    def test_it_counts_for_a_day(self):
        worker = make_worker()
        claim(worker, make_job())
        lose(worker)
        before = queue_status().crew.recovered
        Worker.objects.update(lost_at=ClockTimestamp() - timedelta(days=1, seconds=1))

        after = queue_status().crew.recovered

        assert (before.workers_lost, before.jobs_taken_back) == (1, 1)
        assert (after.workers_lost, after.jobs_taken_back) == (0, 0)

    def test_a_batch_of_several_workers_is_counted_with_each(self):
        one, other = make_worker(), make_worker()
        claim(one, make_job())
        claim(one, make_job())
        claim(other, make_job())

        fall_silent(one, other)
        recovery.give_up_the_silent()
        end_exchanges()
        recovery.take_all_back(LIMITS)

        assert dict(Worker.objects.values_list("pk", "taken_back")) == {one: 2, other: 1}


class TestMoney:
    def charge(self, amount: str, *, team=None, simulated: bool = False, days: int = 0) -> None:
        day = database_now().date() - timedelta(days=days)
        Charge.objects.create(
            attempt=uuid4(),
            team=team,
            day=day,
            provider="chatgpt",
            amount=Decimal(amount),
            basis="computed",
            check_uuid=uuid4(),
            simulated=simulated,
        )

    def test_todays_charges_are_summed_real_and_simulated_apart_whoevers_they_are(self):
        team = Team.objects.create(name="A")
        self.charge("1.25", team=team)
        self.charge("0.50")
        self.charge("9", team=team, days=1)
        self.charge("0.02", team=team, simulated=True)

        spend = queue_status().spend

        assert (spend.amount, spend.simulated) == (Decimal("1.75"), Decimal("0.02"))

    def test_unknown_outcomes_count_until_they_are_settled(self):
        for _ in range(2):
            queue.fail(claim_one(make_job()), unknown_error())
        both = queue_status().unsettled
        Attempt.objects.filter(pk=Attempt.objects.values("pk")[:1]).update(settled=True)

        assert (both, queue_status().unsettled) == (2, 1)


class TestTroubles:
    def test_a_quiet_queue_has_none_even_without_a_worker(self):
        complete_one(make_job())

        assert troubles() == []

    def test_jobs_wait_and_no_worker_is_alive(self):
        make_check(providers=("chatgpt", "gemini"))
        fall_silent(make_worker())

        (trouble,) = queue_status().troubles

        assert (trouble.kind, trouble.words) == ("no_worker", "no worker is alive; open jobs: 2")

    def test_a_call_in_hand_waits_for_a_worker_too(self):
        queue.wait(claim_one(make_job()), "resp_1", 60)

        assert troubles() == ["no_worker"]

    def test_jobs_wait_for_a_system_that_no_worker_asks(self):
        make_check(providers=("chatgpt", "gemini"))
        make_worker()

        (trouble,) = queue_status().troubles

        assert (trouble.kind, trouble.words) == ("not_asked", "no worker asks Gemini; open jobs: 1")

    def test_a_lane_cools_for_more_than_an_hour(self):
        cool(since=HOUR - timedelta(minutes=1))
        early = troubles()
        cool(since=HOUR + timedelta(minutes=15))

        (trouble,) = queue_status().troubles

        assert early == []
        assert trouble.words == "lane openai has been cooling for 75 min: the key was refused"

    def test_cooling_that_is_over_is_none(self):
        cool(since=2 * HOUR, until=-timedelta(minutes=1))

        assert troubles() == []

    def test_a_lane_that_staff_have_paused_or_that_is_full_is_none(self):
        worker = make_worker()
        claim(worker, make_job())
        make_job()
        lanes.change(["openai"], limit=1)
        lanes.change(["perplexity"], paused=True)

        status = queue_status()

        assert status.troubles == []
        assert [status.lanes[name].words for name in ("openai", "perplexity", "gemini")] == ["full", "paused", "open"]

    def test_they_come_together_the_gravest_first(self):
        claim_one(make_job())
        end_exchanges()
        CaptureJob.objects.update(created_at=ClockTimestamp() - HOUR)
        cool(since=2 * HOUR)

        assert troubles() == ["no_worker", "orphans", "cooling"]


class TestForPrograms:
    def test_names_stay_as_they_are(self):
        make_worker()
        make_job()

        told = json.loads(json.dumps(queue_status().as_json()))

        assert sorted(told) == [
            "at",
            "jobs",
            "jobs_complete",
            "lanes",
            "ok",
            "oldest_waiting",
            "orphans",
            "recovered",
            "spend_today",
            "troubles",
            "unknown_outcomes",
            "workers",
        ]
        assert sorted(told["jobs"]["chatgpt"]) == sorted(Status.values)
        assert sorted(told["lanes"]["openai"]) == [
            "cooling_reason",
            "cooling_since",
            "cooling_until",
            "enabled",
            "in_flight",
            "least_seconds_between_starts",
            "limit",
            "paused",
        ]
        assert sorted(told["workers"][0]) == [
            "beat_at",
            "health",
            "held",
            "host",
            "id",
            "pid",
            "providers",
            "seats",
            "silent_seconds",
            "stuck",
        ]
        assert sorted(told["oldest_waiting"]) == ["enqueued_at", "job", "kind", "provider", "seconds", "why"]
        assert sorted(told["orphans"]) == ["jobs", "overdue", "silent_seconds"]
        assert sorted(told["recovered"]) == ["crashed_open", "jobs_taken_back", "workers_lost"]
        assert sorted(told["spend_today"]) == ["day", "estimated", "real", "simulated"]

    def test_it_says_whether_all_is_well(self):
        assert queue_status().as_json()["ok"] is True
        make_job()

        told = queue_status().as_json()

        assert told["ok"] is False
        assert told["troubles"] == [{"kind": "no_worker", "words": "no worker is alive; open jobs: 1"}]


# ---------------------------------------------------------------------------------------------------------- cost


def ask_counting_queries() -> tuple[QueueStatus, int]:
    with CaptureQueriesContext(connection) as captured:
        status = queue_status()
    return status, len(captured)


def test_it_asks_as_often_for_many_rows_as_for_one():
    def more() -> None:
        worker = make_worker()
        claim(worker, make_job())
        make_check(prompts=("One?", "Two?"), providers=("perplexity",))

    more()
    _, few = ask_counting_queries()
    for _ in range(3):
        more()

    assert ask_counting_queries()[1] == few


@pytest.fixture
def _much():
    """30,000 final jobs of long ago and of today, as many open ones, and what else grows."""
    job = make_job()
    columns = "team_id, of_check_id, prompt_id, lane, polls, unknowns, crashes, reason, estimate"
    values = "team_id, of_check_id, prompt_id, lane, 0, 0, 0, '', 0"
    copies = f"""
        INSERT INTO capture_capturejob ({columns}, attempts, turn, provider, sample, status, created_at, finished_at)
        SELECT {values}, 1, 0, %s || n / 30000, 1 + n %% 30000, %s, now() - interval '60 days',
            CASE WHEN %s THEN now() - n * interval '1 minute' END
        FROM (SELECT * FROM capture_capturejob WHERE id = {job.pk}) job, generate_series(1, %s) n
    """
    with connection.cursor() as cursor:
        cursor.execute(copies, ["done", "done", True, 30_000])
        cursor.execute(copies, ["free", "pending", False, 5_000])
        cursor.execute(
            """
            INSERT INTO capture_attempt (id, job_id, number, worker, base_url, simulated, started_at, deadline, live,
                ended_at, outcome, reason, error, spent)
            SELECT gen_random_uuid(), id, 1, gen_random_uuid(), '', true, now(), now(), false, now(), 'replied', '', '',
                true
            FROM capture_capturejob WHERE status = 'done'
            """
        )
        cursor.execute(
            """
            INSERT INTO capture_charge (attempt, team_id, day, provider, amount, basis, check_uuid, simulated)
            SELECT gen_random_uuid(), %s, current_date - n / 100, 'chatgpt', 0.01, 'computed', gen_random_uuid(), false
            FROM generate_series(0, 29999) n
            """,
            [job.team_id],
        )
        cursor.execute("ANALYZE capture_capturejob, capture_attempt, capture_charge, capture_worker")


def plan(rows) -> str:
    return str(rows.explain())


@pytest.mark.slow
@pytest.mark.usefixtures("_much")
def test_what_grows_is_never_read_from_end_to_end():
    now = database_now()
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN " + backlog.FINISHED, {"since": now - backlog.WINDOW, "most": backlog.MOST_FINISHED})
        finished = "\n".join(line for (line,) in cursor.fetchall())

    plans = {
        "job_finished": finished,
        "job_open": plan(backlog.grouped()),
        "job_held|job_in_flight": plan(CaptureJob.objects.orphaned()),
        "job_crashed": plan(crew.crashed()),
        "attempt_unsettled": plan(reading.unsettled()[:10_000]),
        "charge_by_day": plan(Charge.objects.since(now.date())),
        "job_in_flight": plan(with_standing(Lane.objects.all())),
    }

    assert [index for index, found in plans.items() if not re.search(index, found)] == []
    for found in plans.values():
        for table in ("capture_capturejob", "capture_attempt", "capture_charge"):
            assert f"Seq Scan on {table}" not in found
    status = queue_status()
    assert status.backlog.jobs["free0"]["pending"] == 5_000
    assert status.backlog.jobs["done0"]["done"] == pytest.approx(1_440, abs=10)
    assert status.spend.amount == 1
    assert not Capture.objects.exists()
