"""What is kept of jobs whose first call has brought a reply: of most jobs, and of many at once.

The rows are those that `ledger.keep_reply` leaves, one by one and whatever came before. Called by `capture.queue`
inside the transaction of the move, which has the jobs' rows locked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef

from capture import ledger, readings
from capture.analysis.reading import Reading
from capture.models import Attempt, AttemptOutcome, Capture, Charge, Mention, Source
from capture.models.clock import ClockTimestamp
from capture.providers import registry
from capture.providers.replies import Answered, FinalReply

Came = tuple[UUID, FinalReply, Reading | None]


@dataclass(frozen=True, slots=True)
class First:
    """A job's only attempt, open, with all that its job is of; and what it brought.

    Arguments:
        tried: with its job, check and brand.
        now: by the one clock.
    """

    tried: Attempt
    now: datetime
    reply: FinalReply
    reading: Reading | None

    @property
    def charge(self) -> Charge:
        job = self.tried.job
        cost = ledger.counted(job, self.reply.cost)
        return Charge(
            attempt=self.tried.pk,
            team_id=job.team_id,
            day=self.now.astimezone(UTC).date(),
            provider=job.provider,
            amount=cost.amount,
            basis=cost.basis,
            check_uuid=job.of_check.uuid,
            simulated=self.tried.simulated,
        )

    @property
    def capture(self) -> Capture:
        job = self.tried.job
        outcome, reason, text = ledger.told_apart(self.reply)
        return Capture(
            **ledger.place(job),
            team_id=job.team_id,
            of_check_id=job.of_check_id,
            attempt=self.tried.pk,
            remote_id=self.tried.remote_id or self.reply.remote_id,
            outcome=outcome,
            reason=reason,
            text=text,
            model=self.reply.model,
            surface=registry.by_slug[job.provider].surface,
            attempts=1,
            seconds=(self.now - self.tried.started_at).total_seconds(),
            cost=ledger.counted(job, self.reply.cost).amount,
            simulated=self.tried.simulated,
            answered_at=self.now,
            **readings.columns_of_new(self.reading, job.of_check.brand),
        )


def keep(came: Sequence[Came]) -> set[UUID]:
    """Keep replies of attempts that are their job's first; says of which. The others are not touched.

    Arguments:
        came: attempts, with what they have brought and whom that names.
    """
    # A reply that says when it was made may be a copy of an earlier answer.
    firsts = list(_firsts({attempt: (reply, reading) for attempt, reply, reading in came if reply.made_at is None}))
    if firsts:
        for first in firsts:
            if first.reply.remote_id and first.tried.remote_id is None:
                ledger.note_ended_call(first.tried.pk, first.reply.remote_id)
        Attempt.objects.filter(pk__in=[first.tried.pk for first in firsts]).update(
            ended_at=ClockTimestamp(), outcome=AttemptOutcome.REPLIED, live=False, reason="", error=""
        )
        Charge.objects.bulk_create(
            (first.charge for first in firsts),
            update_conflicts=True,
            unique_fields=["attempt"],
            update_fields=["amount", "basis"],
        )
        captures = Capture.objects.bulk_create(first.capture for first in firsts)
        Source.objects.bulk_create(_sources(firsts, captures))
        Mention.objects.bulk_create(_mentions(firsts, captures))
    return {first.tried.pk for first in firsts}


def _firsts(came: dict[UUID, tuple[FinalReply, Reading | None]]) -> Iterator[First]:
    other = Attempt.objects.filter(job=OuterRef("job")).exclude(pk=OuterRef("pk"))
    held = Capture.objects.filter(
        prompt=OuterRef("job__prompt"), provider=OuterRef("job__provider"), sample=OuterRef("job__sample")
    )
    first = Attempt.objects.filter(~Exists(other), ~Exists(held), pk__in=came, ended_at__isnull=True)
    rows: Any = first.select_related("job__of_check__brand").annotate(now=ClockTimestamp())
    for tried in rows:
        yield First(tried, tried.now, *came[tried.pk])


def _sources(firsts: Sequence[First], captures: Sequence[Capture]) -> Iterator[Source]:
    for first, capture in zip(firsts, captures, strict=True):
        if isinstance(first.reply, Answered):
            yield from ledger.source_rows(capture, first.reply)


def _mentions(firsts: Sequence[First], captures: Sequence[Capture]) -> Iterator[Mention]:
    for first, capture in zip(firsts, captures, strict=True):
        if isinstance(first.reply, Answered) and first.reading is not None:
            yield from readings.mentions_of(capture, first.reading)
