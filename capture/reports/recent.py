"""How it went lately, by AI system: what ended, how long it had waited, how long calls took. For monitoring.

Bounded: of the last hour the newest jobs, by the index of finish times, and each one's attempts and capture.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection

WINDOW = timedelta(hours=1)
MOST = 5_000
QUANTILES = (0.5, 0.95)

ENDED = """
    WITH ended AS (
        SELECT id, prompt_id, provider, sample, status, created_at
        FROM capture_capturejob
        WHERE status IN ('done', 'failed', 'cancelled') AND finished_at >= %(since)s
        ORDER BY finished_at DESC
        LIMIT %(most)s
    )
"""
COUNTS = """
    SELECT provider, status, count(*), sum(calls.started), sum(greatest(calls.started - 1, 0)), sum(calls.unknown)
    FROM ended, LATERAL (
        SELECT count(*) AS started, count(*) FILTER (WHERE outcome = 'unknown') AS unknown
        FROM capture_attempt
        WHERE job_id = ended.id
    ) calls
    GROUP BY provider, status
    ORDER BY provider, status
"""
WAITS = """
    SELECT provider, percentile_cont(%(quantiles)s::float[]) WITHIN GROUP (
        ORDER BY extract(epoch FROM first.started_at - ended.created_at)
    )
    FROM ended JOIN capture_attempt first ON first.job_id = ended.id AND first.number = 1
    GROUP BY provider
    ORDER BY provider
"""
CALLS = """
    SELECT provider, simulated, percentile_cont(%(quantiles)s::float[]) WITHIN GROUP (ORDER BY seconds)
    FROM ended JOIN capture_capture USING (prompt_id, provider, sample)
    WHERE outcome = 'answered' AND NOT cached AND seconds IS NOT NULL
    GROUP BY provider, simulated
    ORDER BY provider, simulated
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """The jobs of one AI system that ended in one state.

    Arguments:
        attempts: start calls of theirs, and how many of them were `retries`, or have an `unknown` outcome.
    """

    provider: str
    status: str
    jobs: int
    attempts: int
    retries: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Seconds:
    """How long something took, one figure for each of `QUANTILES`.

    Arguments:
        simulated: it was the simulator that answered; None where that makes no difference.
    """

    provider: str
    simulated: bool | None
    quantiles: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Recent:
    """What happened within `WINDOW`; of more than `MOST` jobs, the newest.

    Arguments:
        waits: from being enqueued to the first start.
        calls: from a call's start to its answer.
    """

    ended: list[Ended]
    waits: list[Seconds]
    calls: list[Seconds]


def recent_at(now: datetime) -> Recent:
    """How it went in the hour before this moment, which is `now` by the database's clock. Three queries."""
    since = now - WINDOW
    return Recent(
        [Ended(*row) for row in _rows(COUNTS, since)],
        [Seconds(provider, None, tuple(seconds)) for provider, seconds in _rows(WAITS, since)],
        [Seconds(provider, simulated, tuple(seconds)) for provider, simulated, seconds in _rows(CALLS, since)],
    )


def _rows(query: str, since: datetime) -> Iterator[tuple]:  # type: ignore[type-arg]  # a row is what its query says
    with connection.cursor() as cursor:
        cursor.execute(ENDED + query, {"since": since, "most": MOST, "quantiles": list(QUANTILES)})
        yield from cursor.fetchall()
