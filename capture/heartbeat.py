"""A worker's row: registered at its start, beaten while it lives, closed when it stops tidily."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from capture import processes
from capture.models import Worker
from capture.models.clock import ClockTimestamp
from capture.models.workers import LEASE

# Seconds between beats.
INTERVAL = 5.0
# The same while somebody else is at work on what lost workers have left, who may be lost over it.
SOON = 1.0

# Two beats further apart than this are a gap, after which a worker may judge nobody for a lease.
GAP = 3 * INTERVAL

BEAT = """
    UPDATE capture_worker
    SET beat_at = clock_timestamp(),
        stuck = %(stuck)s,
        steady_since = CASE
            WHEN beat_at > clock_timestamp() - make_interval(secs => %(gap)s) THEN steady_since
            ELSE clock_timestamp()
        END
    WHERE id = %(worker)s AND lost_at IS NULL AND stopped_at IS NULL
    RETURNING steady_since <= clock_timestamp() - make_interval(secs => %(lease)s)
"""


@dataclass(frozen=True, slots=True)
class Pulse:
    """What a beat told.

    Arguments:
        lost: others have given this worker up; what it holds is no longer its own.
        steady: it has beaten without a gap for a lease, so it may tell who has not.
    """

    lost: bool
    steady: bool


def register(worker: UUID, providers: Sequence[str], seats: int) -> None:
    """Write the row of this process, unless it is there already."""
    place = processes.here()
    Worker.objects.get_or_create(
        pk=worker,
        defaults={
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "boot_id": place.boot_id,
            "pid_namespace": place.pid_namespace,
            "start_ticks": processes.start_ticks(os.getpid()),
            "providers": list(providers),
            "seats": seats,
            "started_at": ClockTimestamp(),
            "beat_at": ClockTimestamp(),
            "steady_since": ClockTimestamp(),
        },
    )


def beat(worker: UUID, stuck: int = 0) -> Pulse:
    """Say that this process lives, in one statement.

    Arguments:
        stuck: how many of its seats hang.
    """
    with connection.cursor() as cursor:
        cursor.execute(BEAT, {"worker": worker, "stuck": stuck, "gap": GAP, "lease": LEASE.total_seconds()})
        row = cursor.fetchone()
    return Pulse(lost=row is None, steady=row is not None and bool(row[0]))


def close(worker: UUID) -> None:
    """Say that this process stops, and looks after nothing any more."""
    Worker.objects.filter(pk=worker, lost_at__isnull=True).update(beat_at=ClockTimestamp(), stopped_at=ClockTimestamp())
