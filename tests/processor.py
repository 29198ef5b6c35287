"""Times of a processor that mean the same on a slow machine: bounds in tests are far above what is usual, and scale."""

from __future__ import annotations

import time
from collections.abc import Callable

STEPS, USUAL = 1_000_000, 0.05  # seconds that so many steps of a loop take on the machine for which bounds are set


def seconds_of(work: Callable[[], object]) -> float:
    """Seconds of a processor that some work takes, as if on that machine; a faster one's count as they are."""
    began = time.process_time()
    work()
    took = time.process_time() - began
    return took / max(1.0, _steps() / USUAL)


def _steps() -> float:
    began, total = time.process_time(), 0
    for number in range(STEPS):
        total += number
    return time.process_time() - began
