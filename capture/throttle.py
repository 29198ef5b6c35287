"""How many checks the people of a team may start within a minute, and the refusal of one too many."""

from __future__ import annotations

from datetime import timedelta
from math import ceil

from django.utils.translation import ngettext

from capture.models import Team
from capture.models.clock import database_now
from capture.orders import RefusedError

WITHIN = timedelta(minutes=1)


class TooManyChecksError(RefusedError):
    """A team has started as many checks as it may.

    Arguments:
        most: as many.
        wait: after which there is room for another one.
    """

    def __init__(self, most: int, wait: timedelta) -> None:
        seconds = max(1, ceil(wait.total_seconds()))
        words = ngettext(
            "Your team may start %(most)s checks a minute. There is room for another one in %(seconds)s second.",
            "Your team may start %(most)s checks a minute. There is room for another one in %(seconds)s seconds.",
            seconds,
        )
        super().__init__(words % {"most": f"{most:,}", "seconds": seconds})


def count_one(team: Team, most: int) -> None:
    """Count a check that is about to be made, or refuse it.

    Times are kept with the team, and not read off its checks: who deletes these could start others without end. Those
    that are repeated by themselves do not count, since nobody could wait with them.

    Arguments:
        team: as its row is, which is locked, so that of two at once the second counts both.
        most: checks within a minute.

    Raises:
        TooManyChecksError: there were as many.
    """
    now = database_now()
    starts = sorted(start for start in team.starts if start > now - WITHIN)
    if len(starts) >= most:
        raise TooManyChecksError(most, starts[-most] + WITHIN - now)
    team.starts = [*starts, now]
    team.save(update_fields=["starts"])
