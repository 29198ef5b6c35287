"""Cutting a text where names stand in it, for a page that marks them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from capture.analysis.mentions import Hit


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a text; `key` is of the entity that it names, or None."""

    words: str
    key: str | None = None


def pieces(text: str, hits: Iterable[Hit]) -> Iterator[Piece]:
    """The whole text in pieces, names apart from what stands between them. Together they are the text.

    Arguments:
        text: in which the names were found.
        hits: as `find_mentions` gives them; they do not overlap.
    """
    reached = 0
    for hit in sorted(hits, key=lambda hit: hit.start):
        if hit.start > reached:
            yield Piece(text[reached : hit.start])
        yield Piece(text[hit.start : hit.end], hit.key)
        reached = hit.end
    if reached < len(text):
        yield Piece(text[reached:])


def spans_by_entity(hits: Iterable[Hit]) -> dict[str, list[tuple[int, int]]]:
    """The places of each entity in a text, in their order."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for hit in sorted(hits, key=lambda hit: hit.start):
        spans.setdefault(hit.key, []).append((hit.start, hit.end))
    return spans
