"""Lanes: how much of one account may be asked now, over all machines."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import Count, Q, Subquery
from django.db.models.functions import Coalesce

from capture.models import CaptureJob, Lane, Status
from capture.models.clock import StatementTimestamp
from capture.models.jobs import JobQuerySet
from capture.models.lanes import LaneBusyError
from capture.notifications import notify
from capture.providers import registry

# A call that takes longer than this is parked: it holds no place, or a few such calls would stop a lane.
PARKED_AFTER = timedelta(minutes=30)

# Written out, as the ORM takes longer to write it than the server to do it.
NOTE_CLAIM = """
    UPDATE capture_lane
    SET turn = greatest(turn, %(turn)s), probe = coalesce(%(probe)s::uuid, probe),
        last_start_at = CASE WHEN %(spaced)s THEN clock_timestamp() ELSE last_start_at END
    WHERE name = %(name)s
"""

__all__ = ["LaneBusyError", "Room", "change", "lock", "make_missing", "note_claim", "placed"]


@dataclass(frozen=True, slots=True)
class Room:
    """What a lane has room for now. The lane stays locked until the end of the transaction.

    Arguments:
        lane: its row.
        starts: whether new calls may be started, as far as it has places.
        polls: whether calls in hand may be looked after.
        probe: one call and no more, to find out whether the account answers again.
    """

    lane: Lane
    starts: bool = False
    polls: bool = True
    probe: bool = False

    def places(self, placed: int) -> int:
        """How many calls may be started while so many jobs hold a place in the lane."""
        left = max(0, self.lane.limit - placed)
        return min(left, 1) if self.lane.least_seconds_between_starts else left


def make_missing(**_: object) -> None:
    """Make the lanes that have no row yet, with the limits of the settings. Safe to run at any time by anybody."""
    wanted = {provider.lane for provider in registry.PROVIDERS}
    Lane.objects.bulk_create(
        [Lane(name=name, limit=settings.CAPTURE_LANE_LIMITS[name]) for name in sorted(wanted)], ignore_conflicts=True
    )


def lock(name: str) -> Room:
    """Lock a lane until the end of the transaction and say what it has room for.

    Its places are counted by a later statement, see `placed_in`: in one statement the count would be older than the
    lock, and two claimers would both find the last place free.

    Raises:
        LaneBusyError: another claimer has it now.
    """
    lane = Lane.objects.lock(name)
    return _room(lane, lane.now)


def _room(lane: Lane, now: datetime) -> Room:
    probe = lane.cooling_since is not None
    if not lane.enabled or lane.is_cooling_at(now):
        return Room(lane, polls=False)
    if probe and _is_out(lane.name, lane.probe):
        return Room(lane, polls=False)
    return Room(lane, starts=_may_start(lane, now), probe=probe)


def _may_start(lane: Lane, now: datetime) -> bool:
    return not lane.paused and (lane.next_start is None or lane.next_start <= now)


def _is_out(lane: str, probe: UUID | None) -> bool:
    """Whether a probe is under way. One whose worker is gone is not, since its claim was taken back."""
    return probe is not None and CaptureJob.objects.held().filter(lane=lane, claim_token=probe).exists()


def change(names: Collection[str], **fields: Any) -> int:
    """Write what staff have decided about lanes, and nothing else: the machine may be moving the rest.

    Everything by which a person gives a lane more room or less comes through here, and wakes the workers. Says how
    many lanes.
    """
    changed = Lane.objects.filter(name__in=names).update(**fields)
    notify()
    return changed


def placed() -> JobQuerySet:
    """The jobs that hold a place in their lane."""
    parked = Q(status=Status.WAITING, asked_at__lt=StatementTimestamp() - PARKED_AFTER)
    return CaptureJob.objects.in_flight().exclude(parked)


def placed_in(name: str) -> Any:
    """How many jobs hold a place in a lane, as an expression for a statement that runs under the lane's lock."""
    count = placed().filter(lane=name).values("lane").annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(count), 0)


def note_claim(room: Room, starts: Sequence[int], token: UUID) -> None:
    """Write what a claim means for the lane: the turn it serves, its last start, its probe.

    Arguments:
        starts: the turns of the jobs that are to be started.
    """
    served = max(starts, default=room.lane.turn)
    spaced = bool(starts and room.lane.least_seconds_between_starts)
    if served > room.lane.turn or spaced or room.probe:
        values = {"turn": served, "spaced": spaced, "probe": token if room.probe else None, "name": room.lane.name}
        with connection.cursor() as cursor:
            cursor.execute(NOTE_CLAIM, values)
