"""How long AI systems take to answer, as real ones were seen to; the same for the same seed, system and question."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from random import Random

# Seconds, least and most.
SPANS = {"chatgpt": (7.0, 40.0), "perplexity": (20.0, 29.0), "copilot": (9.0, 31.0), "gemini": (8.0, 30.0)}


def seconds(seed: str, system: str, question: str, scale: float) -> float:
    """How long one call takes.

    Arguments:
        scale: what one second is shortened to.
    """
    return scale * Random(f"{seed} {system} {question}").uniform(*SPANS[system])


def list_schedule(durations: Iterable[float], seats: int) -> float:
    """When the last of some jobs ends that are begun in this order, each as soon as a seat is free, at no cost.

    Graham's list scheduling: no way to begin them in this order on so many seats ends sooner.

    Arguments:
        durations: seconds, in the order in which the jobs are begun.
    """
    free = [0.0] * seats
    last = 0.0
    for duration in durations:
        end = heapq.heappop(free) + duration
        heapq.heappush(free, end)
        last = max(last, end)
    return last
