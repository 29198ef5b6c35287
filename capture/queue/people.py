"""By a person: called off, asked again, or failed by hand; always in batches, each a transaction of its own.

Whoever has many jobs in mind and has to stop in between (a page, a worker's upkeep) gives a batch after the other to
`cancel_these`, `requeue_these` and `fail_these`, which say what they have moved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from django.db import transaction
from django.db.models import Case, Exists, F, OuterRef, Q, When

from capture import ledger, turns
from capture.models import Capture, CaptureJob, Status, Team
from capture.models.clock import ClockTimestamp
from capture.models.jobs import JobQuerySet
from capture.notifications import notify
from capture.providers.replies import Kind, ProviderError
from capture.queue.moves import AT_ONCE, NOBODY
from capture.turns import Turns

UNASKED = Q(status=Status.PENDING) | Q(status=Status.CLAIMED, remote_id__isnull=True)

AFRESH: Mapping[str, Any] = MappingProxyType(
    {"attempts": 0, "unknowns": 0, "crashes": 0, "polls": 0, "finished_at": None, "reason": ""}
)

BY_HAND = ProviderError(Kind.FATAL, "by_hand", "staff have given it up")


# ------------------------------------------------------------------------------------------------------ called off


def cancel(jobs: JobQuerySet) -> int:
    """Call off the jobs of a set for which nothing was sent yet; says how many. The others finish."""
    return _in_batches(_numbers(jobs.filter(UNASKED)), cancel_these)


def cancel_these(numbers: Sequence[int]) -> list[int]:
    """Call off those of a batch for which nothing was sent yet; says which."""
    with transaction.atomic():
        # Those of which a worker has made something since are no longer among them.
        taken = list(_locked(numbers).filter(UNASKED))
        CaptureJob.objects.filter(pk__in=[job.pk for job in taken]).update(
            status=Status.CANCELLED, run_after=None, finished_at=ClockTimestamp(), reason=ledger.CANCELLED, **NOBODY
        )
        ledger.keep_cancellations(taken)
    return [job.pk for job in taken]


# ----------------------------------------------------------------------------------------------------- asked again


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
    again = _numbers(may_be_asked_again(jobs))
    return _in_batches(again, partial(requeue_these, alone=len(again) == 1))


def requeue_these(numbers: Sequence[int], *, alone: bool = False) -> list[int]:
    """Ask those of a batch again that are final and have no answer; says which.

    Arguments:
        alone: somebody waits for this one, so it takes the turn that its lane serves now; many take their team's next.
    """
    with transaction.atomic():
        Team.objects.lock_all(set(CaptureJob.objects.filter(pk__in=numbers).values_list("team", flat=True)))
        locked = [job.pk for job in _locked(numbers).final()]
        # A statement of its own after the lock: an answer may have come until then.
        again = list(may_be_asked_again(CaptureJob.objects.filter(pk__in=locked)).order_by("pk"))
        _look_on([job for job in again if job.remote_id is not None])
        _start_anew([job for job in again if job.remote_id is None], alone)
        if again:
            notify()
    return [job.pk for job in again]


def _look_on(jobs: Sequence[CaptureJob]) -> None:
    CaptureJob.objects.filter(pk__in=[job.pk for job in jobs]).update(
        status=Status.WAITING, run_after=ClockTimestamp(), asked_at=ClockTimestamp(), **AFRESH
    )
    ledger.look_on(jobs)


def _start_anew(jobs: Sequence[CaptureJob], alone: bool) -> None:
    dealt = Turns()
    for job in jobs:
        job.turn = turns.served(job.lane) if alone else dealt.deal(job.team_id, job.lane)
    CaptureJob.objects.bulk_update(jobs, ["turn"])
    CaptureJob.objects.filter(pk__in=[job.pk for job in jobs]).update(status=Status.PENDING, **AFRESH)


# -------------------------------------------------------------------------------------------------- failed by hand


def fail_by_hand(jobs: JobQuerySet) -> int:
    """Fail the open jobs of a set; says how many."""
    return _in_batches(_numbers(jobs.open()), fail_these)


def fail_these(numbers: Sequence[int]) -> list[int]:
    """Fail those of a batch that are open, wherever they stand; says which.

    What was paid for is kept all the same. A start that is being sent has an unknown outcome, and what still comes of
    it is a late result. A call in hand stays live: it counts at its estimate until somebody settles it, nobody looks
    after it, and if the job is ever asked again it is looked after and not started anew.
    """
    with transaction.atomic():
        taken = list(_locked(numbers).open().select_related("of_check"))
        CaptureJob.objects.filter(pk__in=[job.pk for job in taken]).update(
            status=Status.FAILED,
            run_after=None,
            finished_at=ClockTimestamp(),
            reason=BY_HAND.reason,
            unknowns=F("unknowns") + Case(When(status=Status.RUNNING, then=1), default=0),
            **NOBODY,
        )
        out = [job for job in taken if job.status == Status.RUNNING or job.remote_id is not None]
        for job in out:
            _give_up(job)
        ledger.keep_failures([job for job in taken if job not in out], BY_HAND)
    return [job.pk for job in taken]


def _give_up(job: CaptureJob) -> None:
    """Nobody waits for a call any more; of one that was being started nobody knows what came of it."""
    attempt = ledger.open_attempt(job.pk)
    error = replace(BY_HAND, maybe_charged=job.status == Status.RUNNING)
    if attempt:
        ledger.close_by_error(job, attempt, error, live=job.remote_id is not None)
    ledger.keep_failure(job, attempt, error)


# ------------------------------------------------------------------------------------------------------- in batches


def _numbers(jobs: JobQuerySet) -> list[int]:
    return list(jobs.order_by("pk").values_list("pk", flat=True))


def _in_batches(numbers: Sequence[int], move: Callable[[Sequence[int]], Sequence[int]]) -> int:
    return sum(len(move(numbers[start : start + AT_ONCE])) for start in range(0, len(numbers), AT_ONCE))


def _locked(numbers: Sequence[int]) -> JobQuerySet:
    rows = CaptureJob.objects.select_for_update(of=("self",), no_key=True)
    return rows.filter(pk__in=numbers).order_by("pk")
