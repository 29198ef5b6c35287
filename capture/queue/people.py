"""By a person: called off, or asked again."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from capture import ledger
from capture.models import Capture, CaptureJob, Status
from capture.models.clock import ClockTimestamp
from capture.models.jobs import JobQuerySet
from capture.notifications import notify
from capture.queue.moves import AT_ONCE, NOBODY


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
    with transaction.atomic():
        to_poll = again.filter(remote_id__isnull=False).update(
            status=Status.WAITING, run_after=ClockTimestamp(), asked_at=ClockTimestamp(), **afresh
        )
        to_start = again.filter(remote_id__isnull=True).update(status=Status.PENDING, **afresh)
        if to_start or to_poll:
            notify()
    return to_start + to_poll


def _one_by_one(jobs: JobQuerySet) -> Iterable[CaptureJob]:
    return jobs.select_related("of_check").order_by("pk").iterator(chunk_size=AT_ONCE)
