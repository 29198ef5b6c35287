"""Workers for tests, and what can happen to them; no processes and no waiting, only rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from capture import heartbeat, queue, recovery
from capture.calls import Ticket
from capture.models import Attempt, CaptureJob, Status, Worker
from capture.models.clock import ClockTimestamp
from capture.models.jobs import JobQuerySet
from capture.models.workers import LEASE
from capture.retry import Limits
from tests.factories import routes

LIMITS = Limits(attempts=5, unknown_retries=1, remote_deadline=86_400)

MOMENT = timedelta(seconds=1)


def make_worker(**fields: Any) -> UUID:
    """A worker that has just begun to serve; it is this test's own process, so it is alive."""
    worker = uuid4()
    heartbeat.register(worker, ["chatgpt", "perplexity"], 8)
    Worker.objects.filter(pk=worker).update(**fields)
    return worker


def claim(worker: UUID, job: CaptureJob) -> Ticket:
    """The job has to be the only one in its lane that can be claimed."""
    (ticket,) = queue.claim(job.lane, worker, routes(), 8)
    assert ticket.job == job.pk
    return ticket


def only_claim(worker: UUID, job: CaptureJob) -> None:
    """As the release before this one claimed: the intent came in a transaction of its own."""
    CaptureJob.objects.filter(pk=job.pk).update(status=Status.CLAIMED, worker=worker, claim_token=uuid4())


def poll(worker: UUID, job: CaptureJob, remote_id: str = "resp_1") -> Ticket:
    """Start a job, store its id, and have it in hand to be looked after."""
    queue.wait(claim(worker, job), remote_id, 0)
    return claim(worker, job)


def fall_silent(*workers: UUID) -> None:
    """Neither these have beaten for a lease."""
    Worker.objects.filter(pk__in=workers).update(beat_at=ClockTimestamp() - LEASE - MOMENT)


def die(worker: UUID) -> None:
    """Its process is gone: there is one with its number, and that began at another time."""
    Worker.objects.filter(pk=worker).update(start_ticks=1)


def lose(worker: UUID) -> None:
    """Given up by its lease, and what it had is taken back; it lives on, and does not know."""
    fall_silent(worker)
    recovery.give_up_the_silent()
    end_exchanges()
    recovery.take_all_back(LIMITS)


def end_exchanges() -> None:
    """The deadlines of all exchanges pass."""
    Attempt.objects.update(deadline=ClockTimestamp() - MOMENT)


def statuses(jobs: Sequence[CaptureJob]) -> list[str]:
    found = dict(CaptureJob.objects.values_list("pk", "status"))
    return [found[job.pk] for job in jobs]


def only(job: CaptureJob) -> JobQuerySet:
    """A job as a set that can be changed by an update."""
    return CaptureJob.objects.filter(pk=job.pk)
