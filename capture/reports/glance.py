"""One glance at a check: all that decides what its page shows, in one statement, and so of one moment.

A page that is open asks every few seconds whether anything has changed, and mostly nothing has. So all that could
change a word of it is put into one short *stamp* by the database, and only another stamp is worth reading the rest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cached_property
from typing import Any
from uuid import UUID

from capture.lanes import PARKED_AFTER
from capture.models import Check, Lane, Team
from capture.models.workers import LEASE
from capture.reports import places
from capture.reports.standings import Standing, standing_of
from capture.reports.waiting import Alive

# How many are ahead is told in steps, each from its number up to the next, and of the first job of each system only:
# else some place of nearly every page would change with each job that is claimed anywhere.
STEPS = (0, 1, 2, 3, 5, 10, 20, 50, 100, 200, 500, places.MOST)

# A lane with nearly all its places taken counts as full: it is refilled within a second, and would flicker.
BUSY = 0.9

# The order of claims is that of `places.PLACES`, counted lane by lane, straight off its index: all lanes together would
# have to be sorted. What is open is in the partial index `job_open`.
GLANCE = """
WITH
chosen AS (
    SELECT capture_check.*, capture_team.time_zone
    FROM capture_check JOIN capture_team ON capture_team.id = capture_check.team_id
    WHERE uuid = %(uuid)s AND (%(staff)s OR team_id = (
        SELECT team_id FROM capture_membership WHERE user_id = %(user)s ORDER BY id LIMIT 1
    ))
),
alive AS (
    SELECT id, providers
    FROM capture_worker
    WHERE stopped_at IS NULL AND lost_at IS NULL AND beat_at >= statement_timestamp() - %(lease)s
),
open AS (
    SELECT job.*, job.status = 'pending' AND job.run_after IS NULL AS in_line
    FROM chosen JOIN capture_capturejob job ON job.of_check_id = chosen.id
    WHERE job.finished_at IS NULL
),
lanes AS (
    SELECT lane.*, lane.cooling_since IS NOT NULL AND lane.cooling_until > statement_timestamp() AS cools, (
        SELECT count(*)
        FROM capture_capturejob job
        WHERE job.lane = lane.name AND job.status IN ('claimed', 'running', 'waiting')
            AND NOT (job.status = 'waiting' AND job.asked_at < statement_timestamp() - %(parked)s)
    ) AS in_flight
    FROM capture_lane lane
    WHERE lane.name IN (SELECT lane FROM open)
),
line AS (
    SELECT open.id, coalesce(front.ahead, %(most)s) AS ahead,
        row_number() OVER (PARTITION BY open.provider ORDER BY open.turn, open.id) > 1 AS follows
    FROM open LEFT JOIN (
        SELECT first.id, first.ahead
        FROM (SELECT DISTINCT lane FROM open WHERE in_line) wanted CROSS JOIN LATERAL (
            SELECT job.id, row_number() OVER (ORDER BY job.turn, job.id) - 1 AS ahead
            FROM capture_capturejob job
            WHERE job.status = 'pending' AND job.run_after IS NULL AND job.lane = wanted.lane
            ORDER BY job.turn, job.id
            LIMIT %(most)s
        ) first
    ) front ON front.id = open.id
    WHERE open.in_line
)
SELECT chosen.*,
    statement_timestamp() AS now,
    (SELECT json_agg(lanes) FROM lanes)::text AS lanes,
    (SELECT json_object_agg(id, providers) FROM alive)::text AS workers,
    (SELECT json_object_agg(id, ahead) FROM line)::text AS line,
    (SELECT json_agg(id) FROM line WHERE follows)::text AS following,
    md5(concat_ws('|',
        (
            SELECT string_agg(concat_ws(' ',
                open.id, open.status = 'pending', open.remote_id IS NULL, open.attempts, open.reason, open.asked_at,
                CASE WHEN open.status = 'pending' THEN open.run_after END,
                open.worker IS NULL OR EXISTS (SELECT FROM alive WHERE alive.id = open.worker),
                open.status = 'waiting' AND open.run_after <= statement_timestamp() AND lanes.cooling_since IS NOT NULL,
                CASE WHEN line.follows THEN -1 ELSE width_bucket(line.ahead, %(steps)s::bigint[]) END
            ), ';' ORDER BY open.id)
            FROM open LEFT JOIN lanes ON lanes.name = open.lane LEFT JOIN line ON line.id = open.id
        ),
        (
            SELECT string_agg(concat_ws(' ', id, outcome, answered_at), ';' ORDER BY id)
            FROM capture_capture
            WHERE of_check_id = chosen.id
        ),
        (
            SELECT string_agg(concat_ws(' ',
                name, enabled, paused, "limit", in_flight >= "limit" * %(busy)s::float,
                cooling_since, CASE WHEN cools THEN cooling_until END, cooling_reason
            ), ';' ORDER BY name)
            FROM lanes
        ),
        (SELECT string_agg(DISTINCT asked, ' ') FROM alive, unnest(providers) asked WHERE EXISTS (SELECT FROM open))
    )) AS stamp
