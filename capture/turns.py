"""Turns: whose job comes next in a lane.

Start-time fair queueing: a team's next job in a lane gets the turn after its last one there, or the turn that the lane
serves now, whichever is later. So teams alternate one by one however much each has asked for, a team that comes back
after a while gets no turns for the past, and claiming stays a walk along an index.

Who gives turns to a team has it locked (`Team.objects.lock_all`): two at once would give the same ones.
"""

from __future__ import annotations

from django.db.models import Max

from capture.models import CaptureJob, Lane, Status


def served(lane: str) -> int:
    """The turn that a lane serves now."""
    return Lane.objects.filter(name=lane).values_list("turn", flat=True).first() or 0


def next_of(team: int, lane: str) -> int:
    """The turn of a team's next job in a lane. What was called off took no turn."""
    taken = CaptureJob.objects.filter(team=team, lane=lane).exclude(status=Status.CANCELLED)
    last: int | None = taken.aggregate(last=Max("turn"))["last"]
    return served(lane) if last is None else max(served(lane), last + 1)


class Turns:
    """Deals one turn after another to the jobs of teams that are locked; each team and lane is looked up once."""

    def __init__(self) -> None:
        self._next: dict[tuple[int, str], int] = {}

    def deal(self, team: int, lane: str) -> int:
        place = (team, lane)
        if place not in self._next:
            self._next[place] = next_of(team, lane)
        turn = self._next[place]
        self._next[place] += 1
        return turn
