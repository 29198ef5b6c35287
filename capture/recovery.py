"""Who is lost, and what becomes of their jobs.

A worker is lost when its process is proven to be gone, or when it has been silent for a lease; never by the age of
what it does. Any number of processes may run this at any time: each statement is guarded, and rows that another works
on are passed over.
"""

from __future__ import annotations

import logging
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from capture import processes, queue
from capture.models import CaptureJob, Worker
from capture.models.clock import ClockTimestamp
from capture.queue.moves import AT_ONCE
from capture.retry import Limits

log = logging.getLogger(__name__)


def recover(limits: Limits, *, but: UUID | None = None, steady: bool = False) -> int:
    """Find lost workers and take their jobs back; says how many jobs.

    Arguments:
        but: the worker that asks, which is alive.
        steady: that worker has beaten for a whole lease, so that it may judge by silence. After an outage of the
            database everybody has been silent, and nobody may.
    """
    give_up_the_dead(but)
    if steady:
        give_up_the_silent(but)
    return take_all_back(limits)


def give_up_the_dead(but: UUID | None = None) -> int:
    """Give up the workers whose process was here and is gone; says how many."""
    here = processes.here()
    if not here.known:
        return 0
    candidates = Worker.objects.filter(
        boot_id=here.boot_id, pid_namespace=here.pid_namespace, stopped_at__isnull=True, proven_dead=False
    ).exclude(pk__in=[but] if but else [])
    gone = [worker.pk for worker in candidates if processes.is_surely_gone(worker.pid, worker.start_ticks)]
    return _give_up(candidates.filter(pk__in=gone), "its process is gone", proven_dead=True)


def give_up_the_silent(but: UUID | None = None) -> int:
    """Give up the workers that have been silent for a lease; says how many."""
    return _give_up(Worker.objects.silent().exclude(pk__in=[but] if but else []), "it has been silent for a lease")


def _give_up(workers: QuerySet[Worker], why: str, **changes: Any) -> int:
    with transaction.atomic():
        found = list(workers.select_for_update(skip_locked=True, no_key=True).order_by("pk"))
        Worker.objects.filter(pk__in=[worker.pk for worker in found]).update(lost_at=ClockTimestamp(), **changes)
    for worker in found:
        log.warning("worker %s (%s) is lost: %s", worker.pk, worker, why)
    return len(found)


def take_all_back(limits: Limits) -> int:
    """Take back all jobs that may be, a batch at a time; says how many."""
    count = batch = queue.take_back(limits)
    while batch == AT_ONCE:
        batch = queue.take_back(limits)
        count += batch
    if count:
        log.warning("%s jobs were taken back from lost workers", count)
    return count


def is_anything_left() -> bool:
    """Whether jobs are still to be taken back: another process is at it, and may die of it."""
    return CaptureJob.objects.forsaken().exists()


def before_serving(*, worker: Any, **_: Any) -> None:
    """What a worker does first: connected to its signal in `AppConfig.ready`."""
    recover(worker.limits, but=worker.id)
