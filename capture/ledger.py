"""What is kept of a job when it moves: attempts, charges and captures.

Called by `capture.queue` inside the transaction of the move, which has the job's row locked. Every write can be
repeated and leaves the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.db import transaction
from django.db.models import Q, Sum

from capture import gists, readings
from capture.analysis.reading import Reading
from capture.models import Attempt, AttemptOutcome, Capture, CaptureJob, Charge, Outcome
from capture.models import Source as SourceRow
from capture.models.clock import ClockTimestamp, database_now, database_today
from capture.models.fields import storable
from capture.providers import registry
from capture.providers.replies import (
    Answered,
    Basis,
    Blocked,
    Cost,
    Empty,
    FinalReply,
    Incomplete,
    Kind,
    ProviderError,
    Refused,
    Source,
)

# Beyond these a reply is broken, and its figures are no reason to lose its answer.
MOST_DOLLARS = Decimal(9_999)
MOST_SOURCES = 1_000

FREE = Cost(Decimal(0), Basis.COMPUTED)

CANCELLED = "cancelled"  # the reason

SUPERSEDED = ProviderError(
    Kind.TRANSIENT, "superseded", "another attempt of the same job has brought the reply", maybe_charged=True
)

# A system that tells when it made an answer tells it by its own clock.
CLOCK_SLACK = timedelta(seconds=60)


def withdraw_attempts(jobs: Iterable[int]) -> None:
    """Take the intents of these jobs back: nothing was sent for them, so there was no attempt."""
    Attempt.objects.filter(job__in=jobs, ended_at__isnull=True, remote_id__isnull=True).delete()


def note_remote_id(attempt: UUID, remote_id: str) -> None:
    """Keep the id that the system gave the call: it is live until the system says otherwise."""
    Attempt.objects.filter(pk=attempt, remote_id__isnull=True).update(
        remote_id=remote_id, remote_at=ClockTimestamp(), live=True
    )


def note_ended_call(attempt: UUID, remote_id: str) -> None:
    """Keep the id of a call that came together with its end, as of an answer out of a system's cache."""
    if remote_id:
        Attempt.objects.filter(pk=attempt, remote_id__isnull=True).update(
            remote_id=remote_id, remote_at=ClockTimestamp()
        )


def open_attempt(job: int) -> UUID | None:
    """The attempt of a job that has not ended, of which there is at most one."""
    return Attempt.objects.filter(job=job, ended_at__isnull=True).values_list("pk", flat=True).first()


def has_ended(attempt: UUID) -> bool:
    return Attempt.objects.filter(pk=attempt, ended_at__isnull=False).exists()


def has_replied(attempt: UUID) -> bool:
    return Attempt.objects.filter(pk=attempt, outcome=AttemptOutcome.REPLIED).exists()


def unknowns(job: int) -> int:
    """How many start calls have an outcome that nobody knows, of those since the job was last asked for.

    Those are its latest, as many as it has spent now: numbers go on when it is asked for again.
    """
    spent: int = CaptureJob.objects.values_list("attempts", flat=True).get(pk=job)
    latest = Attempt.objects.filter(job=job, spent=True).order_by("-number").values_list("outcome", flat=True)
    return list(latest[:spent]).count(AttemptOutcome.UNKNOWN)


def spare(attempt: UUID) -> None:
    """The account was the trouble: this start call does not count among those that its job may use up."""
    Attempt.objects.filter(pk=attempt).update(spent=False)


def live_call(job: int) -> Attempt | None:
    """The oldest attempt that was given up and whose call has turned out to be live."""
    return Attempt.objects.filter(job=job, live=True, ended_at__isnull=False).order_by("number").first()


def look_on(jobs: Sequence[CaptureJob]) -> None:
    """The calls that these jobs have in hand are looked after again, and will tell themselves what they cost."""
    Attempt.objects.filter(job__in=jobs, ended_at__isnull=True).update(settled=None)


def reopen(attempt: Attempt) -> None:
    """An attempt that was given up goes on: its call is looked after."""
    Attempt.objects.filter(pk=attempt.pk).update(
        ended_at=None, outcome=AttemptOutcome.OPEN, settled=None, reason="", error=""
    )
    _retell(attempt.job)


