"""From jobs to tickets: what a seat needs to know of a job is read in the statement by which a worker takes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple
from uuid import UUID, uuid4

from django.db import connection

from capture.analysis.mentions import Entity
from capture.analysis.reading import Watch
from capture.calls import Ticket
from capture.models import Brand, entities_as_asked
from capture.providers.replies import Question

TAKE = """
    WITH taken AS (
        UPDATE capture_capturejob job
        SET status = 'claimed', worker = %(worker)s, claim_token = %(token)s, run_after = NULL
        FROM capture_prompt prompt, capture_check asked, capture_brand brand
        WHERE job.id = ANY(%(jobs)s) AND prompt.id = job.prompt_id
            AND asked.id = job.of_check_id AND brand.id = asked.brand_id
        RETURNING
            job.id, job.provider, job.lane, job.remote_id, job.attempts, job.unknowns, job.polls, job.crashes,
            extract(epoch FROM clock_timestamp() - job.asked_at)::float8 AS age,
            prompt.text, asked.country, asked.language, asked.names, brand.id AS brand, brand.edition
    )
    SELECT taken.*, live.id, live.base_url, live.simulated
    FROM taken
    LEFT JOIN capture_attempt live
        ON live.job_id = taken.id AND live.ended_at IS NULL AND taken.remote_id IS NOT NULL
"""


class Taken(NamedTuple):
    """A row of it; the last three are empty where no call is live."""

    job: int
    provider: str
    lane: str
    remote_id: str | None
    attempts: int
    unknowns: int
    polls: int
    crashes: int
    age: float | None
    text: str
    country: str
    language: str
    names: str  # JSON
    brand: int
    edition: int
    attempt: UUID | None
    base_url: str | None
    simulated: bool | None


def take(jobs: Sequence[int], worker: UUID, token: UUID, *, probe: bool = False) -> list[Ticket]:
    """Write that a worker has these jobs, which are locked and in nobody's hands; their tickets, in the same order.

    Arguments:
        token: of this claim.
        probe: of a lane that has cooled.
    """
    with connection.cursor() as cursor:
        cursor.execute(TAKE, {"jobs": list(jobs), "worker": worker, "token": token})
        taken = [Taken(*row) for row in cursor.fetchall()]
    return [_ticket(job, token, probe) for job in sorted(taken, key=lambda job: jobs.index(job.job))]


@lru_cache(maxsize=1000)
def _today(brand: int, edition: int) -> tuple[Entity, ...]:
    """The names of today, of which each edition is another. An answer that is read by former ones is read again."""
    return Brand.objects.prefetch_related("competitors").get(pk=brand).entities()


def _ticket(job: Taken, token: UUID, probe: bool) -> Ticket:
    live = job.attempt is not None
    attempt = job.attempt or uuid4()
    return Ticket(
        job=job.job,
        token=token,
        provider=job.provider,
        lane=job.lane,
        attempt=attempt,
        question=Question(job.text, job.country, job.language, run=str(attempt)),
        remote_id=job.remote_id,
        base_url=job.base_url or "",
        simulated=bool(job.simulated),
        attempts=job.attempts if live else job.attempts + 1,
        unknowns=job.unknowns,
        polls=job.polls + 1 if live else 0,
        crashed=job.crashes > 0,
        probe=probe,
        watch=Watch(entities_as_asked(json.loads(job.names)), _today(job.brand, job.edition), job.edition),
        age=job.age or 0.0 if live else 0.0,
    )
