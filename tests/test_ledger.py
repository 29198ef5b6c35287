"""What is kept of a job besides its state: copies from a system's cache, and sources that were redirects."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from capture import ledger, queue
from capture.models import Attempt, AttemptOutcome, Capture, CaptureJob, Charge
from capture.models.clock import database_now
from capture.providers.replies import Basis, Cost, Empty, Refused, Source
from tests.factories import answer, claim_one, error, make_check, make_job

pytestmark = pytest.mark.django_db

REDIRECT = "https://redirects.example/abc"
PAGE = "https://www.reviews.example/a"


def answer_copied_from_cache(**fields):
    return answer(made_at=database_now() - timedelta(minutes=20), **fields)


def complete_with_id(job, remote_id, reply):
    queue.wait(claim_one(job), remote_id, 0)
    queue.complete(claim_one(job), reply)
    return Capture.objects.get(prompt=job.prompt)


def test_an_answer_that_was_made_before_we_asked_is_a_copy_and_free():
    capture = complete_with_id(make_job(providers=("copilot",)), "s1", answer_copied_from_cache())

    assert capture.cached
    assert capture.copy_of is None
    assert Charge.objects.get().amount == Decimal(0)
    assert capture.cost == Decimal(0)


def test_a_copy_points_to_the_answer_that_it_copies():
    original = complete_with_id(make_job(providers=("copilot",)), "s1", answer(made_at=database_now()))
    copy = complete_with_id(make_job(providers=("copilot",)), "s1", answer(made_at=database_now()))

    assert not original.cached
    assert copy.cached
    assert copy.copy_of == original
    assert list(Charge.objects.order_by("pk").values_list("amount", flat=True)) == [Decimal("0.013"), Decimal(0)]


def test_a_copy_that_comes_at_once_points_to_its_original_however_soon_it_was_asked_for():
    original = complete_with_id(make_job(providers=("copilot",)), "s1", answer(made_at=database_now(), remote_id="s1"))
    job = make_job(providers=("copilot",))

    queue.complete(claim_one(job), answer(made_at=database_now(), remote_id="s1"))

    copy = Capture.objects.get(prompt=job.prompt)
    assert (copy.cached, copy.copy_of, copy.cost, copy.remote_id) == (True, original, Decimal(0), "s1")


def test_an_answer_made_while_we_waited_is_no_copy_though_clocks_differ():
    made_at = database_now() - timedelta(seconds=30)

    capture = complete_with_id(make_job(providers=("copilot",)), "s1", answer(made_at=made_at))

    assert not capture.cached
    assert capture.cost == Decimal("0.013")


def test_an_empty_reply_copied_from_the_cache_is_free_too():
    reply = Empty(reason="no_results", made_at=database_now() - timedelta(minutes=20))

    capture = complete_with_id(make_job(providers=("google_ai",)), "s1", reply)

    assert (capture.outcome, capture.cached) == ("empty", True)
    assert Charge.objects.get().basis == Basis.COMPUTED


def test_systems_that_copy_take_one_sample_of_a_question():
    check = make_check(providers=("chatgpt", "copilot", "google_ai"), prompts=("a?", "b?"), samples=3)

    counts = {slug: check.jobs.filter(provider=slug).count() for slug in check.providers}

    assert counts == {"chatgpt": 6, "copilot": 2, "google_ai": 2}


def keep_with_sources(*sources):
    ticket = claim_one(make_job())
    queue.complete(ticket, answer(sources=sources))
    return ticket.attempt, Capture.objects.get()


def test_a_redirect_counts_under_the_domain_that_the_system_names():
    redirect = Source(REDIRECT, REDIRECT, title="reviews.example", domain="reviews.example", redirect=True)

    _, capture = keep_with_sources(redirect)

    assert capture.sources.get().domain == "reviews.example"


def test_a_source_moves_to_the_page_that_its_redirect_leads_to():
    attempt, capture = keep_with_sources(Source(REDIRECT, REDIRECT, domain="x.example", redirect=True))

    ledger.move_source(attempt, REDIRECT, PAGE)

    source = capture.sources.get()
    assert (source.url, source.raw_url, source.domain) == (PAGE, REDIRECT, "reviews.example")


def test_two_redirects_to_one_page_are_one_source():
    other = REDIRECT + "d"
    attempt, capture = keep_with_sources(
        Source(REDIRECT, REDIRECT, redirect=True, spans=((5, 9),)),
        Source(other, other, redirect=True, cited=True, spans=((1, 3),)),
    )

    ledger.move_source(attempt, REDIRECT, PAGE)
    ledger.move_source(attempt, other, PAGE)
    ledger.move_source(attempt, other, PAGE)

    source = capture.sources.get()
    assert (source.url, source.cited, source.spans) == (PAGE, True, [[1, 3], [5, 9]])


# ------------------------------------------------------------------------- figures that cannot be right lose no answer


def test_every_attempt_has_a_charge_once_it_has_ended():
    ends = [
        lambda ticket: queue.complete(ticket, answer()),
        lambda ticket: queue.ask_again(ticket, error(), 1),
        lambda ticket: queue.fail(ticket, error("timeout", maybe_charged=True)),
    ]

    for end in ends:
        end(claim_one(make_job()))

    amounts = sorted(Charge.objects.values_list("amount", flat=True))
    assert amounts == [Decimal(0), Decimal("0.013"), Decimal("0.02")]
    assert Charge.objects.count() == Attempt.objects.count()


@pytest.mark.parametrize("amount", ["10000", "1e9", "-5"])
def test_an_amount_that_cannot_be_right_is_capped_and_loses_no_answer(amount):
    queue.complete(claim_one(make_job()), answer(cost=Cost(Decimal(amount), Basis.REPORTED)))

    assert Capture.objects.get().outcome == "answered"
    assert 0 <= Charge.objects.get().amount <= 9_999


def test_an_answer_with_more_sources_than_anybody_reads_is_kept_with_the_first_of_them():
    urls = [f"https://a.example/{number}" for number in range(40_000)]

    _, capture = keep_with_sources(*(Source(url, url) for url in urls))

    assert capture.sources.count() == ledger.MOST_SOURCES


def test_what_a_system_has_said_is_not_wiped_by_a_cancellation_or_a_failure():
    for end in (lambda job: queue.cancel(one(job)), lambda job: queue.fail(claim_one(job), error())):
        job = make_job()
        queue.complete(claim_one(job), Refused(text="I would rather not."))
        queue.requeue(one(job))

        end(job)

        assert Capture.objects.get(prompt=job.prompt).text == "I would rather not."


def one(job):
    return CaptureJob.objects.filter(pk=job.pk)


# ------------------------------------------------------------------------------------------- unknown outcomes settled


def after_an_unknown_outcome():
    job = make_job()
    queue.ask_again(claim_one(job), error("timeout", maybe_charged=True), 0)
    queue.promote_due()
    queue.complete(claim_one(job), answer())
    return Attempt.objects.get(job=job, outcome=AttemptOutcome.UNKNOWN)


def test_an_answer_tells_of_attempts_that_may_have_been_charged():
    after_an_unknown_outcome()

    capture = Capture.objects.get()
    assert (capture.attempts, capture.unknowns, capture.cost) == (2, 1, Decimal("0.033"))


@pytest.mark.parametrize(("charged", "cost"), [(True, "0.033"), (False, "0.013")])
def test_a_person_settles_whether_an_attempt_was_charged_once(charged, cost):
    attempt = after_an_unknown_outcome()

    assert ledger.settle(attempt, charged=charged)
    assert not ledger.settle(attempt, charged=not charged)

    capture = Capture.objects.get()
    assert (capture.unknowns, capture.cost) == (0, Decimal(cost))
    assert sum(charge.amount for charge in Charge.objects.all()) == Decimal(cost)


class TestWhatTurnsOutLater:
    """What a capture says of its attempts follows what they have turned out to be."""

    def test_a_late_plain_error_of_an_attempt_that_nobody_knew_of(self):
        job = make_job()
        first = claim_one(job)
        queue.ask_again(first, error("timeout", maybe_charged=True), 0)
        queue.promote_due()
        second = claim_one(job)
        queue.complete(second, answer(cost=Cost(Decimal("0.013"), Basis.COMPUTED)))
        assert (Capture.objects.get().unknowns, Capture.objects.get().cost) == (1, Decimal("0.033"))

        queue.ask_again(first, error("server_error", heard=True), 0)

        assert (Capture.objects.get().unknowns, Capture.objects.get().cost) == (0, Decimal("0.013"))

    def test_a_late_reply_of_a_job_that_was_called_off(self):
        job = make_job()
        first = claim_one(job)
        queue.ask_again(first, error("timeout", maybe_charged=True), 3600)
        queue.cancel(CaptureJob.objects.all())

        queue.complete(first, answer(cost=Cost(Decimal("0.013"), Basis.COMPUTED)))

        assert (Capture.objects.get().unknowns, Capture.objects.get().cost) == (0, Decimal("0.013"))
        assert Charge.objects.get().amount == Decimal("0.013")

    @pytest.mark.parametrize("charged", [True, False])
    def test_a_late_reply_corrects_what_a_person_has_settled(self, charged):
        job = make_job()
        first = claim_one(job)
        queue.fail(first, error("timeout", maybe_charged=True))
        assert ledger.settle(Attempt.objects.get(), charged=charged)

        assert queue.complete(first, answer(cost=Cost(Decimal("0.013"), Basis.COMPUTED)))
        assert queue.requeue(CaptureJob.objects.all()) == 0
        assert queue.complete(first, answer())  # the reply to its COMMIT was lost

        attempt = Attempt.objects.get()
        assert (attempt.outcome, attempt.settled) == (AttemptOutcome.REPLIED, None)
        assert (Capture.objects.get().unknowns, Capture.objects.get().cost) == (0, Decimal("0.013"))