def close_by_error(job: CaptureJob, attempt: UUID, error: ProviderError, *, live: bool = False) -> None:
    """Close an attempt by an error, and write what it cost: an unknown outcome counts at its estimate.

    Arguments:
        live: the call may still end, so the attempt stays open; it counts at its estimate until then.
    """
    outcome = AttemptOutcome.UNKNOWN if error.maybe_charged else AttemptOutcome.ERROR
    if not live and not _end(attempt, outcome, error):
        return  # something better is known of it, and of its cost
    # A plain error costs nothing, also where it was unknown until now.
    charge(job, attempt, error.cost or (None if live or error.maybe_charged else FREE))
    _retell(job)


def close_by_reply(job: CaptureJob, attempt: UUID, reply: FinalReply) -> None:
    """Close an attempt by a reply that comes too late to be kept, and write what it cost."""
    _end(attempt, AttemptOutcome.REPLIED)
    charge(job, attempt, reply.cost)
    _retell(job)


def supersede_others(job: CaptureJob, attempt: UUID) -> None:
    """Another attempt of a job has brought the reply: one that is still under way may be charged, too.

    A call that is live stays so: if the job is ever asked again, it is looked after first. What a person has settled
    stays settled, and so does its charge.
    """
    for other in Attempt.objects.filter(job=job, ended_at__isnull=True).exclude(pk=attempt):
        if other.settled is None:
            close_by_error(job, other.pk, SUPERSEDED)
        else:
            _end(other.pk, AttemptOutcome.UNKNOWN, SUPERSEDED)
        Attempt.objects.filter(pk=other.pk).update(live=other.live, settled=other.settled)


def _end(attempt: UUID, outcome: AttemptOutcome, error: ProviderError | None = None) -> bool:
    """End an attempt that is open, or whose end was unknown until now; says whether it was.

    A reply goes before an error as well: of two workers that looked after one call, one may have been told it is gone.
    """
    may_end = Q(ended_at__isnull=True) | Q(outcome=AttemptOutcome.UNKNOWN, settled__isnull=True)
    if outcome == AttemptOutcome.REPLIED:  # it tells what nobody knew, also where a person had to guess
        may_end |= Q(outcome__in=[AttemptOutcome.ERROR, AttemptOutcome.UNKNOWN])
    ended = Attempt.objects.filter(may_end, pk=attempt).update(
        ended_at=ClockTimestamp(),
        outcome=outcome,
        live=False,
        settled=None,
        reason=error.reason if error else "",
        error=error.message if error else "",
    )
    return ended == 1


def settle(attempt: Attempt, *, charged: bool) -> bool:
    """A person found out whether an attempt was charged; says whether that was open.

    A call that may still end stays as it is: its answer is kept if it comes, and tells what it cost.

    Arguments:
        charged: it counts at its estimate for good; otherwise it cost nothing.
    """
    open_question = Attempt.objects.unsettled().filter(pk=attempt.pk)
    with transaction.atomic():
        if not open_question.update(settled=charged):
            return False
        if not charged:
            Charge.objects.filter(attempt=attempt.pk).update(amount=FREE.amount, basis=FREE.basis)
        _retell(attempt.job)
    return True


def _retell(job: CaptureJob) -> None:
    """Tell anew in a job's capture what its attempts cost, and of how many nobody knows: one has turned out."""
    tries = list(Attempt.objects.filter(job=job))
    unknowns, cost = sum(each.is_unsettled for each in tries), job.spent_before + _spent(tries)
    Capture.objects.filter(**place(job)).update(unknowns=unknowns, cost=cost)


def charge(job: CaptureJob, attempt: UUID, cost: Cost | None) -> None:
    """Write what an attempt cost; a later and better figure for the same attempt replaces an earlier one.

    Arguments:
        cost: None where the system's reply names no money; then it counts at the job's estimate.
    """
    cost = bounded(cost or Cost(job.estimate, Basis.ESTIMATED))
    simulated = Attempt.objects.filter(pk=attempt, simulated=True).exists()
    Charge.objects.update_or_create(
        attempt=attempt,
        defaults={"amount": cost.amount, "basis": cost.basis},
        create_defaults={
            "amount": cost.amount,
            "basis": cost.basis,
            "team_id": job.team_id,
            "day": database_today(),
            "provider": job.provider,
            "check_uuid": job.of_check.uuid,
            "simulated": simulated,
        },
    )


