"""The jobs of the queue by AI system and state, and the one that waits longest.

Open jobs have a partial index. Final ones are counted over a day and up to a bound, never over all there ever were.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import Count, Min

from capture.models import CaptureJob, Status
from capture.models.jobs import OPEN
from capture.providers import registry
from capture.reports.waiting import Wait, waits_of

WINDOW = timedelta(days=1)
MOST_FINISHED = 100_000

FINISHED = """
    SELECT provider, status, count(*)
    FROM (
        SELECT provider, status
        FROM capture_capturejob
        WHERE status IN ('done', 'failed', 'cancelled') AND finished_at >= %(since)s
        ORDER BY finished_at DESC
        LIMIT %(most)s
    ) latest
    GROUP BY provider, status
"""


@dataclass(frozen=True, slots=True)
class Oldest:
    """The job that was enqueued first of those that are pending.

    Arguments:
        seconds: since it was enqueued.
    """

    job: int
    provider: str
    enqueued_at: datetime
    seconds: float
    wait: Wait


@dataclass(frozen=True, slots=True)
class Backlog:
    """What is to be done and what was done in the last day.

    Arguments:
        jobs: how many by AI system, then by status; open ones all, final ones of the last day.
        complete: there were no more final ones in that day than are counted.
        oldest: None while nothing is pending.
    """

    jobs: Mapping[str, Mapping[str, int]]
    complete: bool
    oldest: Oldest | None

    @property
    def open(self) -> dict[str, int]:
        """Open jobs by AI system, of those that have any."""
        sums = {slug: sum(counts[status] for status in OPEN) for slug, counts in self.jobs.items()}
        return {slug: count for slug, count in sums.items() if count}


def backlog_at(now: datetime) -> Backlog:
    """The backlog at this moment, which is `now` by the database's clock."""
    rows = list(grouped())
    counted = Counter({(row["provider"], row["status"]): row["count"] for row in rows})
    # Numbers rise as jobs are enqueued.
    first = min((row["first"] for row in rows if row["status"] == Status.PENDING), default=None)
    finished = _finished(now - WINDOW)
    return Backlog(_by_system(counted + finished), finished.total() < MOST_FINISHED, _oldest(first, now))


def grouped() -> Any:
    """Open jobs by AI system and status: `count`, and the `first` number."""
    return CaptureJob.objects.open().values("provider", "status").annotate(count=Count("pk"), first=Min("pk"))


def _finished(since: datetime) -> Counter[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute(FINISHED, {"since": since, "most": MOST_FINISHED})
        return Counter({(provider, status): count for provider, status, count in cursor.fetchall()})


def _by_system(counted: Counter[tuple[str, str]]) -> dict[str, dict[str, int]]:
    bygone = {slug for slug, _ in counted} - set(registry.by_slug)
    slugs = [*registry.by_slug, *sorted(bygone)]
    return {slug: {status.value: counted[slug, status.value] for status in Status} for slug in slugs}


def _oldest(number: int | None, now: datetime) -> Oldest | None:
    job = CaptureJob.objects.open().filter(pk=number).first() if number else None
    if job is None:
        return None
    age = (now - job.created_at).total_seconds()
    return Oldest(job.pk, job.provider, job.created_at, age, waits_of([job])[job.pk])
