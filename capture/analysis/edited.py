"""A text made from another by replacing places in it, which still knows where its characters come from."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple


class Edit(NamedTuple):
    """What stands at `start` to `end` of the original is replaced, by nothing to leave it out."""

    start: int
    end: int
    replacement: str


@dataclass(frozen=True, slots=True)
class Edited:
    """An edited text in pieces. Each is a piece of the original as it stood, or stands for one that was replaced.

    Arguments:
        text: the edited text.
        places: where in it the pieces begin.
        origins: where in the original they begin.
        ends: where in the original they end.
        replaced: whether a piece is a replacement, which comes from its place as a whole.
    """

    text: str
    places: list[int]
    origins: list[int]
    ends: list[int]
    replaced: list[bool]

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """The place in the original that a place in the edited text, not an empty one, comes from."""
        first = bisect_right(self.places, start) - 1
        last = bisect_right(self.places, end - 1) - 1
        begins = self.origins[first] if self.replaced[first] else self.origins[first] + start - self.places[first]
        stops = self.ends[last] if self.replaced[last] else self.origins[last] + end - self.places[last]
        return begins, stops


def edit(original: str, edits: Iterable[Edit]) -> Edited:
    """Carry out edits, which may come in any order.

    Of edits that overlap the one that begins first is carried out, and of those the longest.
    """
    result = _Result(original)
    for change in sorted(edits, key=lambda change: (change.start, -change.end)):
        if change.start >= result.reached:
            result.copy_until(change.start)
            result.replace(change)
    result.copy_until(len(original))
    return Edited("".join(result.parts), result.places, result.origins, result.ends, result.replaced)


class _Result:
    def __init__(self, original: str) -> None:
        self.original = original
        self.parts: list[str] = []
        self.places: list[int] = []
        self.origins: list[int] = []
        self.ends: list[int] = []
        self.replaced: list[bool] = []
        self.reached = 0
        self._length = 0

    def copy_until(self, end: int) -> None:
        if end > self.reached:
            self._add(self.original[self.reached : end], end, replaced=False)
        self.reached = end

    def replace(self, change: Edit) -> None:
        if change.replacement:
            self._add(change.replacement, change.end, replaced=True)
        self.reached = change.end

    def _add(self, words: str, end: int, *, replaced: bool) -> None:
        self.parts.append(words)
        self.places.append(self._length)
        self.origins.append(self.reached)
        self.ends.append(end)
        self.replaced.append(replaced)
        self._length += len(words)
