"""When work was begun: a file to which every process of a worker adds a few bytes for each job.

It is written by the work itself, so that it says the same of every system that is compared. Needs nothing but Python,
as it runs in the peers' environment too.
"""

from __future__ import annotations

import os
import struct
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

VARIABLE = "BENCH_STAMPS"  # where the file is, for those who write it
STAMP = struct.Struct("dd")  # the moment, by the monotonic clock, which all processes share; seconds of the work


@dataclass(frozen=True, slots=True, order=True)
class Stamp:
    """A job's.

    Arguments:
        moment: when its work was begun, in seconds of the monotonic clock.
        seconds: that the work itself takes; 0 for none.
    """

    moment: float
    seconds: float


@cache
def _file() -> int:
    return os.open(os.environ[VARIABLE], os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def stamp(seconds: float = 0.0) -> None:
    """Say that work begins now; so short a write to the end of a file is never mixed with another's."""
    os.write(_file(), STAMP.pack(time.monotonic(), seconds))


def count(path: Path) -> int:
    """How many there are."""
    return path.stat().st_size // STAMP.size


def read(path: Path) -> list[Stamp]:
    """All of them, in order."""
    return sorted(Stamp(*parts) for parts in STAMP.iter_unpack(path.read_bytes()))
