"""Lanes: how many calls of one account may be in flight, over all machines."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db.models import Q

from capture.models import CaptureJob, Lane, Status
from capture.models.clock import StatementTimestamp
from capture.models.jobs import JobQuerySet
from capture.providers import registry

# A call that takes longer than this is parked: it holds no place, or a few such calls would stop a lane.
PARKED_AFTER = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class Room:
    """What a lane has room for now.

    Arguments:
        starts: new calls.
        polls: whether calls in hand may be looked after.
    """

    starts: int
    polls: bool


def make_missing(**_: object) -> None:
    """Make the lanes that have no row yet, with the limits of the settings. Safe to run at any time by anybody."""
    wanted = {provider.lane for provider in registry.PROVIDERS}
    Lane.objects.bulk_create(
        [Lane(name=name, limit=settings.CAPTURE_LANE_LIMITS[name]) for name in sorted(wanted)], ignore_conflicts=True
    )


def lock(name: str) -> Room:
    """Lock a lane until the end of the transaction and count its room.

    The count is a statement of its own after the lock: in one statement it would be older than the lock, and two
    claimers would both find the last place free.
    """
    lane = Lane.objects.select_for_update(no_key=True).filter(name=name, enabled=True).first()
    if lane is None:
        return Room(starts=0, polls=False)
    if lane.paused:
        return Room(starts=0, polls=True)
    return Room(starts=max(0, lane.limit - _in_flight(name)), polls=True)


def placed() -> JobQuerySet:
    """The jobs that hold a place in their lane."""
    parked = Q(status=Status.WAITING, asked_at__lt=StatementTimestamp() - PARKED_AFTER)
    return CaptureJob.objects.in_flight().exclude(parked)


def _in_flight(name: str) -> int:
    return placed().filter(lane=name).count()
