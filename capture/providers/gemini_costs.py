"""What a call to Gemini comes to: tokens, and the searches that it made. The replies name no money."""

from __future__ import annotations

from collections.abc import Iterable

from capture.providers import prices
from capture.providers.replies import Cost

LANE = "gemini"
DEFAULT_MODEL = "gemini-3.8-flash"


def cost(model: str, read: Iterable[int | None], written: Iterable[int | None], searches: int) -> Cost | None:
    """What a call came to, or None when the reply says nothing about it.

    Arguments:
        model: as the reply names it.
        read: the counts of tokens that the model read, as far as the reply tells them.
        written: the counts of those that it wrote, its thinking included.
        searches: queries that are charged for.
    """
    received, produced = list(read), list(written)
    if not searches and all(count is None for count in (*received, *produced)):
        return None
    units = prices.Units(_sum(received), _sum(produced), searches)
    return prices.computed_cost(LANE, model, DEFAULT_MODEL, units)


def _sum(counts: Iterable[int | None]) -> int:
    return sum(count or 0 for count in counts)
