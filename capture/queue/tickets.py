"""From jobs to tickets: what a seat needs to know of a job is read in the statement by which a worker takes it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from django.db import connection

from capture.analysis.mentions import Entity
from capture.analysis.reading import Watch
from capture.calls import Origin, Ticket
from capture.models import Brand, entities_as_asked
from capture.providers.base import Account
from capture.providers.replies import Question

# Takes jobs that are locked and in nobody's hands, and reads what has to be known of them.
TAKE = """
    WITH taken AS (
        UPDATE capture_capturejob job
        SET worker = %(worker)s, claim_token = %(token)s, run_after = NULL, {changes}
        FROM capture_prompt prompt, capture_check asked, capture_brand brand
        WHERE job.id = ANY(%(jobs)s) AND prompt.id = job.prompt_id
            AND asked.id = job.of_check_id AND brand.id = asked.brand_id
        RETURNING
            job.id AS job, job.provider, job.lane, job.remote_id, job.attempts, job.unknowns, job.polls, job.crashes,
            extract(epoch FROM clock_timestamp() - job.asked_at)::float8 AS age,
            job.team_id, job.of_check_id, asked.uuid, brand.id AS brand, job.prompt_id, prompt.key, job.sample,
            job.estimate, prompt.text, asked.country, asked.language, asked.names, brand.edition
    )
"""
# What is asked now: nothing may be sent before its intent is committed. Left out is whose earlier call has become known
# in the meantime.
ASKED = "status = 'running', attempts = job.attempts + 1, polls = 0, asked_at = clock_timestamp(), reason = ''"
INTENT = """
    , begun AS (
        INSERT INTO capture_attempt
            (id, job_id, number, worker, base_url, simulated, started_at, deadline, live, outcome, reason, error, spent)
        SELECT
            call.attempt, job, 1 + (SELECT coalesce(max(number), 0) FROM capture_attempt WHERE job_id = job),
            %(worker)s, route.address, route.simulated, clock_timestamp(),
            clock_timestamp() + make_interval(secs => route.patience), false, 'open', '', '', true
        FROM taken
        JOIN unnest(%(jobs)s::bigint[], %(attempts)s::uuid[]) AS call (job, attempt) USING (job)
        JOIN unnest(
            %(slugs)s::text[], %(addresses)s::text[], %(simulated)s::boolean[], %(patience)s::float8[]
        ) AS route (provider, address, simulated, patience) USING (provider)
        WHERE NOT EXISTS (SELECT FROM capture_attempt known WHERE known.job_id = job AND known.live)
        RETURNING id, job_id
    )
    SELECT taken.*, begun.id, '', false FROM taken JOIN begun ON begun.job_id = taken.job
"""
TAKE_STARTS = TAKE.format(changes=ASKED) + INTENT
# What has a call in hand, which is looked after at the address that it was sent to.
CALL = """
    SELECT taken.*, live.id, live.base_url, live.simulated
    FROM taken LEFT JOIN capture_attempt live ON live.job_id = taken.job AND live.ended_at IS NULL
"""
TAKE_POLLS = TAKE.format(changes="status = 'claimed'") + CALL


@dataclass(frozen=True, slots=True)
class Route:
    """How a worker asks an AI system.

    Arguments:
        account: whom it is asked of.
        patience: seconds after which the exchange of a start is over, one way or the other.
    """

    account: Account
    patience: float


class Taken(NamedTuple):
    """A row of it; the last three are empty where no attempt is open."""

    job: int
    provider: str
    lane: str
    remote_id: str | None
    attempts: int
    unknowns: int
    polls: int
    crashes: int
    age: float | None
    team: int
    check: int
    check_uuid: UUID
    brand: int
    prompt: int
    key: str
    sample: int
    estimate: Decimal
    text: str
    country: str
    language: str
    names: str  # JSON
    edition: int
    attempt: UUID | None
    base_url: str | None
    simulated: bool | None


def take(
    polls: Sequence[int],
    starts: Sequence[int],
    worker: UUID,
    token: UUID,
    routes: Mapping[str, Route],
    *,
    probe: bool = False,
) -> list[Ticket]:
    """Write that a worker has these jobs, which are locked and in nobody's hands; their tickets, in the same order.

    A job is left out if a call of it has become known by now, after which nothing may be started.

    Arguments:
        polls: jobs whose call in hand is looked after.
        starts: jobs that are asked.
        token: of this claim.
        routes: to all AI systems of the jobs, by slug.
        probe: of a lane that has cooled.
    """
    claim = {"worker": worker, "token": token}
    taken = _take(TAKE_POLLS, polls, claim) + _take(TAKE_STARTS, starts, claim | _calls(len(starts), routes))
    return [_ticket(job, token, probe) for job in taken]


def _calls(count: int, routes: Mapping[str, Route]) -> dict[str, list[Any]]:
    accounts = [route.account for route in routes.values()]
    return {
        "attempts": [uuid4() for _ in range(count)],
        "slugs": list(routes),
        "addresses": [account.base_url for account in accounts],
        "simulated": [account.simulated for account in accounts],
        "patience": [route.patience for route in routes.values()],
    }


def _take(statement: str, jobs: Sequence[int], values: Mapping[str, Any]) -> list[Taken]:
    if not jobs:
        return []
    with connection.cursor() as cursor:
        cursor.execute(statement, {"jobs": list(jobs), **values})
        taken = [Taken(*row) for row in cursor.fetchall()]
    return sorted(taken, key=lambda job: jobs.index(job.job))


@lru_cache(maxsize=1000)
def _today(brand: int, edition: int) -> tuple[Entity, ...]:
    """The names of today, of which each edition is another. An answer that is read by former ones is read again."""
    return Brand.objects.prefetch_related("competitors").get(pk=brand).entities()


def _ticket(job: Taken, token: UUID, probe: bool) -> Ticket:
    attempt = job.attempt or uuid4()
    in_hand = job.remote_id is not None
    return Ticket(
        job=job.job,
        origin=Origin(job.team, job.check, job.check_uuid, job.brand, job.prompt, job.key, job.sample, job.estimate),
        token=token,
        provider=job.provider,
        lane=job.lane,
        attempt=attempt,
        question=Question(job.text, job.country, job.language, run=str(attempt)),
        remote_id=job.remote_id,
        base_url=job.base_url or "",
        simulated=bool(job.simulated),
        attempts=job.attempts,
        unknowns=job.unknowns,
        polls=job.polls + 1 if in_hand else 0,
        crashed=job.crashes > 0,
        probe=probe,
        watch=Watch(entities_as_asked(json.loads(job.names)), _today(job.brand, job.edition), job.edition),
        age=job.age or 0.0 if in_hand else 0.0,
    )
