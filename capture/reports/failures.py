"""What jobs have failed of lately, for people on call. Read along an index of failed jobs, up to a bound."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection

from capture import reasons
from capture.providers import registry

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
MOST_FAILED = 100_000

# Index-only: `job_failed` holds all that is read here.
FAILED = """
    SELECT reason, provider, count(*) FILTER (WHERE finished_at >= %(hour)s) AS hour, count(*) AS day
    FROM (
        SELECT reason, provider, finished_at
        FROM capture_capturejob
        WHERE status = 'failed' AND finished_at >= %(day)s
        ORDER BY finished_at DESC
        LIMIT %(most)s
    ) latest
    GROUP BY reason, provider
    ORDER BY hour DESC, day DESC, reason, provider
"""


@dataclass(frozen=True, slots=True)
class Failure:
    """How many jobs of one AI system have failed for one reason.

    Arguments:
        reason: its short name.
        hour, day: in the last hour and in the last day.
    """

    reason: str
    provider: str
    hour: int
    day: int

    @property
    def words(self) -> str:
        return reasons.in_words(self.reason)

    @property
    def system(self) -> str:
        provider = registry.by_slug.get(self.provider)
        return provider.label if provider else self.provider


def failures_at(now: datetime) -> list[Failure]:
    """Failures of the last day by reason and system, the most frequent of the last hour first.

    Arguments:
        now: by the database's clock.
    """
    with connection.cursor() as cursor:
        cursor.execute(FAILED, {"hour": now - HOUR, "day": now - DAY, "most": MOST_FAILED})
        return [Failure(*row) for row in cursor.fetchall()]
