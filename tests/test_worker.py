"""The loop, one step at a time, with providers that answer from a list; no HTTP, no processes."""

from __future__ import annotations

import threading
import time
from random import Random
from typing import Any

import pytest
from django.db import DataError, InternalError, OperationalError, ProgrammingError

from capture import calls, heartbeat, queue, retry, schedules
from capture.models import (
    Attempt,
    AttemptOutcome,
    Capture,
    CaptureJob,
    Charge,
    Check,
    Lane,
    Schedule,
    Status,
)
from capture.models import Worker as WorkerRow
from capture.models.clock import database_now
from capture.providers import registry
from capture.providers.replies import Kind, Pending, ProviderError
from capture.worker import Pace, Stop, Worker
from tests.factories import ACCOUNT, answer, claim_one, error, fresh, make_check, make_job, routes

pytestmark = pytest.mark.django_db

LIMITS = retry.Limits(attempts=3, unknown_retries=1, remote_deadline=86_400)


@pytest.fixture(autouse=True)
def _one_connection(monkeypatch):
    """The test's own transaction lives in the connection that the loop would let go of."""
    monkeypatch.setattr("capture.database.close", lambda: None)
    monkeypatch.setattr("capture.worker.DATABASE_PAUSE", 0.01)


class Scripted:
    """Stands in for the providers: answers calls from a list, in the order in which they come."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.asked = []
        self.gate = threading.Event()
        self.gate.set()

    def start(self, question):
        return self._next("start")

    def poll(self, remote_id):
        return self._next(remote_id)

    def _next(self, what):
        self.asked.append(what)
        self.gate.wait()
        reply = self.replies.pop(0) if self.replies else answer()
        if isinstance(reply, Exception):
            raise reply
        return reply


class StandIn:
    """A provider as the worker sees it."""

    def __init__(self, slug, script):
        self.lane = registry.by_slug[slug].lane
        self.account = ACCOUNT
        self.start_patience = None
        self.start = script.start
        self.poll = script.poll


def make_worker(*replies, seats=8, drain=False, grace=5.0, exchange=45.0, script=None):
    script = script or Scripted(*replies)
    providers: Any = {slug: StandIn(slug, script) for slug in ("chatgpt", "perplexity")}
    return Worker(
        providers, Pace(seats, poll=0.05, grace=grace, exchange=exchange, drain=drain), LIMITS, random=Random(3)
    )


def let_it_work(worker, turns=1):
    """So many rounds of claiming, waiting for everything in the seats, and recording."""
    for _ in range(turns):
        CaptureJob.objects.waiting().update(run_after="2000-01-01T00:00Z")
        CaptureJob.objects.postponed().update(run_after=None)
        worker.fill_seats()
        while worker.in_hand() > worker.arrived():
            worker.wait()
        worker.record()


def test_a_job_is_started_polled_and_done():
    job = make_job()
    script = Scripted(Pending("resp_1"), Pending("resp_1"), answer("Northwind."))
    worker = make_worker(script=script)

    let_it_work(worker, turns=3)

    assert script.asked == ["start", "resp_1", "resp_1"]
    assert fresh(job).status == Status.DONE
    assert Capture.objects.get().text == "Northwind."


def test_an_answer_is_read_by_its_seat():
    make_job()
    worker = make_worker(Pending("resp_1"), answer("Contoso leads."))

    let_it_work(worker, turns=2)

    assert [found["words"] for found in Capture.objects.get().named] == ["Contoso"]


def test_an_answer_that_cannot_be_read_is_kept(monkeypatch):
    job = make_job()
    monkeypatch.setattr(calls, "read", _failing(ValueError("no")))

    let_it_work(make_worker(answer("Contoso leads.")))

    assert fresh(job).status == Status.DONE
    assert (Capture.objects.get().text, Capture.objects.get().matcher) == ("Contoso leads.", 0)


def test_stored_answers_are_read_again_at_a_beat():
    queue.complete(claim_one(make_job()), answer("Contoso leads."))
    worker = make_worker()
    worker.register()

    worker.beat()

    assert [found["words"] for found in Capture.objects.get().named] == ["Contoso"]


def test_a_worker_that_stops_reads_none_of_them():
    queue.complete(claim_one(make_job()), answer("Contoso leads."))
    worker = make_worker()
    worker.register()
    worker.seats.mailbox.put(Stop())
    worker.wait()

    worker.beat()

    assert Capture.objects.get().matcher == 0


def test_an_error_while_reading_them_does_not_end_the_worker(monkeypatch, caplog):
    monkeypatch.setattr("capture.readings.read_on", _failing(DataError("no")))
    worker = make_worker()
    worker.register()

    assert worker.beat()

    assert "stored answers cannot be read again" in caplog.text


def test_waiting_for_an_answer_takes_no_seat():
    make_check(prompts=tuple(f"{number}?" for number in range(20)))
    Lane.objects.update(limit=100)
    worker = make_worker(*[Pending(f"resp_{number}", after=600) for number in range(20)], seats=4)

    for _ in range(5):
        worker.fill_seats()
        while worker.in_hand() > worker.arrived():
            worker.wait()
        worker.record()

    assert CaptureJob.objects.waiting().count() == 20
    assert worker.in_hand() == 0


def test_no_more_is_claimed_than_there_are_free_seats():
    make_check(prompts=tuple(f"{number}?" for number in range(9)))
    script = Scripted()
    script.gate.clear()
    worker = make_worker(script=script, seats=3)

    worker.fill_seats()
    worker.fill_seats()

    assert CaptureJob.objects.held().count() == 3
    script.gate.set()


def test_the_seats_are_dealt_to_both_lanes():
    make_check(prompts=tuple(f"{number}?" for number in range(9)), providers=("chatgpt", "perplexity"))
    script = Scripted()
    script.gate.clear()
    worker = make_worker(script=script, seats=4)

    worker.fill_seats()

    held = CaptureJob.objects.held()
    assert held.filter(lane="openai").count() == held.filter(lane="perplexity").count() == 2
    script.gate.set()


def test_a_lane_with_nothing_to_do_leaves_its_seats_to_the_other():
    make_check(prompts=tuple(f"{number}?" for number in range(9)), providers=("perplexity",))
    script = Scripted()
    script.gate.clear()
    worker = make_worker(script=script, seats=4)

    worker.fill_seats()

    assert CaptureJob.objects.held().filter(lane="perplexity").count() == 4
    script.gate.set()


def test_the_seats_ask_while_results_are_recorded(monkeypatch):
    make_check(prompts=tuple(f"{number}?" for number in range(4)), providers=("chatgpt",))
    worker = make_worker(script=(script := Scripted()), seats=2)
    keep = queue.complete_all

    def keep_once_the_next_are_asked(endings):
        while len(script.asked) < 4:
            time.sleep(0.001)
        return keep(endings)

    worker._turn()
    while worker.in_hand() > worker.arrived():
        worker.wait()
    monkeypatch.setattr(queue, "complete_all", keep_once_the_next_are_asked)
    worker._turn()

    assert Capture.objects.count() == 2


def test_results_that_cannot_be_recorded_do_not_pile_up(monkeypatch):
    make_check(prompts=tuple(f"{number}?" for number in range(9)), providers=("chatgpt",))
    worker = make_worker(script=(script := Scripted()), seats=2)
    keep = queue.complete_all
    monkeypatch.setattr(queue, "complete_all", _failing(OperationalError("canceling statement due to timeout")))

    for _ in range(5):
        with worker._surviving_the_database():
            worker._turn()
        while worker.in_hand() > worker.arrived():
            worker.wait()

    assert (len(script.asked), worker.in_hand(), worker.arrived()) == (4, 4, 4)
    assert "0 of 2 seats busy" in worker._status()
    monkeypatch.setattr(queue, "complete_all", keep)
    worker._turn()
    assert Capture.objects.count() == 4


def test_nothing_is_sent_whose_intent_is_not_known_to_be_committed(monkeypatch):
    make_job()
    script = Scripted()
    worker = make_worker(script=script)
    monkeypatch.setattr(queue, "claim", unheard(queue.claim))

    with pytest.raises(OperationalError):
        worker.fill_seats()

    assert script.asked == []
    assert worker.in_hand() == 0


def test_a_passing_error_is_tried_again_and_the_last_one_fails_the_job():
    job = make_job()
    worker = make_worker(error("overloaded"), error("overloaded"), error("overloaded"))

    let_it_work(worker, turns=5)

    assert fresh(job).status == Status.FAILED
    assert list(Attempt.objects.values_list("outcome", flat=True)) == [AttemptOutcome.ERROR] * 3
    assert Capture.objects.get().reason == "overloaded"


def test_a_job_asks_again_once_after_an_outcome_that_nobody_knows():
    job = make_job()
    worker = make_worker(error("timeout", maybe_charged=True), error("timeout", maybe_charged=True))

    let_it_work(worker, turns=4)

    assert fresh(job).status == Status.FAILED
    assert Attempt.objects.filter(outcome=AttemptOutcome.UNKNOWN).count() == 2


def test_fault_12_failing_polls_spend_no_attempt():
    job = make_job()
    troubles = [error("overloaded"), error("bad_key", kind=Kind.FATAL), ProviderError(Kind.TRANSIENT, "x", "y")]
    worker = make_worker(Pending("resp_1"), *troubles, answer())

    let_it_work(worker, turns=5)

    assert fresh(job).status == Status.DONE
    assert fresh(job).attempts == 1
    assert Attempt.objects.count() == 1


def test_a_call_that_its_system_lost_is_started_anew():
    job = make_job()
    script = Scripted(Pending("resp_1"), error("gone", ended=True), Pending("resp_2"), answer())
    worker = make_worker(script=script)

    let_it_work(worker, turns=4)

    assert script.asked == ["start", "resp_1", "start", "resp_2"]
    assert fresh(job).status == Status.DONE


def test_an_error_of_our_own_spends_an_attempt_and_does_not_end_the_loop():
    job = make_job()
    worker = make_worker(ZeroDivisionError("never shown"), answer())

    let_it_work(worker, turns=2)

    assert fresh(job).status == Status.DONE
    first = Attempt.objects.get(number=1)
    assert (first.reason, first.error) == (calls.BUG, "an error of AI Control itself (ZeroDivisionError)")


@pytest.mark.parametrize(("simulated", "status"), [(False, Status.WAITING), (True, Status.PENDING)])
def test_a_call_is_not_looked_for_where_it_was_not_started(simulated, status):
    """A real call may yet be found where it was started; a simulator that is gone takes its calls along."""
    job = make_job()
    script = Scripted(Pending("resp_1"))
    worker = make_worker(script=script)
    let_it_work(worker)
    Attempt.objects.update(base_url="https://elsewhere.example", simulated=simulated)

    let_it_work(worker)

    assert script.asked == ["start"]
    assert (fresh(job).status, fresh(job).reason) == (status, "elsewhere")


def test_fault_10_a_result_that_cannot_be_written_now_stays_in_hand(monkeypatch):
    job = make_job()
    worker = make_worker(answer("paid for"))
    complete = queue.complete_all
    monkeypatch.setattr(queue, "complete_all", _failing(OperationalError("server closed the connection")))
    with pytest.raises(OperationalError):
        let_it_work(worker)

    monkeypatch.setattr(queue, "complete_all", complete)
    worker.record()

    assert fresh(job).status == Status.DONE
    assert Capture.objects.get().text == "paid for"


def test_fault_10_beats_go_on_while_a_result_cannot_be_written(monkeypatch):
    monkeypatch.setattr(heartbeat, "INTERVAL", 0.0)
    job = make_job()
    worker = make_worker(Pending("resp_1"), answer("paid for"))
    worker.register()
    let_it_work(worker)
    make_due()
    beats, complete, beat = [], queue.complete_all, heartbeat.beat

    def beat_and_count(*args):
        beats.append(fresh(job).status)
        if len(beats) == 5:
            monkeypatch.setattr(queue, "complete_all", complete)
        return beat(*args)

    monkeypatch.setattr(heartbeat, "beat", beat_and_count)
    monkeypatch.setattr(queue, "complete_all", _failing(OperationalError("canceling statement due to lock timeout")))
    stop_when(monkeypatch, lambda: fresh(job).status == Status.DONE)

    assert worker.run()

    assert beats[2:5] == [Status.CLAIMED] * 3  # it is the worker's all the time, and no stray
    assert Capture.objects.get().text == "paid for"


def make_due():
    CaptureJob.objects.waiting().update(run_after="2000-01-01T00:00Z")


def stop_when(monkeypatch, true):
    """Have any worker stop as soon as something is so."""
    wait = Worker.wait

    def wait_or_stop(worker):
        if true():
            worker.seats.mailbox.put(Stop())
        wait(worker)

    monkeypatch.setattr(Worker, "wait", wait_or_stop)


def test_fault_9_the_loop_goes_on_when_the_database_is_back(monkeypatch):
    job = make_job()
    worker = make_worker(drain=True)
    claim, failures = queue.claim, [OperationalError("the database system is shutting down")] * 2
    monkeypatch.setattr(
        queue, "claim", lambda *args, **more: _raise(failures.pop()) if failures else claim(*args, **more)
    )

    assert worker.run()

    assert fresh(job).status == Status.DONE


def test_a_result_that_can_never_be_written_fails_its_job_alone(monkeypatch):
    bad, good = make_job(), make_job(providers=("perplexity",))
    worker = make_worker()
    complete = queue.complete_all

    def complete_but_one(endings):
        return _raise(DataError("no")) if bad.pk in [ending.ticket.job for ending in endings] else complete(endings)

    monkeypatch.setattr(queue, "complete_all", complete_but_one)

    let_it_work(worker)

    assert (fresh(bad).status, fresh(bad).reason) == (Status.FAILED, "bug")
    assert fresh(good).status == Status.DONE


def test_a_worker_that_stops_waits_for_its_exchanges_and_claims_nothing_more():
    jobs = list(make_check(prompts=("a?", "b?")).jobs.order_by("pk"))
    script = Scripted()
    script.gate.clear()
    worker = make_worker(script=script, seats=1)
    worker.fill_seats()

    worker.seats.mailbox.put(Stop())
    threading.Timer(0.2, script.gate.set).start()

    assert worker.run()
    assert [fresh(job).status for job in jobs] == [Status.DONE, Status.PENDING]


def test_a_worker_whose_grace_is_over_ends_untidily():
    make_job()
    script = Scripted()
    script.gate.clear()
    worker = make_worker(script=script, grace=0.1)
    worker.fill_seats()

    worker.seats.mailbox.put(Stop())

    assert not worker.run()
    script.gate.set()


def test_a_second_stop_does_not_wait_for_the_grace():
    make_job()
    script = Scripted()
    script.gate.clear()
    worker = make_worker(script=script, grace=3600)
    worker.fill_seats()

    worker.seats.mailbox.put(Stop())
    worker.seats.mailbox.put(Stop())

    assert not worker.run()
    script.gate.set()


def test_drain_ends_when_nothing_is_open():
    jobs = list(make_check(prompts=("a?", "b?", "c?")).jobs.all())

    assert make_worker(drain=True, seats=2).run()

    assert {fresh(job).status for job in jobs} == {Status.DONE}


def test_a_worker_is_seen_while_it_lives_and_closed_when_it_ends():
    worker = make_worker(drain=True)

    worker.register()
    worker.beat()
    row = WorkerRow.objects.get(pk=worker.id)
    assert (row.seats, row.providers, row.stopped_at) == (8, ["chatgpt", "perplexity"], None)
    assert row.start_ticks is None or row.start_ticks > 0

    worker.run()
    row.refresh_from_db()
    assert row.stopped_at is not None


def test_fault_34_a_beat_hands_back_claims_that_the_worker_does_not_know():
    job = make_job()
    worker = make_worker()
    worker.register()
    queue.claim("openai", worker.id, routes(["chatgpt"]), 1)

    worker.beat()

    assert fresh(job).status == Status.PENDING


def test_fault_34_a_worker_that_ends_hands_back_claims_that_it_does_not_know():
    job = make_job()
    worker = make_worker()
    worker.register()
    worker.beat()
    queue.claim("openai", worker.id, routes(["chatgpt"]), 1)

    worker.seats.mailbox.put(Stop())
    worker.wait()

    assert worker.run()
    assert fresh(job).status == Status.PENDING


def test_fault_34_a_worker_that_ends_takes_back_a_start_whose_commit_it_did_not_hear_of(monkeypatch):
    job = make_job()
    worker = make_worker()
    monkeypatch.setattr(queue, "claim", unheard(queue.claim))
    with pytest.raises(OperationalError):
        worker.fill_seats()
    assert fresh(job).status == Status.RUNNING

    worker.seats.mailbox.put(Stop())
    worker.wait()

    assert worker.run()
    assert (fresh(job).status, fresh(job).attempts) == (Status.PENDING, 0)
    assert not Attempt.objects.exists()


def test_a_worker_whose_grace_is_over_hands_back_what_it_only_looks_after():
    job = make_job()
    script = Scripted(Pending("resp_1"))
    worker = make_worker(script=script, grace=0.1)
    let_it_work(worker)
    CaptureJob.objects.update(run_after="2000-01-01T00:00Z")
    script.gate.clear()
    worker.fill_seats()
    assert fresh(job).status == Status.CLAIMED

    worker.seats.mailbox.put(Stop())

    assert not worker.run()
    assert fresh(job).status == Status.WAITING
    script.gate.set()


def test_an_answer_that_cannot_be_written_counts_as_a_charge_and_its_call_stays_live(monkeypatch):
    job = make_job()
    worker = make_worker(Pending("resp_1"), answer())
    let_it_work(worker)
    monkeypatch.setattr(queue, "complete_all", _failing(DataError("no")))

    let_it_work(worker)

    assert (fresh(job).status, fresh(job).reason, fresh(job).remote_id) == (Status.FAILED, "bug", "resp_1")
    assert Charge.objects.get().basis == "estimated"


@pytest.mark.parametrize("trouble", [InternalError("read-only transaction"), ProgrammingError("no such table")])
def test_fault_9_no_trouble_of_the_database_ends_the_loop(monkeypatch, trouble):
    job = make_job()
    worker = make_worker(drain=True)
    look, troubles = queue.look, [trouble, trouble]
    monkeypatch.setattr(queue, "look", lambda lanes: _raise(troubles.pop()) if troubles else look(lanes))

    assert worker.run()

    assert fresh(job).status == Status.DONE


def test_an_error_of_our_own_in_the_loop_still_hands_back_what_is_in_hand(monkeypatch):
    job = make_job()
    worker = make_worker()
    monkeypatch.setattr(queue, "claim", unheard(queue.claim, ZeroDivisionError()))

    assert not worker.run()

    assert (fresh(job).status, fresh(job).attempts) == (Status.PENDING, 0)


def test_the_usual_grace_is_longer_than_the_usual_exchange(settings):
    assert settings.CAPTURE_GRACE > settings.CAPTURE_EXCHANGE_DEADLINE


def test_a_wake_up_that_finds_nothing_costs_one_statement(django_assert_num_queries):
    worker = make_worker()

    with django_assert_num_queries(1):
        assert not worker.fill_seats()


def test_while_there_is_more_to_do_than_seats_a_look_serves_many_turns_until_something_is_new(monkeypatch):
    monkeypatch.setattr("capture.worker.LOOK_HOLDS", 60.0)
    check = make_check(prompts=tuple(f"{number}?" for number in range(11)))
    worker, looks, look = make_worker(*[answer()] * 11, seats=2), [], queue.look

    def look_and_count(lanes):
        looks.append(lanes)
        return look(lanes)

    monkeypatch.setattr(queue, "look", look_and_count)

    let_it_work(worker, turns=3)
    assert (len(looks), check.captures.count()) == (1, 6)

    worker.wake()
    worker.wait()
    let_it_work(worker, turns=1)
    assert (len(looks), check.captures.count()) == (2, 8)

    let_it_work(worker, turns=2)  # the last one leaves a seat free
    assert (len(looks), check.captures.count()) == (3, 11)


def test_without_a_free_seat_nobody_asks_what_there_is_to_do(django_assert_num_queries):
    make_check(prompts=("a?", "b?"))
    script = Scripted()
    script.gate.clear()
    worker = make_worker(script=script, seats=1)
    assert worker.fill_seats()

    with django_assert_num_queries(0):
        assert not worker.fill_seats()
    script.gate.set()


def test_a_wake_up_ends_the_waiting_and_many_end_one():
    worker = Worker({}, Pace(1, poll=3_600, grace=5, exchange=45), LIMITS)
    worker.register()
    worker.beat()
    for _ in range(100):
        worker.wake()
    began = time.monotonic()

    worker.wait()

    assert time.monotonic() - began < heartbeat.INTERVAL / 2
    assert worker.seats.mailbox.empty()
    worker.seats.close(wait=True)


def test_a_wake_up_between_two_looks_is_not_lost():
    """It arrives while the loop is busy, after it has looked."""
    worker = make_worker()
    assert not worker.fill_seats()
    job = make_job()
    worker.wake()

    worker.wait()
    worker.fill_seats()

    assert fresh(job).status != Status.PENDING


def test_looks_are_never_further_apart_than_said():
    worker = make_worker()
    worker.register()
    worker.beat()

    waits = [worker._patience() for _ in range(100)]

    assert 0.03 < min(waits) < max(waits) <= 0.05


def test_a_job_that_was_put_off_is_started_once_its_time_has_come():
    job = make_job()
    script = Scripted()
    worker = make_worker(script=script)
    CaptureJob.objects.update(run_after="2000-01-01T00:00Z")

    worker.fill_seats()

    assert fresh(job).status != Status.PENDING


def test_beats_are_some_seconds_apart():
    worker = make_worker()
    worker.register()

    assert worker.beat()
    assert not worker.beat()
    assert heartbeat.INTERVAL == 5


def _raise(exception):
    raise exception


def unheard(claim, exception=None):
    """The transaction of a claim is committed, and its caller does not hear of that."""

    def claim_unheard(*args, **more):
        claim(*args, **more)
        raise exception or OperationalError("server closed the connection unexpectedly")

    return claim_unheard


def _failing(exception):
    return lambda *_args, **_more: _raise(exception)


# -------------------------------------------------------------------------------------------------------- upkeep


def test_a_worker_makes_a_check_that_is_due_at_its_beat_and_works_it_off(simulated):
    check = make_check()
    planned = schedules.plan(check, "daily", 6)
    Schedule.objects.update(next_due=database_now())
    worker = make_worker(drain=True)

    assert worker.run()

    assert planned
    (repetition,) = planned.checks.exclude(pk=check.pk)
    assert repetition.captures.get().outcome == "answered"


def test_a_worker_that_stops_makes_no_check(simulated):
    schedules.plan(make_check(), "daily", 6)
    Schedule.objects.update(next_due=database_now())
    worker = make_worker()
    worker.register()
    worker.seats.mailbox.put(Stop())
    worker.wait()

    assert worker.beat()

    assert Check.objects.count() == 1


def test_a_reply_that_comes_too_late_is_written_down_once(caplog):
    job = make_job()
    worker = make_worker(answer("too late"))
    worker.fill_seats()
    while worker.in_hand() > worker.arrived():
        worker.wait()
    CaptureJob.objects.filter(pk=job.pk).update(
        status=Status.CANCELLED, worker=None, claim_token=None, finished_at=database_now()
    )

    worker.record()

    assert caplog.text.count("no longer held") == 1
    assert worker.in_hand() == worker.arrived() == 0
    assert Attempt.objects.get().outcome == "replied"
