"""What is kept of a job when it moves: attempts, charges and captures.

Called by `capture.queue` inside the transaction of the move, which has the job's row locked. Every write can be
repeated and leaves the same rows.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.db import transaction
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

FREE = Cost(Decimal(0), Basis.COMPUTED)

# A system that tells when it made an answer tells it by its own clock.
CLOCK_SLACK = timedelta(seconds=60)


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
    """Keep what a call ended with, in place of an earlier capture that holds no answer, and what it cost.

    A copy from the system's cache is free; it points to the capture it copies, where that is ours.
    """
    tried = Attempt.objects.get(pk=attempt)
    original = _original(job, tried, reply)
    copied = original is not None or _is_copy(reply, tried.started_at)
    charge(job, attempt, FREE if copied else reply.cost)
    outcome, reason, text = _told_apart(reply)
    capture = _keep(
        job,
        attempt=attempt,
        outcome=outcome,
        reason=reason,
        text=text,
        model=reply.model,
        cached=copied,
        copy_of=original,
    )
    if isinstance(reply, Answered) and capture.attempt == attempt:
        SourceRow.objects.bulk_create(
            _source_row(capture, position, source) for position, source in enumerate(reply.sources, start=1)
        )


def _is_copy(reply: FinalReply, asked_at: datetime) -> bool:
    """Whether a reply was made before it was asked for; the system's clock may differ a little from ours."""
    return reply.made_at is not None and reply.made_at < asked_at - CLOCK_SLACK


def _original(job: CaptureJob, tried: Attempt, reply: FinalReply) -> Capture | None:
    """Our own answer that a system gave again: such a system gives its id again as well."""
    if reply.made_at is None or not tried.remote_id:
        return None
    same = Capture.objects.originals().filter(provider=job.provider, remote_id=tried.remote_id)
    return same.exclude(**_place(job)).order_by("pk").first()


def move_source(attempt: UUID, redirect: str, url: str) -> None:
    """A source of an attempt's answer turned out to be another page than a redirect: keep that page, once.

    Arguments:
        redirect: the address as the system gave it.
        url: the page that it leads to.
    """
    sources = SourceRow.objects.filter(capture__attempt=attempt)
    with transaction.atomic():
        source = sources.filter(raw_url=redirect).exclude(url=url).first()
        twin = sources.filter(url=url).first()
        if source and twin:
            twin.cited = twin.cited or source.cited
            twin.spans = sorted([*twin.spans, *source.spans])
            twin.save(update_fields=["cited", "spans"])
            source.delete()
        elif source:
            sources.filter(pk=source.pk).update(url=url, domain=host_of(url))


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
    cached: bool = False,
    copy_of: Capture | None = None,
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
            "remote_id": (own.remote_id or "") if own else "",
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
            "cached": cached,
            "copy_of": copy_of,
        },
    )
    capture.sources.all().delete()
    return capture


def _place(job: CaptureJob) -> dict[str, Any]:
    return {"prompt_id": job.prompt_id, "provider": job.provider, "sample": job.sample}


def _spent(tries: list[Attempt]) -> Decimal:
    charges = Charge.objects.filter(attempt__in=[attempt.pk for attempt in tries])
    return charges.aggregate(sum=Sum("amount"))["sum"] or Decimal(0)


def host_of(url: str) -> str:
    """The host of an address, as sources are counted: without `www.`."""
    return (urlsplit(url).hostname or "").removeprefix("www.")


def _source_row(capture: Capture, position: int, source: Source) -> SourceRow:
    return SourceRow(
        capture=capture,
        position=position,
        url=source.url,
        raw_url=source.raw_url,
        # The host of a redirect is the system's own, and says nothing about the page.
        domain=source.domain or ("" if source.redirect else host_of(source.url)),
        title=source.title,
        cited=source.cited,
        spans=[list(span) for span in source.spans],
    )
