"""Replies that are kept together, in one statement, leave the rows that they leave one by one."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from django.db.models import Model

from capture import calls, first_replies, lanes, ledger, queue
from capture.models import Attempt, Capture, CaptureJob, Charge, Gist, Lane, Mention, Outcome, Source, Status
from capture.models.clock import database_now
from capture.providers.replies import Basis, Blocked, Cost, Empty, FinalReply, Incomplete, Refused
from capture.providers.replies import Source as Page
from capture.queue import Ending
from tests.factories import (
    answer,
    claim,
    claim_one,
    error,
    make_check,
    make_user,
    prompts,
    unknown_error,
)

TEXT = "Contoso leads. **Northwind** is fine, and Northwind is cheap. We would not recommend Contoso."
PAGES = (
    Page("https://www.a.example/x", "https://www.a.example/x?u", "A \x00 title", cited=True, spans=((0, 7), (9, 20))),
    Page("https://r.example/1", "https://r.example/1", "", cited=False, redirect=True),
    Page("https://b.example/", "https://b.example/", "B" * 1500, cited=False, domain="named.example"),
)

REPLIES: dict[str, FinalReply] = {
    "an answer": answer(TEXT, sources=PAGES),
    "an answer without sources": answer("Nobody."),
    "an answer that names nobody and no price": answer("Nobody.", cost=None, sources=()),
    "an answer with what cannot be stored": answer(f"\x00{TEXT} \ud800", model="gpt\x00", sources=PAGES),
    "an answer whose id came with it": answer(TEXT, remote_id="resp_1"),
    "an answer at an absurd price": answer(TEXT, cost=Cost(Decimal(1_000_000), Basis.REPORTED)),
    "an answer at a negative price": answer(TEXT, cost=Cost(Decimal(-1), Basis.REPORTED)),
    "a refusal": Refused(text="No.", cost=Cost(Decimal("0.002"), Basis.COMPUTED), model="gpt-test"),
    "a block": Blocked(reason="safety"),
    "half an answer": Incomplete(reason="max_output_tokens", text="Northwind is"),
    "nothing": Empty(reason="no_text"),
}
TIMES = {"ended_at", "remote_at", "started_at", "deadline", "answered_at", "finished_at", "asked_at", "created_at"}
OWN = {"id", "attempt", "prompt", "of_check", "check_uuid", "team", "job", "capture", "brand", "competitor", "turn"}

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _lanes():
    lanes.make_missing()
    Lane.objects.update(limit=100)


def ending(ticket: calls.Ticket, reply: FinalReply) -> Ending:
    return Ending(ticket, reply, calls.reading_of(ticket, reply))


def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_replies, "keep", lambda came: set())


def all_that_is_kept(job: CaptureJob) -> dict[str, list[dict[str, Any]]]:
    """All rows of a job, without what is another's in another job."""
    captures = Capture.objects.filter(prompt=job.prompt)
    attempts = Attempt.objects.filter(job=job)
    return {
        "job": rows(CaptureJob.objects.filter(pk=job.pk)),
        "attempts": rows(attempts.order_by("number")),
        "charges": rows(Charge.objects.filter(attempt__in=attempts.values("pk"))),
        "captures": rows(captures),
        "sources": rows(Source.objects.filter(capture__in=captures).order_by("position")),
        "gists": rows(Gist.objects.filter(capture__in=captures)),
        "mentions": rows(Mention.objects.filter(capture__in=captures).order_by("rank")),
    }


def rows(found: Any) -> list[dict[str, Any]]:
    return [{field.name: _plain(row, field) for field in row._meta.concrete_fields} for row in found]


def _plain(row: Model, field: Any) -> Any:
    value = getattr(row, field.attname)
    if field.name == "rivals":
        return len(value)
    if field.name in TIMES | OWN:
        return value is None
    return value is not None and value >= 0 if field.name == "seconds" else value


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
@pytest.mark.parametrize("polled", [False, True], ids=["at once", "by polling"])
def test_they_leave_the_same_rows(reply, polled, monkeypatch):
    user = make_user()
    together, by_itself = (claim_one(make_check(user, prompts=("a?",)).jobs.get()) for _ in range(2))
    if polled:
        together, by_itself = look_after(together), look_after(by_itself)

    assert queue.complete_all([ending(together, reply)]) == {together.attempt}
    one_by_one(monkeypatch)
    assert queue.complete_all([ending(by_itself, reply)]) == {by_itself.attempt}

    first, second = (all_that_is_kept(fresh_job(ticket)) for ticket in (together, by_itself))
    assert first == second
    assert first["captures"]


