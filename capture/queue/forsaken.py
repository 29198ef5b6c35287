"""Out of the hands of workers that are lost."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import F

from capture import ledger
from capture.models import CaptureJob, Status, Worker
from capture.models.clock import ClockTimestamp
from capture.providers.replies import Kind, ProviderError
from capture.queue.held import take_up
from capture.queue.moves import AT_ONCE, NOBODY
from capture.retry import Limits

log = logging.getLogger("capture.queue")

# So many workers may die with one job in their hands before it fails.
MOST_CRASHES = 3


def take_back(limits: Limits) -> int:
    """Take a batch of jobs back from workers that are lost or have stopped; says how many.

    A call in hand is due to be looked after, and a start that was under way has an unknown outcome. What a worker of
    the release before this one has only claimed goes back in line.
    """
    with transaction.atomic():
        jobs = CaptureJob.objects.forsaken().select_for_update(skip_locked=True, of=("self",), no_key=True)
        taken = list(jobs.select_related("of_check").order_by("pk")[:AT_ONCE])
        workers = Worker.objects.filter(pk__in={job.worker for job in taken}, proven_dead=True)
        dead = set(workers.values_list("pk", flat=True))
        into = [_take_back(job, crashed=job.worker in dead, limits=limits) for job in taken]
    _count(taken)
    for job, status in zip(taken, into, strict=True):
        taken_back = "job %s %s: taken back from worker %s: %s"
        log.warning(taken_back, job.pk, job.provider, job.worker, status, extra={"job": job.pk})
    return len(taken)


def _take_back(job: CaptureJob, *, crashed: bool, limits: Limits) -> Status:
    unknown = job.status == Status.RUNNING
    error = _what_happened(job, crashed=crashed)
    spent = unknown and (job.attempts >= limits.attempts or job.unknowns >= limits.unknown_retries)
    into: dict[str, Any] = {"crashes": job.crashes + crashed, "unknowns": job.unknowns + unknown, **NOBODY}
    if spent or error.kind is Kind.FATAL:
        into |= {"status": Status.FAILED, "finished_at": ClockTimestamp(), "reason": error.reason}
    elif job.remote_id:
        into |= {"status": Status.WAITING, "run_after": ClockTimestamp()}
    else:
        into |= {"status": Status.PENDING, "reason": error.reason if unknown else job.reason}
    CaptureJob.objects.filter(pk=job.pk, claim_token=job.claim_token).update(**into)
    status: Status = into["status"]
    _close_forsaken(job, error, failed=status is Status.FAILED)
    return status


def _count(taken: Iterable[CaptureJob]) -> None:
    """Note with each worker how many jobs were taken back from it.

    After the transaction, since workers are locked before jobs. A death in between costs a count and nothing else.
    """
    for worker, jobs in Counter(job.worker for job in taken if job.worker).items():
        Worker.objects.filter(pk=worker).update(taken_back=F("taken_back") + jobs)


def _close_forsaken(job: CaptureJob, error: ProviderError, *, failed: bool) -> None:
    attempt = ledger.open_attempt(job.pk)
    if attempt and (failed or error.maybe_charged):
        ledger.close_by_error(job, attempt, error, live=job.remote_id is not None)
    if not take_up(job.pk) and failed:
        ledger.keep_failure(job, attempt, error)


def _what_happened(job: CaptureJob, *, crashed: bool) -> ProviderError:
    unknown = job.status == Status.RUNNING
    if job.crashes + crashed >= MOST_CRASHES:
        return ProviderError(Kind.FATAL, "crashed", f"{MOST_CRASHES} workers died with this job", maybe_charged=unknown)
    return ProviderError(
        Kind.TRANSIENT, "worker_lost", "the worker was lost while it was asking", maybe_charged=unknown
    )
