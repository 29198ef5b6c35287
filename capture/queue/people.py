"""By a person: called off, or asked again."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from capture import ledger
from capture.models import Capture, CaptureJob, Status
from capture.models.clock import ClockTimestamp
from capture.models.jobs import JobQuerySet
from capture.queue.moves import AT_ONCE, NOBODY


def cancel(jobs: JobQuerySet) -> int:
    """Call off the jobs of a set for which nothing was sent yet; says how many. The others finish."""
    unasked = Q(status=Status.PENDING) | Q(status=Status.CLAIMED, remote_id__isnull=True)
    chosen = list(jobs.filter(unasked).order_by("pk").values_list("pk", flat=True))
    return sum(_cancel(unasked, chosen[start : start + AT_ONCE]) for start in range(0, len(chosen), AT_ONCE))


def _cancel(unasked: Q, batch: Sequence[int]) -> int:
    with transaction.atomic():
        rows = CaptureJob.objects.select_for_update(of=("self",), no_key=True)
        # Those of which a worker has made something since are no longer among them.
        taken = list(rows.filter(unasked, pk__in=batch).order_by("pk"))
        CaptureJob.objects.filter(pk__in=[job.pk for job in taken]).update(
            status=Status.CANCELLED, run_after=None, finished_at=ClockTimestamp(), reason=ledger.CANCELLED, **NOBODY
        )
        ledger.keep_cancellations(taken)
    return len(taken)


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
