"""While a worker holds a job: its call is looked after, and may end by an error. Late results are kept here, too."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q

from capture import ledger, turns
from capture.calls import Ticket
from capture.models import CaptureJob, Status
from capture.models.clock import ClockTimestamp
from capture.notifications import notify
from capture.providers.replies import ProviderError
from capture.queue.moves import NOBODY, told

log = logging.getLogger("capture.queue")


def wait(ticket: Ticket, remote_id: str, after: float, reason: str = "") -> bool:
    """Store the id of a live call and when to look after it; that frees the seat.

    Arguments:
        after: seconds.
        reason: the trouble of the last poll, if there was any.
    """
    with transaction.atomic():
        waits = move(
            ticket,
            status=Status.WAITING,
            remote_id=remote_id,
            run_after=ClockTimestamp() + timedelta(seconds=after),
            polls=ticket.polls,
            reason=reason,
            **NOBODY,
        )
        if waits:
            ledger.note_remote_id(ticket.attempt, remote_id)
        else:
            _keep_late_id(ticket, remote_id)
    here = waits or CaptureJob.objects.waiting().filter(pk=ticket.job, remote_id=remote_id).exists()
    return told(ticket, f"waits {after:.1f} s", here)


def ask_again(ticket: Ticket, error: ProviderError, after: float) -> bool:
    """The attempt is over by an error; the job goes back in line for `after` seconds."""
    back = {"status": Status.PENDING, "run_after": ClockTimestamp() + timedelta(seconds=after)}
    return told(ticket, f"asked again in {after:.1f} s ({error.reason})", _end_by_error(ticket, error, back))


def put_back(ticket: Ticket, error: ProviderError) -> bool:
    """The account is the trouble, not the question: the job goes back in line, and no attempt is spent.

    It takes its team's next turn, so that another job finds out whether the account answers again.
    """
    with transaction.atomic():
        job = locked(ticket.job)
        if job and job.claim_token == ticket.token:
            ledger.spare(ticket.attempt)  # first: unknown outcomes are counted among those that are spent
        turn = turns.next_of(job.team_id, ticket.lane) if job else 0
        # A call from before the job was asked for anew is none of its attempts.
        back = {"status": Status.PENDING, "attempts": max(0, ticket.attempts - 1), "turn": turn}
        done = _end_by_error(ticket, error, back)
    return told(ticket, f"put back ({error.reason})", done)


def fail(ticket: Ticket, error: ProviderError, *, live: bool = False) -> bool:
    """The job came to nothing.

    Arguments:
        live: its call may yet end; its id is kept, so that a requeue looks after it and starts nothing anew.
    """
    failed = {"status": Status.FAILED, "finished_at": ClockTimestamp()}
    return told(ticket, f"failed ({error.reason})", _end_by_error(ticket, error, failed, live=live))


def _end_by_error(ticket: Ticket, error: ProviderError, into: Mapping[str, Any], *, live: bool = False) -> bool:
    """An attempt is over by an error, and its job goes elsewhere; a late error closes its attempt and no more."""
    with transaction.atomic():
        moved = move(ticket, remote_id=ticket.remote_id if live else None, reason=error.reason, **into, **NOBODY)
        job = locked(ticket.job)
        if job is None:
            return moved
        ended = ledger.has_ended(ticket.attempt)
        if not moved and (live or (job.remote_id is not None and not ended)):
            # The call may be live: who looks after it now will see for itself.
            return ended or (live and job.status == Status.FAILED)
        ledger.close_by_error(job, ticket.attempt, error, live=live)
        _count_unknowns(job.pk)
        taken_up = moved and take_up(job.pk)
        if moved and not taken_up and job.status == Status.FAILED:
            ledger.keep_failure(job, ticket.attempt, error)
    return moved or ended


def move(ticket: Ticket, **changes: Any) -> bool:
    return CaptureJob.objects.filter(pk=ticket.job, claim_token=ticket.token).update(**changes) == 1


def locked(job: int) -> CaptureJob | None:
    """The job's row, locked; None when cleanup has taken it."""
    rows = CaptureJob.objects.select_for_update(of=("self",), no_key=True)
    return rows.select_related("of_check", "prompt").filter(pk=job).first()


def _keep_late_id(ticket: Ticket, remote_id: str) -> None:
    """The id of a call whose worker has lost the job: the call was paid for, and is found again."""
    job = locked(ticket.job)
    if job is None:
        return
    ledger.note_remote_id(ticket.attempt, remote_id)
    take_up(job.pk)


def take_up(job: int) -> bool:
    """Look after a live call that the job's state knows nothing of, before anything is started anew."""
    call = ledger.live_call(job)
    if call is None:
        return False
    idle = Q(status=Status.PENDING) | Q(status=Status.FAILED, remote_id__isnull=True)
    taken = CaptureJob.objects.filter(idle, pk=job).update(
        status=Status.WAITING,
        remote_id=call.remote_id,
        asked_at=call.started_at,
        run_after=ClockTimestamp(),
        finished_at=None,
        polls=0,
    )
    if taken:
        ledger.reopen(call)
        notify()
        _count_unknowns(job)
        found = f"job {job}: looks after call {call.remote_id} of an earlier attempt"
        transaction.on_commit(lambda: log.info(found, extra={"job": job}))
    return bool(taken)


def _count_unknowns(job: int) -> None:
    """Count them anew, since an outcome that nobody knew may have become known."""
    CaptureJob.objects.filter(pk=job).update(unknowns=ledger.unknowns(job))
