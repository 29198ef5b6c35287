"""The state machine of jobs; the only writer of `CaptureJob.status`.

                enqueue
                   │
                   ▼
    cancel ┌── PENDING ◄───────┬──────────────┬──────────────┐
           │       │ claim     │ release      │ ask_again    │ requeue (a person)
           │       ▼           │              │              │
           ├── CLAIMED ────────┘              │              │
           │    │     │ start: the intent     │              │
           │    │     ▼                       │              │
           │    │  RUNNING ───────────────────┤              │
           │    │     │  │ wait: id stored    │              │
           │    │     │  ▼                    │              │
           │    │     │ WAITING ── claim ──► CLAIMED: polled, then WAITING again, or:
           │    │     │                                      │
           │    └─────┴──── complete ──► DONE, no answer ────┤
           │    └─────┴──── fail ──────► FAILED ─────────────┤
           └───────────────────────────► CANCELLED ──────────┘

Every arrow is one function and one guarded statement, whose row count is checked. A job that a worker holds is guarded
by its number and claim token; a constraint ties the token to CLAIMED and RUNNING, so naming the status as well would
only give the planner a worse index to choose. A job that nobody holds is guarded by its status.

Ids are made by the caller and transitions are repeatable: when the reply to a COMMIT was lost, the same call again
finds its own result there and has succeeded.

Lock order: team, lane, worker, check, job, attempt, capture; ids sorted.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import OperationalError, connection, transaction
from django.db.models import Exists, Min, OuterRef, Q
from psycopg.errors import LockNotAvailable

from capture import lanes, ledger, systems, tickets
from capture.calls import Ticket
from capture.models import Attempt, Brand, Capture, CaptureJob, Check, Outcome, Prompt, Status, Team
from capture.models.brands import remember_competitors
from capture.models.clock import ClockTimestamp, StatementTimestamp, database_now
from capture.models.jobs import JobQuerySet
from capture.orders import Order
from capture.providers import registry
from capture.providers.base import Account
from capture.providers.replies import FinalReply, ProviderError

log = logging.getLogger(__name__)

# A claimer that freezes while it holds a lane's lock holds up that lane for a moment only.
LOCK_TIMEOUT = timedelta(seconds=2)
IDLE_TIMEOUT = timedelta(seconds=5)

AT_ONCE = 500

NOBODY: Mapping[str, Any] = {"worker": None, "claim_token": None}


# ---------------------------------------------------------------------------------------------- into the queue


def enqueue(
    order: Order, team: Team, user: AbstractBaseUser | AnonymousUser, estimates: Mapping[str, Decimal]
) -> tuple[Check, bool]:
    """Write a check with all its jobs, or find the one that the same order made before.

    Arguments:
        estimates: US dollars for one question, by provider.

    Returns:
        The check, and whether it is new.
    """
    with transaction.atomic():
        brand = Brand.objects.remember(team, order.brand)
        check, created = Check.objects.get_or_create(
            team=team, submit_token=order.submit_token, defaults=_check_fields(order, brand, user)
        )
        if created:
            prompts = Prompt.objects.bulk_create(_prompts(order, check))
            jobs = CaptureJob.objects.bulk_create(_jobs(order, check, prompts, estimates), batch_size=AT_ONCE)
    if created:
        log.info("check %s: %s jobs enqueued", check.uuid, len(jobs))
    return check, created


def _check_fields(order: Order, brand: Brand, user: AbstractBaseUser | AnonymousUser) -> dict[str, Any]:
    competitors = remember_competitors(brand, order.competitors)
    return {
        "brand": brand,
        "created_by_id": user.pk,
        "names": {"brand": brand.as_asked(), "competitors": [competitor.as_asked() for competitor in competitors]},
        "providers": list(order.providers),
        "samples": order.samples,
        "country": order.country,
        "language": order.language,
    }


def _prompts(order: Order, check: Check) -> list[Prompt]:
    return [
        Prompt(
            of_check=check,
            position=position,
            text=text,
            key=Prompt.key_of(text, order.country, order.language),
            branded=order.names_brand(text),
        )
        for position, text in enumerate(order.prompts, start=1)
    ]


def _jobs(
    order: Order, check: Check, prompts: Sequence[Prompt], estimates: Mapping[str, Decimal]
) -> Iterable[CaptureJob]:
    for sample in range(1, order.samples + 1):
        for prompt in prompts:
            for slug in order.providers:
                if sample > systems.samples_of(slug, order.samples):
                    continue
                yield CaptureJob(
                    team_id=check.team_id,
                    of_check=check,
                    prompt=prompt,
                    provider=slug,
                    lane=registry.by_slug[slug].lane,
                    sample=sample,
                    estimate=estimates[slug],
                )


def promote_due() -> int:
    """Make jobs whose time has come claimable, a batch at a time; says how many."""
    with transaction.atomic():
        due = CaptureJob.objects.to_promote().select_for_update(skip_locked=True)[:AT_ONCE]
        return (
            CaptureJob.objects.postponed()
            .filter(pk__in=sorted(due.values_list("pk", flat=True)))
            .update(run_after=None)
        )


def seconds_until_due(names: Collection[str]) -> float | None:
    """Seconds until the next postponed job or poll of these lanes is due; None when none is to come."""
    coming = CaptureJob.objects.filter(run_after__gt=StatementTimestamp())
    waiting = coming.waiting().filter(lane__in=names).aggregate(at=Min("run_after"))["at"]
    postponed = coming.pending().aggregate(at=Min("run_after"))["at"]
    nearest = min((at for at in (waiting, postponed) if at is not None), default=None)
    return None if nearest is None else max(0.0, (nearest - database_now()).total_seconds())


# ------------------------------------------------------------------------------------------ taken and handed back


def claim(lane: str, worker: UUID, slugs: Collection[str], seats: int) -> list[Ticket]:
    """Take as many jobs of a lane as there are free seats and the lane has room for.

    Polls that are due go first; they hold a place in the lane already.

    Arguments:
        slugs: the AI systems that this worker can ask.
        seats: how many it can seat now.
    """
    try:
        claimed = _claim(lane, worker, slugs, seats)
    except OperationalError as error:
        if not isinstance(error.__cause__, LockNotAvailable):
            raise
        log.warning("lane %s is held up by another claimer", lane)
        return []
    for ticket in claimed:
        _log(ticket, "claimed")
    return claimed


def _claim(lane: str, worker: UUID, slugs: Collection[str], seats: int) -> list[Ticket]:
    token = uuid4()
    with transaction.atomic():
        _be_brief()
        room = lanes.lock(lane)
        jobs = _take(CaptureJob.objects.to_poll(lane, slugs), seats if room.polls else 0)
        jobs += _take(CaptureJob.objects.to_start(lane, slugs), min(room.starts, seats - len(jobs)))
        if jobs:
            CaptureJob.objects.filter(pk__in=sorted(job.pk for job in jobs)).update(
                status=Status.CLAIMED, worker=worker, claim_token=token, run_after=None
            )
        return tickets.of(jobs, token) if jobs else []


def _be_brief() -> None:
    """Bound this transaction's waits. For this transaction only, so that it works behind a connection pooler."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('lock_timeout', %s, true), set_config('idle_in_transaction_session_timeout', %s, true)",
            [_milliseconds(LOCK_TIMEOUT), _milliseconds(IDLE_TIMEOUT)],
        )


