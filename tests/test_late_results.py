"""What those who were given up wrongly bring home late: ids, answers, errors."""

from __future__ import annotations

from decimal import Decimal

import pytest

from capture import queue
from capture.models import Attempt, AttemptOutcome, Capture, CaptureJob, Charge, Outcome, Status
from capture.providers.replies import Basis, Cost, Kind, Refused
from tests.factories import (
    ACCOUNT,
    answer,
    complete_one,
    error,
    fresh,
    make_job,
    routes,
    unknown_error,
)
from tests.lost_workers import (
    claim,
    lose,
    make_worker,
    only,
    poll,
)

pytestmark = pytest.mark.django_db


# -------------------------------------------------------------------------------------------------------- late ids


def test_a_late_id_is_looked_after_and_nothing_is_started_anew():
    worker = make_worker()
    job = make_job()
    late = claim(worker, job)
    lose(worker)

    queue.wait(late, "resp_1", 2)

    job, attempt = fresh(job), Attempt.objects.get()
    assert (job.status, job.remote_id, job.unknowns) == (Status.WAITING, "resp_1", 0)
    assert (attempt.outcome, attempt.live, attempt.reason) == (AttemptOutcome.OPEN, True, "")
    ticket = claim(make_worker(), job)
    assert (ticket.remote_id, ticket.attempt) == ("resp_1", late.attempt)


def test_a_late_id_revives_a_job_that_has_failed():
    worker = make_worker()
    job = make_job()
    CaptureJob.objects.update(unknowns=1)
    late = claim(worker, job)
    lose(worker)
    assert fresh(job).status == Status.FAILED

    queue.wait(late, "resp_1", 2)

    assert (fresh(job).status, fresh(job).finished_at) == (Status.WAITING, None)
    queue.complete(claim(make_worker(), job), answer())
    assert Capture.objects.get().outcome == Outcome.ANSWERED


def test_a_late_id_from_before_a_requeue_does_not_make_an_unknown_outcome_since_then_forgotten():
    worker, successor = make_worker(), make_worker()
    job = make_job()
    late = claim(worker, job)
    lose(worker)
    queue.fail(claim(successor, job), error(kind=Kind.FATAL))
    queue.requeue(only(job))
    claim(successor, job)
    lose(successor)
    assert (fresh(job).status, fresh(job).unknowns) == (Status.PENDING, 1)

    queue.wait(late, "resp_1", 2)

    assert (fresh(job).status, fresh(job).remote_id, fresh(job).unknowns) == (Status.WAITING, "resp_1", 1)


def with_successor_in_flight():
    """A lost worker's start, whose id came only when a successor's start was under way."""
    worker, successor = make_worker(), make_worker()
    job = make_job()
    late = claim(worker, job)
    lose(worker)
    ticket = claim(successor, job)
    queue.wait(late, "resp_1", 2)
    assert fresh(job).claim_token == ticket.token
    return job, late, ticket, successor


def test_a_late_id_that_comes_while_a_successor_has_not_sent_anything_is_looked_after_instead_of_a_start():
    job, _, _, successor = with_successor_in_flight()

    queue.release_strays(successor, [])

    assert queue.claim(job.lane, successor, routes(), 8) == []
    assert (fresh(job).status, fresh(job).remote_id, fresh(job).attempts) == (Status.WAITING, "resp_1", 1)
    assert Attempt.objects.count() == 1


def test_a_late_id_beside_a_running_successor_is_looked_after_once_that_has_failed():
    job, late, ticket, _ = with_successor_in_flight()

    queue.ask_again(ticket, error(), 60)

    assert (fresh(job).status, fresh(job).remote_id) == (Status.WAITING, "resp_1")
    assert claim(make_worker(), job).attempt == late.attempt


@pytest.mark.parametrize("unknowns", [0, 1])
def test_a_late_id_beside_a_running_successor_is_looked_after_once_that_is_lost(unknowns):
    job, late, _, successor = with_successor_in_flight()
    CaptureJob.objects.update(unknowns=unknowns)

    lose(successor)

    assert (fresh(job).status, fresh(job).remote_id) == (Status.WAITING, "resp_1")
    assert claim(make_worker(), job).attempt == late.attempt
    assert not Capture.objects.exists()


def test_a_late_id_of_a_job_that_a_person_called_off_is_kept_and_starts_nothing():
    worker = make_worker()
    job = make_job()
    late = claim(worker, job)
    lose(worker)
    queue.cancel(only(job))

    queue.wait(late, "resp_1", 2)

    assert fresh(job).status == Status.CANCELLED
    assert Attempt.objects.get().remote_id == "resp_1"
    assert Charge.objects.get().basis == Basis.ESTIMATED


