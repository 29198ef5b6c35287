"""What is kept of a job when it moves: attempts, charges and captures.

Called by `capture.queue` inside the transaction of the move, which has the job's row locked. Every write can be
repeated and leaves the same rows.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.db.models import Max, Sum

from capture.calls import Ticket
from capture.models import Attempt, AttemptOutcome, Capture, CaptureJob, Charge, Outcome
from capture.models import Source as SourceRow
from capture.models.clock import ClockTimestamp, database_now
from capture.providers import registry
from capture.providers.base import Account
from capture.providers.replies import (
    Answered,
    Basis,
    Blocked,
    Cost,
    Empty,
    FinalReply,
    Incomplete,
    ProviderError,
    Refused,
    Source,
)


def begin_attempt(ticket: Ticket, worker: UUID, account: Account) -> None:
    """Write the intent: this worker is about to start this call at this address."""
    so_far = Attempt.objects.filter(job_id=ticket.job).exclude(pk=ticket.attempt).aggregate(last=Max("number"))["last"]
    Attempt.objects.get_or_create(
        pk=ticket.attempt,
        defaults={
            "job_id": ticket.job,
            "number": (so_far or 0) + 1,
            "worker": worker,
            "base_url": account.base_url,
            "simulated": account.simulated,
            "started_at": ClockTimestamp(),
        },
    )


def note_remote_id(attempt: UUID, remote_id: str) -> None:
    """Keep the id that the system gave the call."""
    Attempt.objects.filter(pk=attempt, remote_id__isnull=True).update(remote_id=remote_id, remote_at=ClockTimestamp())


def end_attempt(attempt: UUID, error: ProviderError | None = None) -> None:
    """Close an attempt: by a reply, by an error, or as unknown where the error may hide an accepted call."""
    outcome = AttemptOutcome.REPLIED
    if error is not None:
        outcome = AttemptOutcome.UNKNOWN if error.maybe_charged else AttemptOutcome.ERROR
    Attempt.objects.filter(pk=attempt, ended_at__isnull=True).update(
        ended_at=ClockTimestamp(),
        outcome=outcome,
        reason=error.reason if error else "",
        error=error.message if error else "",
    )


def charge(job: CaptureJob, attempt: UUID, cost: Cost | None) -> None:
    """Write what an attempt cost; a later and better figure for the same attempt replaces an earlier one.

    Arguments:
        cost: None where the system's reply names no money; then it counts at the job's estimate.
    """
    cost = cost or Cost(job.estimate, Basis.ESTIMATED)
    simulated = Attempt.objects.filter(pk=attempt, simulated=True).exists()
    Charge.objects.update_or_create(
        attempt=attempt,
        defaults={"amount": cost.amount, "basis": cost.basis},
        create_defaults={
            "amount": cost.amount,
            "basis": cost.basis,
            "team_id": job.team_id,
            "day": database_now().date(),
            "provider": job.provider,
            "check_uuid": job.of_check.uuid,
            "simulated": simulated,
        },
    )


def keep_reply(job: CaptureJob, attempt: UUID, reply: FinalReply) -> None:
    """Keep what a call ended with, in place of an earlier capture that holds no answer."""
    outcome, reason, text = _told_apart(reply)
    capture = _keep(job, attempt=attempt, outcome=outcome, reason=reason, text=text, model=reply.model)
    if isinstance(reply, Answered):
        SourceRow.objects.bulk_create(
            _source_row(capture, position, source) for position, source in enumerate(reply.sources, start=1)
        )


def keep_failure(job: CaptureJob, attempt: UUID | None, error: ProviderError) -> None:
    """Keep why a job came to nothing."""
    _keep(job, attempt=attempt, outcome=Outcome.FAILED, reason=error.reason, detail=error.message)


def keep_cancellation(job: CaptureJob) -> None:
    """Keep that a job was called off before it was asked."""
    _keep(job, attempt=None, outcome=Outcome.CANCELLED, reason="cancelled")


def _told_apart(reply: FinalReply) -> tuple[Outcome, str, str]:
    match reply:
        case Answered(text=text):
            return Outcome.ANSWERED, "", text
        case Refused(text=text):
            return Outcome.REFUSED, "", text
        case Blocked(reason=reason):
            return Outcome.BLOCKED, reason, ""
        case Incomplete(reason=reason, text=text):
            return Outcome.INCOMPLETE, reason, text
        case Empty(reason=reason):
            return Outcome.EMPTY, reason, ""


def _keep(
    job: CaptureJob,
    *,
    attempt: UUID | None,
    outcome: Outcome,
    reason: str,
    text: str = "",
    detail: str = "",
    model: str = "",
) -> Capture:
    if held := Capture.objects.answered().filter(**_place(job)).first():
        return held  # an answer is never overwritten
    tries = list(Attempt.objects.filter(job=job).order_by("number"))
    own = next((each for each in tries if each.pk == attempt), None)
    now = database_now()
    capture, _ = Capture.objects.update_or_create(
        **_place(job),
        defaults={
            "team_id": job.team_id,
            "of_check_id": job.of_check_id,
            "attempt": attempt,
            "outcome": outcome,
            "reason": reason,
            "detail": detail,
            "text": text,
            "model": model,
            "surface": registry.by_slug[job.provider].surface,
            "attempts": len(tries),
            "seconds": (now - own.started_at).total_seconds() if own else None,
            "cost": _spent(tries),
            "simulated": own.simulated if own else any(each.simulated for each in tries),
            "answered_at": now,
        },
    )
    capture.sources.all().delete()
    return capture


def _place(job: CaptureJob) -> dict[str, Any]:
    return {"prompt_id": job.prompt_id, "provider": job.provider, "sample": job.sample}


def _spent(tries: list[Attempt]) -> Decimal:
    charges = Charge.objects.filter(attempt__in=[attempt.pk for attempt in tries])
    return charges.aggregate(sum=Sum("amount"))["sum"] or Decimal(0)


def _source_row(capture: Capture, position: int, source: Source) -> SourceRow:
    return SourceRow(
        capture=capture,
        position=position,
        url=source.url,
        raw_url=source.raw_url,
        domain=(urlsplit(source.url).hostname or "").removeprefix("www."),
        title=source.title,
        cited=source.cited,
        spans=[list(span) for span in source.spans],
    )
