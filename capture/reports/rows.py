"""What a board is made of: its open jobs, and what has come of the others.

Slim rows by plain SQL: an open page reads hundreds of them every few seconds, and making a query and models of them
took longer than the database does.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from django.db import connection

from capture.models import Capture, Check

Place = tuple[int, str, int]  # prompt, AI system, sample

OPEN_JOBS = """
SELECT job.id, job.prompt_id, job.provider, job.sample, job.lane, job.status, job.worker, job.remote_id, job.attempts,
    job.reason, job.run_after, job.asked_at,
    (SELECT simulated FROM capture_attempt WHERE job_id = job.id ORDER BY number DESC LIMIT 1),
    statement_timestamp() - job.asked_at
FROM capture_capturejob job
WHERE job.of_check_id = %s AND job.finished_at IS NULL
"""

KEPT = """
SELECT id, prompt_id, provider, sample, outcome, reason, attempts, simulated, answered_at, matcher,
    ARRAY(SELECT whom ->> 'key' FROM jsonb_array_elements(named) whom)
FROM capture_capture
WHERE of_check_id = %s
"""


class OpenJob(NamedTuple):
    """An open job, as in `OPEN_JOBS`.

    Arguments:
        asked_at_simulator: whether its last call went to the simulator; None before the first one.
        asked_ago: how long ago its live call was started.
    """

    pk: int
    prompt_id: int
    provider: str
    sample: int
    lane: str
    status: str
    worker: UUID | None
    remote_id: str | None
    attempts: int
    reason: str
    run_after: datetime | None
    asked_at: datetime | None
    asked_at_simulator: bool | None
    asked_ago: timedelta | None


class Kept(NamedTuple):
    """What has come of a place, without its text, as in `KEPT`.

    Arguments:
        matcher: by whose rules names were looked for in it; 0 where nobody has.
        named_keys: whom it names, in the order in which it first does.
    """

    pk: int
    prompt_id: int
    provider: str
    sample: int
    outcome: str
    reason: str
    attempts: int
    simulated: bool
    answered_at: datetime
    matcher: int
    named_keys: list[str]


PlacedT = TypeVar("PlacedT", OpenJob, Kept, Capture)


def open_jobs(check: Check) -> dict[Place, OpenJob]:
    """The open jobs of a check by their place, in one query."""
    return by_place(map(OpenJob._make, _read(OPEN_JOBS, check)))


def kept(check: Check) -> dict[Place, Kept]:
    """What has come of a check by its place, in one query."""
    return by_place(map(Kept._make, _read(KEPT, check)))


def by_place(rows: Iterable[PlacedT]) -> dict[Place, PlacedT]:
    return {(row.prompt_id, row.provider, row.sample): row for row in rows}


def _read(query: str, check: Check) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, [check.pk])
        return list(cursor.fetchall())
