"""Ends: what calls have ended with is kept, and their jobs are done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from capture import first_replies, ledger
from capture.analysis.reading import Reading
from capture.calls import Ticket
from capture.models import Capture, CaptureJob, Outcome, Status
from capture.models.clock import ClockTimestamp
from capture.providers.replies import FinalReply
from capture.queue.held import locked
from capture.queue.moves import NOBODY, move_held, told

FINISH = """
    UPDATE capture_capturejob job
    SET status = 'done', remote_id = NULL, run_after = NULL, finished_at = clock_timestamp(), reason = '',
        worker = NULL, claim_token = NULL
    FROM held
    WHERE job.id = held.id
    RETURNING job.id, held.token
"""


@dataclass(frozen=True, slots=True)
class Ending:
    """What a call has ended with.

    Arguments:
        reading: whom an answer names; without it, the answer is read later.
    """

    ticket: Ticket
    reply: FinalReply
    reading: Reading | None = None

    def __str__(self) -> str:
        return f"done: {type(self.reply).__name__.lower()}"


def complete(ticket: Ticket, reply: FinalReply, reading: Reading | None = None) -> bool:
    """Keep what one call has ended with: see `complete_all`."""
    return ticket.attempt in complete_all([Ending(ticket, reply, reading)])


def complete_all(endings: Sequence[Ending]) -> set[UUID]:
    """Keep what calls have ended with. Their jobs are done, whether or not that is an answer.

    Those that are still held are kept together. The first reply wins: one that comes late, for a job that its worker
    has lost, completes the job as well, unless it is done or cancelled. Then only its attempt is closed, since it was
    paid for all the same.

    Says which attempts' replies are kept.
    """
    with transaction.atomic():
        held = move_held(FINISH, [ending.ticket for ending in endings])
        mine = [ending for ending in endings if ending.ticket in held]
        plain = first_replies.keep((ending.ticket, ending.reply, ending.reading) for ending in mine)
        for ending in mine:
            if ending.ticket.attempt not in plain:
                _keep(_job(ending.ticket), ending)
    for ending in mine:
        told(ending.ticket, str(ending), done=True)
    return {ending.ticket.attempt for ending in endings if ending.ticket in held or _complete_late(ending)}


def _complete_late(ending: Ending) -> bool:
    ticket = ending.ticket
    with transaction.atomic():
        job = locked(ticket.job)
        # A person may have had the job asked again since this reply was written; then it is not written once more.
        done = not ledger.has_replied(ticket.attempt) and _finish(ticket.job)
        known = Capture.objects.filter(attempt=ticket.attempt).exclude(outcome=Outcome.FAILED).exists()
        if job and done:
            _keep(job, ending)
        elif job and not known:
            ledger.close_by_reply(job, ticket.attempt, ending.reply)
    return told(ticket, str(ending), done or known)


def _keep(job: CaptureJob, ending: Ending) -> None:
    ledger.supersede_others(job, ending.ticket.attempt)
    ledger.keep_reply(job, ending.ticket.attempt, ending.reply, ending.reading)


def _job(ticket: Ticket) -> CaptureJob:
    return CaptureJob.objects.select_related("of_check", "prompt").get(pk=ticket.job)


def _finish(job: int) -> bool:
    unfinished = CaptureJob.objects.filter(pk=job).exclude(status__in=[Status.DONE, Status.CANCELLED])
    finished = unfinished.update(
        status=Status.DONE, remote_id=None, run_after=None, finished_at=ClockTimestamp(), reason="", **NOBODY
    )
    return finished == 1
