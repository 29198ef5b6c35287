"""A worker's row: registered at its start, beaten while it lives, closed when it stops tidily."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from capture.models import Worker
from capture.models.clock import ClockTimestamp

# Seconds between beats.
INTERVAL = 5.0

STAT_START_TIME = 19  # field 22 of /proc/<pid>/stat, counted after the name's closing bracket; see proc(5)


def register(worker: UUID, providers: Sequence[str], seats: int) -> None:
    """Write the row of this process, unless it is there already."""
    Worker.objects.get_or_create(
        pk=worker,
        defaults={
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "boot_id": _read(Path("/proc/sys/kernel/random/boot_id")),
            "pid_namespace": _pid_namespace(),
            "start_ticks": _start_ticks(),
            "providers": list(providers),
            "seats": seats,
            "started_at": ClockTimestamp(),
            "beat_at": ClockTimestamp(),
        },
    )


def beat(worker: UUID) -> None:
    """Say that this process is alive."""
    Worker.objects.filter(pk=worker).update(beat_at=ClockTimestamp())


def close(worker: UUID) -> None:
    """Say that this process stops, and holds nothing any more."""
    Worker.objects.filter(pk=worker).update(beat_at=ClockTimestamp(), stopped_at=ClockTimestamp())


def _read(path: Path) -> str:
    """What a file of the kernel says; empty where there is none, as on other systems than Linux."""
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _pid_namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _start_ticks() -> int | None:
    stat = _read(Path("/proc/self/stat"))
    return int(stat.rpartition(")")[2].split()[STAT_START_TIME]) if stat else None