def _milliseconds(span: timedelta) -> str:
    return str(span // timedelta(milliseconds=1))


def _take(jobs: JobQuerySet, most: int) -> list[CaptureJob]:
    if most <= 0:
        return []
    locked = jobs.select_for_update(skip_locked=True, of=("self",), no_key=True)
    return list(locked.select_related("prompt", "of_check")[:most])


def release(ticket: Ticket) -> bool:
    """Hand back a job for which nothing was sent."""
    return _hand_back(CaptureJob.objects.filter(pk=ticket.job, claim_token=ticket.token)) > 0


def release_strays(worker: UUID, held: Collection[UUID]) -> int:
    """Hand back claims in a worker's name that it does not know, since the reply to its COMMIT was lost.

    Arguments:
        held: tokens of the claims that it does know.
    """
    return _hand_back(CaptureJob.objects.filter(worker=worker).exclude(claim_token__in=held))


def _hand_back(claims: JobQuerySet) -> int:
    """A claim to start goes back in line, a claim to poll is due again; RUNNING is neither and stays."""
    claimed = claims.filter(status=Status.CLAIMED)
    to_start = claimed.filter(remote_id__isnull=True).update(status=Status.PENDING, **NOBODY)
    to_poll = claimed.filter(remote_id__isnull=False).update(
        status=Status.WAITING, run_after=ClockTimestamp(), **NOBODY
    )
    return to_start + to_poll


# ------------------------------------------------------------------------------------------------ while it is held


def start(ticket: Ticket, worker: UUID, account: Account) -> bool:
    """Commit the intent to send: nothing may be sent for a job before this has returned True."""
    with transaction.atomic():
        started = _move(
            ticket, status=Status.RUNNING, attempts=ticket.attempts, polls=0, asked_at=ClockTimestamp(), reason=""
        )
        if started:
            ledger.begin_attempt(ticket, worker, account)
    return _told(ticket, "started", started)


def wait(ticket: Ticket, remote_id: str, after: float, reason: str = "") -> bool:
    """Store the id of a live call and when to look after it; that frees the seat.

    Arguments:
        after: seconds.
        reason: the trouble of the last poll, if there was any.
    """
    with transaction.atomic():
        waits = _move(
            ticket,
            status=Status.WAITING,
            remote_id=remote_id,
            run_after=ClockTimestamp() + timedelta(seconds=after),
            polls=ticket.polls,
            reason=reason,
            **NOBODY,
        )
        # Also when the job is no longer ours: the call was paid for and must be found again.
        ledger.note_remote_id(ticket.attempt, remote_id)
    here = waits or CaptureJob.objects.waiting().filter(pk=ticket.job, remote_id=remote_id).exists()
    return _told(ticket, f"waits {after:.1f} s", here)


def complete(ticket: Ticket, reply: FinalReply) -> bool:
    """Keep what the call ended with. The job is done, whether or not that is an answer."""
    with transaction.atomic():
        done = _move(ticket, status=Status.DONE, remote_id=None, finished_at=ClockTimestamp(), reason="", **NOBODY)
        if done:
            job = _locked(ticket)
            ledger.end_attempt(ticket.attempt)
            ledger.keep_reply(job, ticket.attempt, reply)
    here = done or Capture.objects.filter(attempt=ticket.attempt).exists()
    return _told(ticket, f"done: {type(reply).__name__.lower()}", here)


def ask_again(ticket: Ticket, error: ProviderError, after: float) -> bool:
    """The attempt is over by an error; the job goes back in line for `after` seconds."""
    with transaction.atomic():
        back = _move(
            ticket,
            status=Status.PENDING,
            remote_id=None,
            run_after=ClockTimestamp() + timedelta(seconds=after),
            unknowns=ticket.unknowns + error.maybe_charged,
            reason=error.reason,
            **NOBODY,
        )
        if back:
            _close_by_error(ticket, error)
    here = back or _ended(ticket)
    return _told(ticket, f"asked again in {after:.1f} s ({error.reason})", here)


def fail(ticket: Ticket, error: ProviderError, *, live: bool = False) -> bool:
    """The job came to nothing.

    Arguments:
        live: its call may yet end; its id is kept, so that a requeue looks after it and starts nothing anew.
    """
    remote_id = ticket.remote_id if live else None
    with transaction.atomic():
        failed = _move(
            ticket,
            status=Status.FAILED,
            remote_id=remote_id,
            unknowns=ticket.unknowns + error.maybe_charged,
            finished_at=ClockTimestamp(),
            reason=error.reason,
            **NOBODY,
        )
        if failed:
            job = _locked(ticket)
            if live:
                ledger.charge(job, ticket.attempt, None)
            else:
                _close_by_error(ticket, error)
            ledger.keep_failure(job, ticket.attempt, error)
    here = failed or Capture.objects.filter(attempt=ticket.attempt, outcome=Outcome.FAILED).exists()
    return _told(ticket, f"failed ({error.reason})", here)


def _move(ticket: Ticket, **changes: Any) -> bool:
    return CaptureJob.objects.filter(pk=ticket.job, claim_token=ticket.token).update(**changes) == 1


def _locked(ticket: Ticket) -> CaptureJob:
    """The job's row, which the move just made has locked."""
    return CaptureJob.objects.select_related("of_check").get(pk=ticket.job)


def _close_by_error(ticket: Ticket, error: ProviderError) -> None:
    """End the attempt. An unknown outcome counts at its estimate, a plain error at what its reply says, if anything."""
    ledger.end_attempt(ticket.attempt, error)
    if error.cost or error.maybe_charged:
        ledger.charge(_locked(ticket), ticket.attempt, error.cost)


def _ended(ticket: Ticket) -> bool:
    return Attempt.objects.filter(pk=ticket.attempt, ended_at__isnull=False).exists()


def _told(ticket: Ticket, what: str, done: bool) -> bool:
    if done:
        _log(ticket, what)
    else:
        log.warning("job %s %s: no longer held; not %s", ticket.job, ticket.provider, what)
    return done


def _log(ticket: Ticket, what: str) -> None:
    log.info("job %s %s attempt %s: %s", ticket.job, ticket.provider, ticket.attempts, what)


# ------------------------------------------------------------------------------------------------- by a person


def cancel(jobs: JobQuerySet) -> int:
    """Call off the jobs of a set for which nothing was sent yet; says how many. The others finish."""
    unasked = Q(status=Status.PENDING) | Q(status=Status.CLAIMED, remote_id__isnull=True)
    count = 0
    for job in _one_by_one(jobs.filter(unasked)):
        with transaction.atomic():
            off = CaptureJob.objects.filter(unasked, pk=job.pk).update(
                status=Status.CANCELLED, run_after=None, finished_at=ClockTimestamp(), reason="cancelled", **NOBODY
            )
            if off:
                ledger.keep_cancellation(job)
        count += off
    return count


def requeue(jobs: JobQuerySet) -> int:
    """Ask final jobs without an answer again, with attempts afresh; says how many.

    A job whose call is still live is looked after and not started anew.
    """
    answered = Capture.objects.answered().filter(
        prompt=OuterRef("prompt"), provider=OuterRef("provider"), sample=OuterRef("sample")
    )
    again = jobs.final().exclude(Exists(answered))
    afresh = {"attempts": 0, "unknowns": 0, "crashes": 0, "polls": 0, "finished_at": None, "reason": ""}
    to_poll = again.filter(remote_id__isnull=False).update(
        status=Status.WAITING, run_after=ClockTimestamp(), asked_at=ClockTimestamp(), **afresh
    )
    to_start = again.filter(remote_id__isnull=True).update(status=Status.PENDING, **afresh)
    return to_start + to_poll


def _one_by_one(jobs: JobQuerySet) -> Iterable[CaptureJob]:
    return jobs.select_related("of_check").order_by("pk").iterator(chunk_size=AT_ONCE)