def look_after(ticket: calls.Ticket) -> calls.Ticket:
    queue.wait(ticket, f"resp_{ticket.job}", 0)
    (again,) = claim()
    Attempt.objects.filter(pk=ticket.attempt).update(remote_id="resp_same")
    return again


def fresh_job(ticket: calls.Ticket) -> CaptureJob:
    return CaptureJob.objects.get(pk=ticket.job)


def test_many_are_kept_together_and_each_as_its_own():
    check = make_check(prompts=prompts(20))
    tickets = started(20)
    replies = {ticket.attempt: answer(f"Answer {number}.") for number, ticket in enumerate(tickets)}

    kept = queue.complete_all([ending(ticket, replies[ticket.attempt]) for ticket in tickets])

    assert kept == set(replies)
    assert {capture.attempt: capture.text for capture in Capture.objects.all()} == {
        attempt: reply.text for attempt, reply in replies.items()
    }
    assert set(check.jobs.values_list("status", flat=True)) == {Status.DONE}
    assert Source.objects.count() == Charge.objects.count() == 20


def test_one_statement_keeps_as_many_as_there_are(django_assert_num_queries):
    make_check(prompts=prompts(20))
    endings = [ending(ticket, answer()) for ticket in started(20)]

    with django_assert_num_queries(4):  # a savepoint and its release, of jobs, of what is kept
        queue.complete_all(endings)


def test_what_is_out_of_the_ordinary_is_kept_beside_them():
    make_check(prompts=prompts(5))
    second_try, late, copied, kept_before, plain = started(5)
    queue.ask_again(second_try, unknown_error(), 0)
    queue.promote_due()
    (second_try,) = started(1)
    CaptureJob.objects.filter(pk=late.job).update(status=Status.PENDING, worker=None, claim_token=None)
    keep_failure(kept_before)
    replies = {ticket.attempt: answer() for ticket in (second_try, late, kept_before, plain)}
    replies[copied.attempt] = replace(answer(), made_at=database_now())

    kept = queue.complete_all([ending(t, replies[t.attempt]) for t in (second_try, late, copied, kept_before, plain)])

    assert kept == set(replies)
    assert set(CaptureJob.objects.values_list("status", flat=True)) == {Status.DONE}
    assert set(Capture.objects.values_list("outcome", flat=True)) == {Outcome.ANSWERED}
    assert set(Capture.objects.values_list("attempt", flat=True)) == set(replies)
    assert Capture.objects.get(attempt=second_try.attempt).attempts == 2


def test_a_reply_of_a_job_that_is_done_changes_nothing():
    make_check(prompts=prompts(2))
    done, other = started(2)
    queue.complete_all([ending(done, answer("First."))])

    assert queue.complete_all([ending(done, answer("Again.")), ending(other, answer("Other."))]) == {
        done.attempt,
        other.attempt,
    }

    assert set(Capture.objects.values_list("text", flat=True)) == {"First.", "Other."}


def test_of_two_replies_for_one_job_the_one_from_before_it_was_lost_is_late():
    make_check()
    (lost,) = started(1)
    CaptureJob.objects.update(status=Status.PENDING, worker=None, claim_token=None)
    ledger.close_by_error(CaptureJob.objects.get(), lost.attempt, unknown_error())
    (held,) = started(1)

    kept = queue.complete_all([ending(lost, answer("Late.")), ending(held, answer("Held."))])

    assert kept == {held.attempt}
    assert Capture.objects.get().text == "Held."
    assert set(Attempt.objects.values_list("outcome", flat=True)) == {"replied"}


def started(count: int) -> list[calls.Ticket]:
    tickets = claim(seats=count)
    assert len(tickets) == count
    return tickets


def keep_failure(ticket: calls.Ticket) -> None:
    """A capture that says that the job had failed before."""
    job = CaptureJob.objects.select_related("of_check").get(pk=ticket.job)
    ledger.keep_failure(job, None, error())