def bounded(cost: Cost) -> Cost:
    """A cost as far as it can be true."""
    return Cost(min(max(cost.amount, Decimal(0)), MOST_DOLLARS), cost.basis)


def keep_reply(job: CaptureJob, attempt: UUID, reply: FinalReply, reading: Reading | None = None) -> None:
    """Keep what a call ended with, in place of an earlier capture that holds no answer, and what it cost.

    A copy from the system's cache is free; it points to the capture it copies, where that is ours.

    Arguments:
        reading: whom an answer names; without it, the answer is read later.
    """
    note_ended_call(attempt, reply.remote_id)
    tried = Attempt.objects.get(pk=attempt)
    original = _original(job, tried, reply)
    copied = original is not None or _is_copy(reply, tried.started_at)
    _end(attempt, AttemptOutcome.REPLIED)
    charge(job, attempt, FREE if copied else reply.cost)
    outcome, reason, text = told_apart(reply)
    capture = _keep(
        job,
        attempt=attempt,
        outcome=outcome,
        reason=reason,
        text=text,
        model=reply.model,
        cached=copied,
        copy_of=original,
        read=readings.columns_of_new(reading, job.of_check.brand),
    )
    if isinstance(reply, Answered) and capture.attempt == attempt:
        found = SourceRow.objects.bulk_create(SourceRow(capture=capture, **each) for each in sources(reply))
        if reading is not None:
            capture.prompt, capture.of_check = job.prompt, job.of_check
            readings.keep(capture, reading, {source.domain for source in found})


def _is_copy(reply: FinalReply, asked_at: datetime) -> bool:
    """Whether a reply was made before it was asked for; the system's clock may differ a little from ours."""
    return reply.made_at is not None and reply.made_at < asked_at - CLOCK_SLACK


def _original(job: CaptureJob, tried: Attempt, reply: FinalReply) -> Capture | None:
    """Our own answer that a system gave again: such a system gives its id again as well."""
    if reply.made_at is None or not tried.remote_id:
        return None
    same = Capture.objects.originals().filter(provider=job.provider, remote_id=tried.remote_id)
    return same.exclude(**place(job)).order_by("pk").first()


def move_source(attempt: UUID, redirect: str, url: str) -> None:
    """A source of an attempt's answer turned out to be another page than a redirect: keep that page, once.

    Arguments:
        redirect: the address as the system gave it.
        url: the page that it leads to.
    """
    sources = SourceRow.objects.filter(capture__attempt=attempt)
    with transaction.atomic():
        # Held against whoever reads the answer again, and its sources with it.
        capture = Capture.objects.select_for_update(no_key=True).only("pk").filter(attempt=attempt).first()
        source = sources.filter(raw_url=redirect).exclude(url=url).first()
        twin = sources.filter(url=url).first()
        if source and twin:
            twin.cited = twin.cited or source.cited
            twin.spans = sorted([*twin.spans, *source.spans])
            twin.save(update_fields=["cited", "spans"])
            source.delete()
        elif source:
            sources.filter(pk=source.pk).update(url=url, domain=host_of(url))
        if capture and source:
            gists.move_sites(capture.pk)


def keep_failure(job: CaptureJob, attempt: UUID | None, error: ProviderError) -> None:
    """Keep why a job came to nothing."""
    _keep(job, attempt=attempt, outcome=Outcome.FAILED, reason=error.reason, detail=error.message)


def keep_cancellations(jobs: Sequence[CaptureJob]) -> None:
    """Keep that jobs were called off before they were asked.

    One that was called off before, and not tried since, says so already.
    """
    tried = _keep_untried(jobs, Outcome.CANCELLED, CANCELLED)[0]
    for job in tried:
        _keep(job, attempt=None, outcome=Outcome.CANCELLED, reason=CANCELLED)


