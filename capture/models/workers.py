"""Workers: the running `runworkers` processes, with their heartbeats."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from capture.models.clock import StatementTimestamp

# A worker that has been silent for longer is not counted on.
LEASE = timedelta(seconds=30)


class WorkerQuerySet(models.QuerySet["Worker"]):
    def alive(self) -> WorkerQuerySet:
        return self.serving().filter(beat_at__gte=StatementTimestamp() - LEASE)

    def serving(self) -> WorkerQuerySet:
        """Those that nobody has given up and that have not stopped, however long they are silent."""
        return self.filter(stopped_at__isnull=True, lost_at__isnull=True)

    def gone(self, before: datetime) -> WorkerQuerySet:
        """Those that had stopped or been given up by then."""
        return self.filter(Q(stopped_at__lte=before) | Q(lost_at__lte=before))

    def silent(self) -> WorkerQuerySet:
        return self.serving().filter(beat_at__lt=StatementTimestamp() - LEASE)


class Worker(models.Model):
    """One process. Its id is new for each process, so that none takes its former self's jobs for its own."""

    id = models.UUIDField(primary_key=True, editable=False)
    host = models.CharField(max_length=253)
    pid = models.PositiveIntegerField()
    boot_id = models.CharField(max_length=36, blank=True, default="")
    pid_namespace = models.CharField(max_length=40, blank=True, default="")
    start_ticks = models.BigIntegerField(null=True, help_text="start time of the process since boot, in clock ticks")
    providers = ArrayField(models.CharField(max_length=20), default=list)
    seats = models.PositiveSmallIntegerField()
    stuck = models.PositiveSmallIntegerField(default=0)
    started_at = models.DateTimeField()
    beat_at = models.DateTimeField()
    steady_since = models.DateTimeField(help_text="since when it has beaten without a gap")
    stopped_at = models.DateTimeField(null=True)
    lost_at = models.DateTimeField(null=True)
    proven_dead = models.BooleanField(default=False, help_text="its process was seen to be gone")

    taken_back = models.PositiveIntegerField(default=0, help_text="jobs that others have taken back from it")

    objects = WorkerQuerySet.as_manager()

    class Meta:
        indexes = (
            models.Index(
                fields=["beat_at"], name="worker_alive", condition=Q(stopped_at__isnull=True, lost_at__isnull=True)
            ),
        )

    def __str__(self) -> str:
        return f"{self.host}:{self.pid}"
