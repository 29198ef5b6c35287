"""Old jobs go, a batch at a time, with their attempts. What they brought and what they cost stays.

The rows are found along `job_finished`, each batch from where the last one ended: what a cleanup has just deleted is
still in the index for a while, and what has to stay would stand at its front for ever.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from capture.models import Attempt, CaptureJob, Status
from capture.models.jobs import JobQuerySet


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a batch ended.

    Arguments:
        finished_at: of its last job; None before the first batch.
        kept: the jobs that ended at that very time and have to stay.
    """

    finished_at: datetime | None = None
    kept: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Batch:
    """What one batch did.

    Arguments:
        kept: old jobs that have to stay: nobody has settled an outcome, or a call may still end.
        rest: where to go on; None after the last batch.
    """

    jobs: int
    attempts: int
    kept: int
    rest: Cursor | None


def old_jobs(statuses: Collection[Status], before: datetime) -> JobQuerySet:
    """The jobs that ended so long ago, the oldest first."""
    return CaptureJob.objects.final().filter(status__in=statuses, finished_at__lte=before).order_by("finished_at")


def delete_old_jobs(statuses: Collection[Status], before: datetime, cursor: Cursor, most: int) -> Batch:
    """Delete a batch of final jobs with their attempts. Jobs that somebody is at are passed over.

    Arguments:
        statuses: final ones.
        before: they had ended by then, by the database's clock.
        cursor: where the batch before this one ended.
        most: jobs in a batch.
    """
    with transaction.atomic():
        chosen = _lock(statuses, before, cursor, most)
        kept = _kept(chosen)
        gone = sorted(job.pk for job in chosen if job.pk not in kept)
        _, deleted = CaptureJob.objects.filter(pk__in=gone).delete()
    jobs, attempts = (deleted.get(model._meta.label, 0) for model in (CaptureJob, Attempt))
    return Batch(jobs, attempts, len(kept), _after(cursor, chosen, kept) if len(chosen) == most else None)


def _lock(statuses: Collection[Status], before: datetime, cursor: Cursor, most: int) -> list[CaptureJob]:
    old = old_jobs(statuses, before).exclude(pk__in=cursor.kept)
    if cursor.finished_at is not None:
        old = old.filter(finished_at__gte=cursor.finished_at)
    return list(old.only("finished_at").select_for_update(skip_locked=True, of=("self",))[:most])


def _kept(chosen: Sequence[CaptureJob]) -> set[int]:
    """Those of locked jobs that have to stay; once settled, an attempt changes only under the lock of its job."""
    undecided = Attempt.objects.undecided().filter(job__in=[job.pk for job in chosen])
    return set(undecided.values_list("job", flat=True))


def _after(cursor: Cursor, chosen: Sequence[CaptureJob], kept: Collection[int]) -> Cursor:
    end = chosen[-1].finished_at
    here = {job.pk for job in chosen if job.finished_at == end and job.pk in kept}
    return Cursor(end, frozenset(here | (cursor.kept if end == cursor.finished_at else frozenset())))
