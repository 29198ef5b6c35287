"""Staff fail an open job, wherever it stands; what was paid for is kept all the same."""

from __future__ import annotations

from decimal import Decimal

import pytest

from capture import lanes, ledger, queue, recovery
from capture.calls import Ticket
from capture.models import Attempt, AttemptOutcome, Capture, CaptureJob, Charge, Outcome, Status
from tests.factories import (
    FOR_MONEY,
    answer,
    claim_one,
    complete_one,
    error,
    finish,
    fresh,
    make_check,
    make_job,
    prompts,
    unknown_error,
)
from tests.lost_workers import LIMITS

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _lanes():
    lanes.make_missing()


def fail(job) -> int:
    return queue.fail_by_hand(CaptureJob.objects.filter(pk=job.pk))


def test_a_job_in_line_fails_and_says_why_and_costs_nothing():
    job = make_job()

    assert fail(job) == 1

    assert (fresh(job).status, fresh(job).reason) == (Status.FAILED, "by_hand")
    capture = Capture.objects.get()
    assert (capture.outcome, capture.reason, capture.attempts) == (Outcome.FAILED, "by_hand", 0)
    assert not Charge.objects.exists()


def test_a_start_that_is_being_sent_has_an_unknown_outcome_that_counts():
    job = make_job()
    claim_one(job)

    fail(job)

    assert Attempt.objects.get().outcome == AttemptOutcome.UNKNOWN
    assert Charge.objects.get().amount == Decimal("0.02")
    assert fresh(job).unknowns == 1
    assert Capture.objects.get().unknowns == 1


def test_its_answer_is_kept_when_it_comes_all_the_same():
    job = make_job()
    ticket = claim_one(job)
    fail(job)

    finish(ticket, answer())

    assert fresh(job).status == Status.DONE
    assert Capture.objects.get().outcome == Outcome.ANSWERED
    assert Charge.objects.get().amount == Decimal("0.013")


def test_its_late_id_is_looked_after_before_anything_is_started_anew():
    job = make_job()
    ticket = claim_one(job)
    fail(job)

    queue.wait(ticket, "resp_1", 0)

    assert (fresh(job).status, fresh(job).remote_id) == (Status.WAITING, "resp_1")


def test_its_late_error_says_that_it_cost_nothing():
    job = make_job()
    ticket = claim_one(job)
    fail(job)

    queue.ask_again(ticket, error(), 1)

    assert fresh(job).status == Status.FAILED
    assert Attempt.objects.get().outcome == AttemptOutcome.ERROR
    assert Charge.objects.get().amount == 0


@pytest.mark.parametrize("held", [False, True])
def test_a_call_in_hand_stays_live_and_is_looked_after_when_asked_again(held):
    job = make_job()
    queue.wait(claim_one(job), "resp_1", 0)
    if held:
        claim_one(job)

    fail(job)

    assert (fresh(job).status, fresh(job).remote_id) == (Status.FAILED, "resp_1")
    assert Attempt.objects.get().live
    assert Charge.objects.get().amount == Decimal("0.02")
    assert queue.requeue(CaptureJob.objects.filter(pk=job.pk)) == 1
    assert claim_one(job).remote_id == "resp_1"


def given_up_by_hand(job) -> Ticket:
    """Its call is being polled when somebody fails the job; gives the poll."""
    queue.wait(claim_one(job, FOR_MONEY), "resp_1", 0)
    polled = claim_one(job)
    fail(job)
    return polled


def given_up_by_time(job) -> Ticket:
    queue.wait(claim_one(job, FOR_MONEY), "resp_1", 0)
    polled = claim_one(job)
    queue.fail(polled, error("remote_deadline"), live=True)
    return polled


def settle(charged: bool) -> bool:
    return ledger.settle(Attempt.objects.get(remote_id="resp_1"), charged=charged)


