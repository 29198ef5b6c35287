"""By a person: called off, or asked again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, Subquery

from capture import ledger
from capture.models import Capture, CaptureJob, Lane, Status, Team
from capture.models.clock import ClockTimestamp
from capture.models.jobs import JobQuerySet
from capture.notifications import notify
from capture.queue.moves import AT_ONCE, NOBODY
from capture.turns import Turns


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


def may_be_asked_again(jobs: JobQuerySet) -> JobQuerySet:
    """The jobs of a set that are final and have no answer."""
    answered = Capture.objects.answered().filter(
        prompt=OuterRef("prompt"), provider=OuterRef("provider"), sample=OuterRef("sample")
    )
    return jobs.final().exclude(Exists(answered))


def requeue(jobs: JobQuerySet) -> int:
    """Ask final jobs without an answer again, with attempts afresh; says how many.

    A job whose call is still live is looked after and not started anew.
    """
    again = may_be_asked_again(jobs)
    afresh = {"attempts": 0, "unknowns": 0, "crashes": 0, "polls": 0, "finished_at": None, "reason": ""}
    to_poll = again.filter(remote_id__isnull=False).update(
        status=Status.WAITING, run_after=ClockTimestamp(), asked_at=ClockTimestamp(), **afresh
    )
    count = to_poll + _start_again(again.filter(remote_id__isnull=True), afresh)
    if count:
        notify()
    return count


def _start_again(jobs: JobQuerySet, afresh: Mapping[str, Any]) -> int:
    """One that somebody waits for takes the turn that its lane serves now; many take their team's next turns."""
    chosen = list(jobs.order_by("pk").values_list("pk", flat=True))
    if len(chosen) == 1:
        lane = Lane.objects.filter(name=OuterRef("lane")).values("turn")
        return jobs.filter(pk__in=chosen).update(status=Status.PENDING, turn=Subquery(lane), **afresh)
    batches = (chosen[start : start + AT_ONCE] for start in range(0, len(chosen), AT_ONCE))
    return sum(_start_many(jobs.filter(pk__in=batch), afresh) for batch in batches)


def _start_many(jobs: JobQuerySet, afresh: Mapping[str, Any]) -> int:
    with transaction.atomic():
        Team.objects.lock_all(set(jobs.values_list("team", flat=True)))
        locked = list(jobs.select_for_update(of=("self",), no_key=True).order_by("pk"))
        dealt = Turns()
        for job in locked:
            job.turn = dealt.deal(job.team_id, job.lane)
        CaptureJob.objects.bulk_update(locked, ["turn"])
        # By their numbers alone: they are locked, and the set may be one of those that are final.
        return CaptureJob.objects.filter(pk__in=[job.pk for job in locked]).update(status=Status.PENDING, **afresh)
