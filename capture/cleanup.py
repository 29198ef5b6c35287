"""What nobody needs any more: old jobs with their attempts, workers that have gone, sessions and logins of the past.

Small batches, each a transaction of its own that waits for nobody, with a rest after each that is three times as long
as it took: workers have most of the time to themselves. No page and no figure depends on what goes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from capture import queue
from capture.models import Attempt, CaptureJob, Status, Worker
from capture.models.clock import StatementTimestamp, database_now
from capture.queue.cleanup import Batch, Cursor, old_jobs

# The rest after a batch, as a multiple of the time that it took.
REST = 3

# Jobs that failed are looked into for longer.
KINDS = ((Status.DONE, Status.CANCELLED), (Status.FAILED,))


@dataclass
class Tally:
    """What a cleanup has deleted, or would delete.

    Arguments:
        kept: old jobs that have to stay, see `queue.cleanup`.
        logins: failed ones that count no more against whoever tries again.
    """

    jobs: int = 0
    attempts: int = 0
    kept: int = 0
    workers: int = 0
    sessions: int = 0
    logins: int = 0

    def add(self, batch: Batch) -> None:
        self.jobs += batch.jobs
        self.attempts += batch.attempts
        self.kept += batch.kept


class Cleanup:
    """One cleanup.

    Arguments:
        age: of jobs that ended and of workers that have gone.
        failed_age: of jobs that failed.
        most: rows in a batch.
        stop: ends it after the batch that is under way.
    """

    def __init__(self, age: timedelta, failed_age: timedelta, most: int, stop: threading.Event) -> None:
        now = database_now()
        self.tally = Tally()
        self._before = (now - age, now - failed_age)
        self._most = most
        self._stop = stop

    def run(self) -> Tally:
        """Delete until nothing is left that is old enough, or until told to stop."""
        for statuses, before in zip(KINDS, self._before, strict=True):
            self._delete_jobs(statuses, before)
        self.tally.workers += self._delete_all(self._workers())
        self.tally.sessions += self._delete_all(expired_sessions())
        self.tally.logins += self._delete_all(forgiven_logins())
        return self.tally

    def foresee(self) -> Tally:
        """What `run` would delete now; deletes nothing."""
        tally = self.tally
        for statuses, before in zip(KINDS, self._before, strict=True):
            old = old_jobs(statuses, before).order_by()
            over = old.exclude(Exists(Attempt.objects.undecided().filter(job=OuterRef("pk"))))
            jobs = over.count()
            tally.add(Batch(jobs, Attempt.objects.filter(job__in=over).count(), old.count() - jobs, None))
        tally.workers, tally.sessions = self._workers().count(), expired_sessions().count()
        tally.logins = forgiven_logins().count()
        return tally

    def _delete_jobs(self, statuses: tuple[Status, ...], before: datetime) -> None:
        cursor: Cursor | None = Cursor()
        while cursor is not None and not self._stop.is_set():
            with self._rest_after():
                batch = queue.delete_old_jobs(statuses, before, cursor, self._most)
            self.tally.add(batch)
            cursor = batch.rest

    def _workers(self) -> QuerySet[Worker]:
        """Those that have gone and from which nothing is left to take back."""
        return Worker.objects.gone(self._before[0]).exclude(
            Exists(CaptureJob.objects.held().filter(worker=OuterRef("pk")))
        )

    def _delete_all(self, rows: QuerySet[Any]) -> int:
        count = 0
        batch = self._most
        while batch == self._most and not self._stop.is_set():
            with self._rest_after():
                batch = self._delete_rows(rows)
            count += batch
        return count

    def _delete_rows(self, rows: QuerySet[Any]) -> int:
        with transaction.atomic():
            locked = rows.order_by("pk").select_for_update(skip_locked=True, of=("self",))
            chosen = list(locked.values_list("pk", flat=True)[: self._most])
            deleted, _ = rows.model._default_manager.filter(pk__in=chosen).delete()
        return int(deleted)

    @contextmanager
    def _rest_after(self) -> Iterator[None]:
        """After a step, rest; being told to stop ends the rest."""
        begun = time.monotonic()
        yield
        self._stop.wait(REST * (time.monotonic() - begun))


def expired_sessions() -> QuerySet[Session]:
    return Session.objects.filter(expire_date__lt=StatementTimestamp())


def forgiven_logins() -> QuerySet[Any]:
    """Failed logins of which the pause is over. A later login deletes them too, but there may be none for long."""
    forgiven: QuerySet[Any] = AccessAttempt.objects.filter(
        attempt_time__lt=StatementTimestamp() - settings.AXES_COOLOFF_TIME
    )
    return forgiven
