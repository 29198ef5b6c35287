"""Places in a text that are counted in UTF-8 bytes, as places in characters."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from itertools import accumulate


class Utf8Places:
    """The places of one text."""

    def __init__(self, text: str) -> None:
        # Where each character ends, in bytes. In ASCII both ways of counting are the same.
        self._ends = None if text.isascii() else array("Q", accumulate(map(_bytes_of, text)))
        self._length = len(text)

    def span(self, start: object, end: object) -> tuple[int, int] | None:
        """Two places in bytes as a span in characters, or None when they are none.

        A span that begins or ends in the middle of a character holds the whole of it.
        """
        # JSON's true is an int to Python, and no place in a text.
        if type(start) is not int or type(end) is not int or not 0 <= start < end <= self._bytes():
            return None
        if self._ends is None:
            return start, end
        return bisect_right(self._ends, start), bisect_left(self._ends, end) + 1

    def between_characters(self, place: object) -> bool:
        """Whether a place in bytes lies inside the text and between two of its characters, or at an end of it."""
        if type(place) is not int or not 0 <= place <= self._bytes():
            return False
        return self._ends is None or place == 0 or self._ends[bisect_left(self._ends, place)] == place

    def _bytes(self) -> int:
        return self._length if self._ends is None else self._ends[-1]


def _bytes_of(character: str) -> int:
    return 1 if character < "\x80" else 2 if character < "\u0800" else 3 if character < "\U00010000" else 4
