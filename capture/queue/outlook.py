"""What there is to do, in one statement: a turn of the loop that finds nothing costs no more."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

# Written out, as it is asked at every turn, and the ORM takes three times as long to write it as the server to answer.
# Each minimum is the first entry of a partial index: job_claimable, job_waiting, job_postponed. (For EXISTS the planner
# may well choose to read the table, which is bad for a lane that has nothing.)
LOOK = """
    SELECT name, paused, CASE WHEN cooling_since IS NOT NULL THEN cooling_until END, statement_timestamp(),
        CASE WHEN least_seconds_between_starts > 0
            THEN last_start_at + make_interval(secs => least_seconds_between_starts) END,
        (SELECT min(turn) FROM capture_capturejob WHERE status = 'pending' AND run_after IS NULL AND lane = name),
        (SELECT min(run_after) FROM capture_capturejob WHERE status = 'waiting' AND lane = name),
        (SELECT min(run_after) FROM capture_capturejob WHERE status = 'pending' AND run_after IS NOT NULL)
    FROM capture_lane
    WHERE enabled AND name = ANY(%s)
"""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What some lanes have to do.

    Arguments:
        ready: lanes with something to start or to look after, whether or not they have room for it.
        to_poll: those with something to look after.
        overdue: jobs that were put off have to be promoted first.
        until_due: seconds until a postponed job or a poll is due, or a lane has cooled; None when none is to come.
    """

    ready: frozenset[str] = frozenset()
    to_poll: frozenset[str] = frozenset()
    overdue: bool = False
    until_due: float | None = None


def look(names: Collection[str]) -> Outlook:
    """Look at these lanes. Locks nothing and proves nothing: what is ready is claimed under its lane's lock."""
    with connection.cursor() as cursor:
        cursor.execute(LOOK, [list(names)])
        rows = cursor.fetchall()
    ready, to_poll, coming, overdue = set(), set(), set(), False
    for name, paused, cool, now, next_start, turn, poll, retry in rows:
        may_start = turn is not None and not paused
        overdue = overdue or (retry is not None and retry <= now)
        times = (cool, poll, retry, next_start if may_start else None)
        coming |= {time - now for time in times if time is not None and time > now}
        if not _is_past(cool, now):
            continue
        if may_start and _is_past(next_start, now):
            ready.add(name)
        if poll is not None and poll <= now:
            to_poll.add(name)
    until_due = min(coming).total_seconds() if coming else None
    return Outlook(frozenset(ready | to_poll), frozenset(to_poll), overdue, until_due)


def _is_past(time: datetime | None, now: datetime) -> bool:
    return time is None or time <= now