def test_a_call_that_was_superseded_while_live_is_looked_after_when_the_job_is_asked_again():
    worker, successor = make_worker(), make_worker()
    job = make_job()
    late = claim(worker, job)
    lose(worker)
    queue.wait(claim(successor, job), "resp_2", 60)
    queue.complete(late, Refused(text="No."))

    queue.requeue(only(job))

    assert queue.claim(job.lane, successor, routes(), 8) == []
    assert (fresh(job).status, fresh(job).remote_id) == (Status.WAITING, "resp_2")


# ------------------------------------------------------------------------------------------------------ late answers


@pytest.mark.parametrize("state", ["pending", "running", "waiting", "failed"])
def test_a_late_answer_completes_a_job_in_any_state_but_done_and_cancelled(state):
    worker, successor = make_worker(), make_worker()
    job = make_job()
    late = claim(worker, job)
    lose(worker)
    bring_into(job, state, successor)

    assert queue.complete(late, answer("paid for"))

    assert fresh(job).status == Status.DONE
    assert (Capture.objects.get().text, Capture.objects.get().attempt) == ("paid for", late.attempt)
    assert Charge.objects.get(attempt=late.attempt).amount == Decimal("0.013")
    assert not Attempt.objects.filter(outcome=AttemptOutcome.OPEN).exists()


def bring_into(job, state, worker):
    match state:
        case "running":
            claim(worker, job)
        case "waiting":
            queue.wait(claim(worker, job), "resp_2", 60)
        case "failed":
            queue.fail(claim(worker, job), error())
    assert fresh(job).status == state


def test_an_attempt_that_a_late_answer_supersedes_may_have_been_charged():
    worker, successor = make_worker(), make_worker()
    job = make_job()
    late = claim(worker, job)
    lose(worker)
    superseded = claim(successor, job)

    queue.complete(late, answer())

    attempt = Attempt.objects.get(pk=superseded.attempt)
    assert (attempt.outcome, attempt.reason) == (AttemptOutcome.UNKNOWN, "superseded")
    assert Charge.objects.get(attempt=superseded.attempt).basis == Basis.ESTIMATED


def test_the_first_answer_wins_and_the_second_only_closes_its_attempt():
    worker, successor = make_worker(), make_worker()
    job = make_job()
    late = claim(worker, job)
    lose(worker)
    queue.complete(claim(successor, job), answer("first"))

    queue.complete(late, answer("second", cost=Cost(Decimal("0.5"), Basis.REPORTED)))

    assert Capture.objects.get().text == "first"
    assert Attempt.objects.get(pk=late.attempt).outcome == AttemptOutcome.REPLIED
    assert Charge.objects.get(attempt=late.attempt).amount == Decimal("0.5")


def test_a_late_answer_of_a_job_that_was_called_off_is_paid_for_and_not_kept():
    worker = make_worker()
    job = make_job()
    late = claim(worker, job)
    lose(worker)
    queue.cancel(only(job))

    queue.complete(late, answer())

    assert fresh(job).status == Status.CANCELLED
    assert Capture.objects.get().outcome == Outcome.CANCELLED
    assert Charge.objects.get().amount == Decimal("0.013")


def test_a_late_answer_of_a_job_that_was_cleaned_up_changes_nothing():
    worker, successor = make_worker(), make_worker()
    job = make_job()
    late = claim(worker, job)
    lose(worker)
    complete_one(job, "first")
    del successor
    CaptureJob.objects.all().delete()

    queue.complete(late, answer("second"))
    queue.wait(late, "resp_1", 0)
    queue.fail(late, error())

    assert Capture.objects.get().text == "first"


def test_a_reply_that_is_recorded_twice_does_not_undo_what_a_person_did_between():
    worker = make_worker()
    job = make_job()
    ticket = claim(worker, job)
    queue.complete(ticket, Refused(text="No."))
    queue.requeue(only(job))

    assert queue.complete(ticket, Refused(text="No."))

    assert fresh(job).status == Status.PENDING


# ------------------------------------------------------------------------------------------------------- late errors


@pytest.mark.parametrize("name", ["ask_again", "fail"])
def test_a_late_error_closes_its_attempt_and_no_more(name):
    worker, successor = make_worker(), make_worker()
    job = make_job()
    late = claim(worker, job)
    lose(worker)
    claim(successor, job)
    before = CaptureJob.objects.values().get()

    end_late(name, late, error("overloaded"))

    attempt = Attempt.objects.get(pk=late.attempt)
    assert CaptureJob.objects.values().get() == before | {"unknowns": 0}
    assert (attempt.outcome, attempt.reason) == (AttemptOutcome.ERROR, "overloaded")
    assert not Capture.objects.exists()


