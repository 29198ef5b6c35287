"""Times of a processor that mean the same on a slow machine: bounds in tests are far above what is usual, and scale."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable

STEPS, USUAL = 1_000_000, 0.05  # seconds that so many steps of a loop take on the machine for which bounds are set


TRIES = 3  # neighbours on the machine slow down one, or the next


def seconds_of(work: Callable[[], object], bound: float) -> float:
    """Seconds of a processor that some work takes, as if on that machine; a faster one's count as they are.

    Of several tries it is the least, and the first that is below the bound ends them.
    """
    least = math.inf
    for _ in range(TRIES):
        least = min(least, _seconds(work))
        if least < bound:
            break
    return least


def _seconds(work: Callable[[], object]) -> float:
    gc.freeze()  # what other tests have left is not looked through again and again
    began = time.process_time()
    work()
    took = time.process_time() - began
    gc.unfreeze()
    return took / max(1.0, _steps() / USUAL)


def _steps() -> float:
    began, total = time.process_time(), 0
    for number in range(STEPS):
        total += number
    return time.process_time() - began
