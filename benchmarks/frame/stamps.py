"""When work was begun: a file to which every process of a worker adds one moment for each job.

It is written by the work itself, so that it says the same of every system that is compared. Needs nothing but Python,
as it runs in the peers' environment too.
"""

from __future__ import annotations

import os
import struct
import time
from functools import cache
from pathlib import Path

VARIABLE = "BENCH_STAMPS"  # where the file is, for those who write it
MOMENT = struct.Struct("d")  # seconds of the monotonic clock, which all processes of a machine share


@cache
def _file() -> int:
    return os.open(os.environ[VARIABLE], os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def stamp() -> None:
    """Add the moment of now; so short a write to the end of a file is never mixed with another's."""
    os.write(_file(), MOMENT.pack(time.monotonic()))


def count(path: Path) -> int:
    """How many there are."""
    return path.stat().st_size // MOMENT.size


def read(path: Path) -> list[float]:
    """All of them, in order."""
    return sorted(moment for (moment,) in MOMENT.iter_unpack(path.read_bytes()))
