"""Places that have no answer are asked once more, whether or not their tickets are still there."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.db.models import Sum

from capture import ledger, queue
from capture.models import Attempt, Capture, CaptureJob, Charge, Check
from tests.factories import (
    ESTIMATES,
    FOR_MONEY,
    answer,
    claim,
    claim_one,
    complete_one,
    error,
    fresh,
    make_check,
    make_job,
    unknown_error,
)

pytestmark = pytest.mark.django_db


def place_of(job: CaptureJob) -> tuple[int, str, int]:
    return job.prompt_id, job.provider, job.sample


def again(*jobs: CaptureJob, **estimates: Decimal) -> int:
    """Ask their places again, all of one check."""
    return queue.requeue_places(jobs[0].of_check, [place_of(job) for job in jobs], estimates or ESTIMATES)


def test_a_ticket_that_is_there_goes_back_in_line_with_attempts_afresh():
    job = make_job()
    queue.fail(claim_one(job), error())

    assert again(job) == 1

    assert (fresh(job).status, fresh(job).attempts) == ("pending", 0)


def test_one_that_was_cleaned_up_is_made_anew_and_can_be_answered():
    job = make_job()
    queue.fail(claim_one(job), error())
    job.delete()

    assert again(job) == 1

    anew = CaptureJob.objects.get()
    assert (anew.status, anew.lane, anew.estimate, anew.team_id) == ("pending", "openai", Decimal("0.02"), job.team_id)
    complete_one(anew)
    capture = job.of_check.captures.get()
    assert (capture.outcome, capture.text) == ("answered", "Northwind is liked by many.")


def test_what_was_tried_and_spent_before_the_cleanup_counts_on():
    job = make_job()
    queue.ask_again(claim_one(job, FOR_MONEY), unknown_error(), 0)
    CaptureJob.objects.update(run_after=None)
    queue.fail(claim_one(job, FOR_MONEY), unknown_error())
    for attempt in Attempt.objects.all():
        ledger.settle(attempt, charged=True)
    for _ in range(2):
        job.delete()
        again(job)
        job = CaptureJob.objects.get()
        queue.fail(claim_one(job, FOR_MONEY), unknown_error())
        ledger.settle(Attempt.objects.get(), charged=False)
    complete_one(make_ready(job))

    capture = Capture.objects.get()
    assert capture.attempts == 5
    assert capture.cost == Charge.objects.aggregate(sum=Sum("amount"))["sum"] > 0
    assert capture.unknowns == 0


def make_ready(job: CaptureJob) -> CaptureJob:
    queue.requeue(CaptureJob.objects.filter(pk=job.pk))
    return fresh(job)


def test_twice_is_once():
    job = make_job()
    queue.cancel(CaptureJob.objects.all())
    job.delete()

    assert [again(job), again(job)] == [1, 0]

    assert CaptureJob.objects.count() == 1


def test_an_answer_is_never_asked_for_again_with_or_without_its_ticket():
    job = make_job()
    complete_one(job)

    assert again(job) == 0
    CaptureJob.objects.all().delete()
    assert again(job) == 0


def test_what_is_open_stays_as_it_is():
    job = make_job()
    claim_one(job)

    assert again(job) == 0

    assert fresh(job).status == "running"


def test_a_call_that_may_still_end_is_looked_after_and_not_started_anew():
    job = make_job()
    ticket = claim_one(job)
    queue.wait(ticket, "r-1", 0)
    (poll,) = claim()
    queue.fail(poll, error("remote_deadline"), live=True)

    assert again(job) == 1

    assert (fresh(job).status, fresh(job).remote_id) == ("waiting", "r-1")


def test_only_the_places_that_are_named():
    check = make_check(prompts=("One?", "Two?"))
    queue.cancel(check.jobs.all())
    first, second = check.jobs.order_by("pk")

    assert again(second) == 1

    assert (fresh(first).status, fresh(second).status) == ("cancelled", "pending")


def test_a_system_that_cannot_be_asked_is_left_out():
    check = make_check(providers=("chatgpt", "perplexity"))
    queue.cancel(check.jobs.all())

    assert again(*check.jobs.all(), chatgpt=Decimal(1)) == 1

    assert check.jobs.pending().get().provider == "chatgpt"


def test_a_check_that_is_gone():
    job = make_job()
    check = job.of_check
    Check.objects.all().delete()

    with pytest.raises(Check.DoesNotExist):
        queue.requeue_places(check, [(1, "chatgpt", 1)], ESTIMATES)


def test_a_thousand_places_take_a_few_statements(django_assert_max_num_queries):
    check = make_check(prompts=tuple(f"{number}?" for number in range(200)), providers=tuple(ESTIMATES))
    jobs = list(check.jobs.all())
    queue.cancel(check.jobs.all())
    check.jobs.filter(provider="chatgpt").delete()

    with django_assert_max_num_queries(45):
        assert queue.requeue_places(check, [place_of(job) for job in jobs], ESTIMATES) == 1_000


def test_a_thousand_jobs_are_called_off_in_a_few_statements(django_assert_max_num_queries):
    check = make_check(prompts=tuple(f"{number}?" for number in range(200)), providers=tuple(ESTIMATES))

    with django_assert_max_num_queries(40):
        assert queue.cancel(check.jobs.all()) == 1_000

    assert check.captures.filter(outcome="cancelled", reason="cancelled").count() == 1_000


def test_what_was_tried_before_it_is_called_off_keeps_its_attempts_and_cost():
    job = make_job()
    queue.ask_again(claim_one(job), error("timeout", maybe_charged=True), 0)
    other = make_check(prompts=("Other?",)).jobs.get()

    assert queue.cancel(CaptureJob.objects.all()) == 2

    tried, untouched = job.of_check.captures.get(), other.of_check.captures.get()
    assert (tried.attempts, tried.unknowns, tried.cost, tried.simulated) == (1, 1, Decimal("0.02"), True)
    assert (untouched.attempts, untouched.cost, untouched.simulated) == (0, Decimal(0), False)


def test_calling_off_twice_keeps_what_a_system_has_said():
    job = make_job()
    queue.fail(claim_one(job), error())
    queue.requeue(CaptureJob.objects.all())

    queue.cancel(CaptureJob.objects.all())

    assert job.of_check.captures.get().outcome == "failed"


def test_asking_again_replaces_why_there_was_none_by_the_answer():
    job = make_job()
    queue.fail(claim_one(job), error())
    again(job)

    assert queue.complete(claim_one(job), answer("At last."))

    assert job.of_check.captures.get().text == "At last."
