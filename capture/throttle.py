"""How many checks the people of a team may start within a minute, and the refusal of one too many."""

from __future__ import annotations

from datetime import timedelta
from math import ceil

from django.utils.translation import ngettext

from capture.models import Check, Team
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


def require(team: Team, most: int) -> None:
    """Refuse a check too many. To be called with the team's row locked, so that of two at once the second counts both.

    Those that are repeated by themselves do not count, since nobody could wait with them.

    Arguments:
        most: checks within a minute.

    Raises:
        TooManyChecksError: there were as many.
    """
    now = database_now()
    started = Check.objects.of_team(team).filter(due__isnull=True, created_at__gt=now - WITHIN)
    times = list(started.order_by("-created_at").values_list("created_at", flat=True)[:most])
    if len(times) == most:
        raise TooManyChecksError(most, times[-1] + WITHIN - now)