def end_late(name, ticket, trouble):
    if name == "fail":
        queue.fail(ticket, trouble)
    else:
        queue.ask_again(ticket, trouble, 1)


def test_an_unknown_outcome_that_turns_out_to_be_an_error_costs_nothing():
    worker = make_worker()
    job = make_job()
    late = claim(worker, job)
    lose(worker)
    assert Charge.objects.get().amount == job.estimate

    queue.ask_again(late, error("overloaded"), 1)

    assert Charge.objects.get().amount == 0


def test_an_unknown_outcome_that_turns_out_to_be_an_error_does_not_fail_the_job_a_try_early():
    worker, successor = make_worker(), make_worker()
    job = make_job()
    late = claim(worker, job)
    lose(worker)

    queue.ask_again(late, error("overloaded"), 1)
    claim(successor, job)
    lose(successor)

    assert (fresh(job).status, fresh(job).unknowns) == (Status.PENDING, 1)


def test_an_unknown_outcome_that_turns_out_to_be_an_error_while_a_successor_asks_stays_known():
    worker, successor = make_worker(), make_worker()
    job = make_job()
    late = claim(worker, job)
    lose(worker)
    held = claim(successor, job)

    queue.ask_again(late, error("overloaded"), 1)
    queue.ask_again(held, error("overloaded"), 1)

    assert fresh(job).unknowns == 0


def test_an_unknown_outcome_that_stays_unknown_counts_once():
    worker = make_worker()
    job = make_job()
    late = claim(worker, job)
    lose(worker)

    queue.ask_again(late, unknown_error(), 1)

    assert fresh(job).unknowns == 1
    assert Charge.objects.get().amount == job.estimate


def two_polls():
    """Two workers look after one call, since the first was given up wrongly."""
    worker, successor = make_worker(), make_worker()
    job = make_job()
    late = poll(worker, job)
    lose(worker)
    return job, late, claim(successor, job)


def test_a_late_error_of_a_poll_does_not_close_the_call_that_somebody_else_looks_after():
    job, late, held = two_polls()
    queue.wait(held, "resp_1", 0)

    queue.ask_again(late, error("gone", ended=True), 1)

    assert Attempt.objects.get().outcome == AttemptOutcome.OPEN
    ticket = claim(make_worker(), job)
    assert (ticket.attempt, ticket.base_url, ticket.polls) == (late.attempt, ACCOUNT.base_url, 2)


@pytest.mark.parametrize("name", ["ask_again", "fail"])
@pytest.mark.parametrize("trouble", [error("gone", ended=True), unknown_error()])
def test_a_late_error_of_a_poll_does_not_change_what_an_answer_cost(name, trouble):
    _, late, held = two_polls()
    queue.complete(held, answer())

    end_late(name, late, trouble)

    charge = Charge.objects.get()
    assert (charge.amount, charge.basis) == (Decimal("0.013"), Basis.COMPUTED)
    assert Attempt.objects.get().outcome == AttemptOutcome.REPLIED


def test_a_late_answer_of_a_poll_goes_before_the_error_of_another():
    job, late, held = two_polls()
    queue.ask_again(held, error("gone", ended=True), 60)

    assert queue.complete(late, answer())

    assert fresh(job).status == Status.DONE
    assert Attempt.objects.get().outcome == AttemptOutcome.REPLIED


def test_fault_34_a_call_given_up_while_live_can_be_given_up_again():
    job = make_job()
    ticket = poll(make_worker(), job)
    assert queue.fail(ticket, error("remote_deadline"), live=True)

    assert queue.fail(ticket, error("remote_deadline"), live=True)

    assert (fresh(job).status, fresh(job).remote_id) == (Status.FAILED, "resp_1")


def test_a_call_given_up_while_live_and_answered_later_costs_what_its_answer_says():
    job = make_job()
    ticket = poll(make_worker(), job)
    queue.fail(ticket, error("remote_deadline"), live=True)
    queue.requeue(only(job))
    queue.complete(claim(make_worker(), job), answer())

    queue.fail(ticket, error("remote_deadline"), live=True)

    assert Charge.objects.get().amount == Decimal("0.013")


@pytest.mark.parametrize("kind", [Kind.TRANSIENT, Kind.FATAL])
def test_fault_3_a_worker_and_its_successor_that_both_finish_leave_one_end(kind):
    worker, successor = make_worker(), make_worker()
    job = make_job()
    late = claim(worker, job)
    lose(worker)
    held = claim(successor, job)

    assert queue.complete(held, answer("Northwind."))
    queue.fail(late, error(kind=kind))

    assert fresh(job).status == Status.DONE
    assert Capture.objects.get().text == "Northwind."
    assert CaptureJob.objects.in_flight().count() == 0
