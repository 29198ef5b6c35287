"""How many jobs are to be claimed before a job: its place in its lane."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from django.db import connection

# Nobody is told an exact number beyond this, so that it takes as long with 100,000 jobs in line as with a few.
MOST = 1_000

# A lane's line is read from its front, in the order of claims, straight off the partial index `job_claimable`. The row
# after the last one that is counted tells that the lane's line is longer than that.
PLACES = """
    SELECT line.id, lanes.lane, line.ahead
    FROM unnest(%(lanes)s::text[]) AS lanes (lane), LATERAL (
        SELECT front.id, row_number() OVER (ORDER BY front.turn, front.id) - 1 AS ahead
        FROM (
            SELECT id, turn
            FROM capture_capturejob job
            WHERE job.status = 'pending' AND job.run_after IS NULL AND job.lane = lanes.lane
            ORDER BY turn, id
            LIMIT %(most)s + 1
        ) front
    ) line
    WHERE line.id = ANY(%(jobs)s) OR line.ahead = %(most)s
"""


def places_of(jobs: Collection[tuple[int, str]]) -> dict[int, int]:
    """How many jobs are ahead of each of these, at most `MOST`, which then means "more than can be told".

    Arguments:
        jobs: number and lane of jobs that can be claimed. One that was taken in the meantime has nobody ahead.
    """
    if not jobs:
        return {}
    wanted: Mapping[str, Any] = {
        "jobs": [number for number, _ in jobs],
        "lanes": sorted({lane for _, lane in jobs}),
        "most": MOST,
    }
    with connection.cursor() as cursor:
        cursor.execute(PLACES, wanted)
        rows = cursor.fetchall()
    found = {number: ahead for number, _, ahead in rows}
    long = {lane for _, lane, ahead in rows if ahead == MOST}
    return {number: found.get(number, MOST if lane in long else 0) for number, lane in jobs}