FROM chosen
"""


@dataclass(frozen=True)
class Glance:
    """A check at one moment. Mostly only its stamp is asked for, so the rest is read when it is.

    Arguments:
        check: with the columns that the query has beside its own.
    """

    check: Any

    @property
    def stamp(self) -> str:
        """Stays the same as long as nothing changes that the page shows."""
        return str(self.check.stamp)

    @property
    def zone(self) -> tzinfo:
        """In which the team reads times."""
        return Team(time_zone=self.check.time_zone).zone

    @cached_property
    def lanes(self) -> Mapping[str, Standing]:
        """Those in which it has open jobs."""
        lanes = (_with_times(lane) for lane in json.loads(self.check.lanes or "[]"))
        return {lane["name"]: standing_of(_lane_of(lane, self.check.now)) for lane in lanes}

    @cached_property
    def alive(self) -> Alive:
        """The workers that are."""
        return {UUID(worker): asked for worker, asked in json.loads(self.check.workers or "{}").items()}

    @cached_property
    def ahead(self) -> Mapping[int, int]:
        """How many jobs go before each of its jobs that stand in line; `places.MOST` means at least so many."""
        return {int(job): ahead for job, ahead in json.loads(self.check.line or "{}").items()}

    @cached_property
    def following(self) -> frozenset[int]:
        """Its jobs in line that have another of the same check and system before them."""
        return frozenset(json.loads(self.check.following or "[]"))


def glance_at(user: Any, uuid: UUID) -> Glance | None:
    """How a check of the user's team stands, in one query; None if the team has none of that name."""
    return _glance(uuid, user=user.pk, staff=False)


def glance_for_staff(uuid: UUID) -> Glance | None:
    """The same for a check of any team. Whoever calls this has to see to it that somebody may open it."""
    return _glance(uuid, user=None, staff=True)


def _glance(uuid: UUID, **who: Any) -> Glance | None:
    asked = {
        **who,
        "uuid": uuid,
        "lease": LEASE,
        "parked": PARKED_AFTER,
        "most": places.MOST,
        "steps": list(STEPS),
        "busy": BUSY,
    }
    return next((Glance(check) for check in Check.objects.raw(GLANCE, asked)), None)


def _lane_of(told: Mapping[str, Any], now: datetime) -> Any:
    """A lane as `with_standing` reads it."""
    columns = {field.attname for field in Lane._meta.concrete_fields}
    lane: Any = Lane(**{name: value for name, value in told.items() if name in columns})
    lane.in_flight, lane.now = told["in_flight"], now
    return lane


def is_busy(lane: Standing) -> bool:
    """Whether a lane's places are as good as taken."""
    return lane.in_flight >= lane.limit * BUSY


def _with_times(lane: dict[str, Any]) -> dict[str, Any]:
    """JSON has no times; it has them as text."""
    times = {
        name: lane[name] and datetime.fromisoformat(lane[name])
        for name in ("last_start_at", "cooling_since", "cooling_until")
    }
    return lane | times