def keep_failures(jobs: Sequence[CaptureJob], error: ProviderError) -> None:
    """Keep why jobs came to nothing for which no call is out."""
    tried, known = _keep_untried(jobs, Outcome.FAILED, error.reason, error.message)
    for job in (*tried, *known):
        keep_failure(job, None, error)


def _keep_untried(
    jobs: Sequence[CaptureJob], outcome: Outcome, reason: str, detail: str = ""
) -> tuple[list[CaptureJob], list[CaptureJob]]:
    """Keep what came of those that were never tried, in a few statements for as many as there are.

    Returns:
        The others: those that were tried, and those of which something is kept although they were not.
    """
    attempted = set(Attempt.objects.filter(job__in=jobs).values_list("job_id", flat=True))
    kept = Capture.objects.filter(prompt__in={job.prompt_id for job in jobs})
    places = set(kept.values_list("prompt_id", "provider", "sample"))
    now = database_now()
    tried = [job for job in jobs if job.pk in attempted]
    untried = [job for job in jobs if job.pk not in attempted]
    known = [job for job in untried if (job.prompt_id, job.provider, job.sample) in places]
    Capture.objects.bulk_create(
        Capture(
            **place(job),
            team_id=job.team_id,
            of_check_id=job.of_check_id,
            outcome=outcome,
            reason=reason,
            detail=detail,
            surface=registry.by_slug[job.provider].surface,
            attempts=0,
            simulated=False,
            answered_at=now,
        )
        for job in untried
        if (job.prompt_id, job.provider, job.sample) not in places
    )
    return tried, known


def told_apart(reply: FinalReply) -> tuple[Outcome, str, str]:
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
    read: Mapping[str, Any] = MappingProxyType({}),
) -> Capture:
    held = Capture.objects.filter(**place(job)).first()
    if held and not _may_replace(held, outcome):
        return held
    tries = list(Attempt.objects.filter(job=job).order_by("number"))
    own = next((each for each in tries if each.pk == attempt), None)
    now = database_now()
    capture, _ = Capture.objects.update_or_create(
        **place(job),
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
            "attempts": job.tried_before + len(tries),
            "unknowns": sum(each.is_unsettled for each in tries),
            "seconds": (now - own.started_at).total_seconds() if own else None,
            "cost": job.spent_before + _spent(tries),
            "simulated": own.simulated if own else any(each.simulated for each in tries),
            "answered_at": now,
            "cached": cached,
            "copy_of": copy_of,
            **read,
        },
    )
    capture.sources.all().delete()
    return capture


def _may_replace(held: Capture, outcome: Outcome) -> bool:
    """An answer is never overwritten, and what a system has said is only by what a system says."""
    if held.outcome in (Outcome.FAILED, Outcome.CANCELLED):
        return held.outcome == outcome or outcome != Outcome.CANCELLED
    return held.outcome != Outcome.ANSWERED and outcome not in (Outcome.FAILED, Outcome.CANCELLED)


def place(job: CaptureJob) -> dict[str, Any]:
    return {"prompt_id": job.prompt_id, "provider": job.provider, "sample": job.sample}


def _spent(tries: list[Attempt]) -> Decimal:
    charges = Charge.objects.filter(attempt__in=[attempt.pk for attempt in tries])
    return charges.aggregate(sum=Sum("amount"))["sum"] or Decimal(0)


def host_of(url: str) -> str:
    """The host of an address, as sources are counted: without `www.`."""
    return (urlsplit(url).hostname or "").removeprefix("www.")


def sources(answer: Answered) -> Iterator[dict[str, Any]]:
    """What is kept of the sources of an answer, as many as are kept."""
    for position, source in enumerate(answer.sources[:MOST_SOURCES], start=1):
        yield {
            "position": position,
            "url": source.url,
            "raw_url": source.raw_url,
            "domain": _domain(source),
            "title": source.title,
            "cited": source.cited,
            "spans": [list(span) for span in source.spans],
        }


def _domain(source: Source) -> str:
    """The host of a redirect is the system's own, and says nothing about the page."""
    return storable(source.domain or ("" if source.redirect else host_of(source.url)), most=253)
