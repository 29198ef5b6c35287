"""What becomes of calls that time out, take hours or bring nothing, and what is told of their cost."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from capture import queue, systems
from capture.models import Attempt, AttemptOutcome, Capture, CaptureJob, Charge, Outcome, Status
from capture.models.clock import ClockTimestamp
from capture.providers.replies import Pending
from capture.reports import State, board_of
from capture.worker import Pace, Worker
from tests.factories import answer, claim_one, complete_one, error, fresh, make_check, make_job
from tests.lost_workers import LIMITS
from tests.process.running import simulator
from tests.test_worker import Scripted, _one_connection, let_it_work, make_worker

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_one_connection")]

__all__ = ["_one_connection"]


@pytest.fixture
def ask_for_real(settings):
    """A worker with the product's own providers, over HTTP to a simulator that has been told what goes wrong."""
    with simulator("--speed", "1000") as running:
        settings.CAPTURE_PROVIDER_KEYS = {}
        settings.SIMULATOR_URL = running.url

        def make(*steps, exchange=45.0):
            settings.CAPTURE_EXCHANGE_DEADLINE = exchange
            running.script(*steps)
            pace = Pace(seats=4, poll=0.05, grace=5.0, exchange=exchange)
            return Worker(systems.configured(), pace, LIMITS), running

        yield make
        systems.close()


def test_fault_13_a_poll_that_times_out_is_repeated_and_its_call_not_replaced():
    job = make_job()
    script = Scripted(Pending("resp_1"), *[error("timeout", maybe_charged=True)] * 8, answer())

    let_it_work(make_worker(script=script), turns=10)

    assert script.asked == ["start", *["resp_1"] * 9]
    assert (fresh(job).status, fresh(job).attempts, Attempt.objects.count()) == (Status.DONE, 1, 1)


def test_fault_13_an_exchange_is_over_before_its_job_may_be_given_to_anybody_else(ask_for_real):
    """By its own timeout; no call goes on beside its retry."""
    worker, _ = ask_for_real({"call": "start", "do": {"delay_s": 30}}, exchange=0.5)
    make_job()
    worker.fill_seats()
    attempt = Attempt.objects.get()
    assert worker.seats.next_deadline() > 0.5

    while not worker.arrived():
        worker.wait()

    assert attempt.deadline - attempt.started_at >= timedelta(seconds=0.5)
    assert not worker.watch_seats()
    worker.record()
    assert Attempt.objects.get().reason == "timeout"
    assert worker.seats.stuck == 0


def test_fault_29_a_call_whose_reply_never_comes_is_bought_twice_at_most_and_both_are_told(ask_for_real):
    lost = {"system": "chatgpt", "call": "start", "times": None, "do": {"drop": "after_accept"}}
    worker, system = ask_for_real(lost)
    job = make_job()

    let_it_work(worker, turns=6)

    capture, counts = Capture.objects.get(), system.counts()
    assert counts["charges"]["chatgpt"]["total"] == counts["starts"]["chatgpt"]["total"] == 2
    assert set(Attempt.objects.values_list("outcome", flat=True)) == {AttemptOutcome.UNKNOWN}
    assert list(Charge.objects.values_list("amount", flat=True)) == [job.estimate] * 2
    assert (fresh(job).status, capture.outcome, capture.unknowns) == (Status.FAILED, Outcome.FAILED, 2)
    assert capture.cost == 2 * job.estimate > Decimal(0)


def test_fault_29_what_was_paid_for_stays_recorded_when_its_job_is_cleaned_up():
    job = make_job()
    queue.ask_again(claim_one(job), error("timeout", maybe_charged=True), 0)
    CaptureJob.objects.update(run_after=None)
    complete_one(job)

    CaptureJob.objects.all().delete()

    assert sorted(Charge.objects.values_list("amount", flat=True)) == [Decimal("0.013"), Decimal("0.02")]


def test_fault_30_an_answer_after_23_hours_is_kept():
    job = make_job()
    script = Scripted(*[Pending("resp_1")] * 4, answer("At last."))
    worker = make_worker(script=script)

    for hours in (0, 1, 2, 23):
        let_it_work(worker)
        CaptureJob.objects.update(asked_at=ClockTimestamp() - timedelta(hours=hours, minutes=5))
    let_it_work(worker)

    assert script.asked == ["start", *["resp_1"] * 4]
    assert (fresh(job).status, Capture.objects.get().text) == (Status.DONE, "At last.")


def test_fault_32_what_is_no_answer_is_not_kept_as_one(ask_for_real):
    nothing = {"system": "google_ai", "call": "start", "do": {"shape": "no_results"}}
    broken = {"system": "copilot", "call": "start", "times": None, "do": {"shape": "failed"}}
    worker, _ = ask_for_real(nothing, broken)
    check = make_check(providers=("chatgpt", "google_ai", "copilot"))

    while check.jobs.open().exists():
        let_it_work(worker)

    kept = {capture.provider: (capture.outcome, bool(capture.text)) for capture in check.captures.all()}
    assert kept == {
        "chatgpt": (Outcome.ANSWERED, True),
        "google_ai": (Outcome.EMPTY, False),
        "copilot": (Outcome.FAILED, False),
    }
    assert board_of(check).by_state == [(State.ANSWERED, 1), (State.EMPTY, 1), (State.FAILED, 1)]
