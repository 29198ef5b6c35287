"""The workers, the jobs that lost ones still hold, and what was taken back; all by the database's clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.db.models import Count, DurationField, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from capture.models import Attempt, CaptureJob, Status, Worker
from capture.models.clock import StatementTimestamp
from capture.models.workers import LEASE

WINDOW = timedelta(days=1)

# Orphans that are older do not get well by themselves.
OVERDUE = 2 * LEASE


class Health(StrEnum):
    """How it is with a worker. Only one that is alive is counted on."""

    ALIVE = "alive"
    SILENT = "silent"
    STOPPED = "stopped"
    LOST = "lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLine:
    """A worker that has not stopped and that nobody has given up.

    Arguments:
        held: jobs in its hands.
        silent_seconds: since its last beat.
    """

    id: str
    host: str
    pid: int
    health: Health
    seats: int
    stuck: int
    held: int
    beat_at: datetime
    silent_seconds: float
    providers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Orphans:
    """Jobs that are held by workers of whom nothing is heard.

    Arguments:
        overdue: those whose worker has been silent for two leases, and whose exchange must be over.
        silent_seconds: the longest.
    """

    jobs: int
    overdue: int
    silent_seconds: float


@dataclass(frozen=True, slots=True)
class Recovered:
    """What recovery has done.

    Arguments:
        workers_lost: workers that were given up in the last day.
        jobs_taken_back: from them, and from workers that have stopped in the last day.
        crashed_open: jobs that are still open and with which a worker died, whenever that was.
    """

    workers_lost: int
    jobs_taken_back: int
    crashed_open: int


@dataclass(frozen=True, slots=True)
class Crew:
    workers: tuple[WorkerLine, ...]
    orphans: Orphans
    recovered: Recovered

    @property
    def alive(self) -> list[WorkerLine]:
        return [worker for worker in self.workers if worker.health is Health.ALIVE]


def crew_at(now: datetime) -> Crew:
    """The crew at this moment, which is `now` by the database's clock."""
    return Crew(_workers(), _orphans(), _recovered(now - WINDOW))


# --------------------------------------------------------------------------------------------------------- workers


def with_silence(rows: QuerySet[Worker]) -> QuerySet[Any]:
    """Workers with the time since their last beat: `silence`."""
    return rows.annotate(silence=_span(StatementTimestamp() - F("beat_at")))


def health_of(worker: Any) -> Health:
    """How it is with a worker of `with_silence`."""
    if worker.lost_at:
        return Health.LOST
    if worker.stopped_at:
        return Health.STOPPED
    return Health.SILENT if worker.silence > LEASE else Health.ALIVE


def _workers() -> tuple[WorkerLine, ...]:
    held = dict(CaptureJob.objects.held().values_list("worker").annotate(count=Count("pk")))
    rows = with_silence(Worker.objects.serving()).order_by("host", "pid", "started_at")
    return tuple(
        WorkerLine(
            id=str(worker.pk),
            host=worker.host,
            pid=worker.pid,
            health=health_of(worker),
            seats=worker.seats,
            stuck=worker.stuck,
            held=held.get(worker.pk, 0),
            beat_at=worker.beat_at,
            silent_seconds=worker.silence.total_seconds(),
            providers=tuple(worker.providers),
        )
        for worker in rows
    )


# ------------------------------------------------------------------------------------------------------- the lost


def _orphans() -> Orphans:
    beat = Worker.objects.filter(pk=OuterRef("worker")).values("beat_at")
    # A job does not point to its worker's row, which may be gone; then nothing was heard since there is the job.
    silence = _span(StatementTimestamp() - Coalesce(Subquery(beat), F("created_at")))
    orphans = CaptureJob.objects.orphaned().annotate(silence=silence, under_way=Exists(Attempt.under_way()))
    rows = list(orphans.values_list("silence", "under_way"))
    overdue = sum(silence > OVERDUE and not under_way for silence, under_way in rows)
    longest = max((silence for silence, _ in rows), default=timedelta())
    return Orphans(len(rows), overdue, longest.total_seconds())


def _recovered(since: datetime) -> Recovered:
    lost, stopped = Q(lost_at__gte=since), Q(stopped_at__gte=since)
    sums = Worker.objects.filter(lost | stopped).aggregate(
        workers=Count("pk", filter=lost), jobs=Coalesce(Sum("taken_back"), 0)
    )
    return Recovered(sums["workers"], sums["jobs"], crashed().count())


def crashed() -> Any:
    """Jobs that are to be asked or looked after again, and with which a worker died."""
    return CaptureJob.objects.filter(crashes__gt=0, status__in=[Status.PENDING, Status.WAITING])


def _span(expression: Any) -> ExpressionWrapper[Any]:
    return ExpressionWrapper(expression, output_field=DurationField())