@pytest.mark.parametrize("give_up", [given_up_by_hand, given_up_by_time])
@pytest.mark.parametrize(("charged", "cost"), [(True, Decimal("0.02")), (False, Decimal(0))])
class TestACallThatNobodyLooksAfter:
    """It counts at its estimate, and a person may find out better without its being asked again."""

    def test_it_is_settled_once_and_stays_live(self, give_up, charged, cost):
        job = make_job()
        give_up(job)
        before = fresh(job)
        assert Attempt.objects.unsettled().get().live

        assert [settle(charged), settle(charged)] == [True, False]

        assert (Charge.objects.get().amount, Capture.objects.get().cost) == (cost, cost)
        assert not Attempt.objects.unsettled().exists()
        assert (
            (fresh(job).status, fresh(job).remote_id) == (before.status, before.remote_id) == (Status.FAILED, "resp_1")
        )
        assert (Attempt.objects.get().live, Attempt.objects.get().ended_at) == (True, None)

    def test_its_late_answer_is_kept_all_the_same_and_tells_what_it_cost(self, give_up, charged, cost):
        job = make_job()
        polled = give_up(job)
        settle(charged)

        assert queue.complete(polled, answer())

        assert (fresh(job).status, Capture.objects.get().outcome) == (Status.DONE, Outcome.ANSWERED)
        assert (Charge.objects.get().amount, Attempt.objects.get().settled) == (Decimal("0.013"), None)

    def test_its_late_error_changes_nothing_that_was_found_out(self, give_up, charged, cost):
        job = make_job()
        polled = give_up(job)
        settle(charged)

        queue.fail(polled, error(), live=True)
        queue.ask_again(polled, error(), 1)
        queue.wait(polled, "resp_1", 0)

        assert (fresh(job).status, Charge.objects.get().amount) == (Status.FAILED, cost)

    def test_asked_again_it_is_looked_after_and_tells_itself(self, give_up, charged, cost):
        job = make_job()
        give_up(job)
        settle(charged)

        assert queue.requeue(CaptureJob.objects.filter(pk=job.pk)) == 1
        again = claim_one(job)

        assert (again.remote_id, Attempt.objects.count()) == ("resp_1", 1)
        assert not settle(not charged)  # nobody has to find out while it is looked after
        queue.complete(again, answer())
        assert (Charge.objects.get().amount, Attempt.objects.get().settled) == (Decimal("0.013"), None)

    def test_given_up_anew_it_is_to_be_settled_anew(self, give_up, charged, cost):
        job = make_job()
        give_up(job)
        settle(charged)
        queue.requeue(CaptureJob.objects.filter(pk=job.pk))

        fail(job)

        assert Charge.objects.get().amount == Decimal("0.02")
        assert settle(not charged)

    def test_it_stays_settled_when_another_attempt_brings_the_answer(self, give_up, charged, cost):
        job = make_job()
        first = claim_one(job, FOR_MONEY)
        queue.ask_again(first, unknown_error(), 0)
        CaptureJob.objects.update(run_after=None)
        give_up(job)
        settle(charged)

        queue.complete(first, answer())

        call = Attempt.objects.get(remote_id="resp_1")
        assert (fresh(job).status, call.outcome, call.settled) == (Status.DONE, AttemptOutcome.UNKNOWN, charged)
        assert Charge.objects.get(attempt=call.pk).amount == cost
        assert not Attempt.objects.unsettled().exists()


def test_a_call_that_is_looked_after_is_nobodys_to_settle():
    job = make_job()
    queue.wait(claim_one(job), "resp_1", 0)
    waiting = settle(charged=True)
    claim_one(job)

    assert [waiting, settle(charged=True)] == [False, False]


def test_nothing_of_it_is_left_to_be_taken_back():
    job = make_job()
    claim_one(job)

    fail(job)

    assert not CaptureJob.objects.held().exists()
    assert recovery.take_all_back(LIMITS) == 0


def test_final_jobs_are_left_as_they_are():
    answered, called_off = make_job(), make_job()
    queue.cancel(CaptureJob.objects.filter(pk=called_off.pk))
    complete_one(answered)

    assert queue.fail_by_hand(CaptureJob.objects.all()) == 0

    assert (fresh(answered).status, fresh(called_off).status) == (Status.DONE, Status.CANCELLED)


def test_a_batch_says_which_jobs_it_took():
    jobs = list(make_check(prompts=prompts(3)).jobs.order_by("pk"))
    queue.cancel(CaptureJob.objects.filter(pk=jobs[1].pk))

    taken = queue.fail_these([job.pk for job in jobs])

    assert taken == [jobs[0].pk, jobs[2].pk]
