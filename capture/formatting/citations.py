"""The places at which an answer rests on its sources, as numbered references in its text.

Systems tell them in two ways: as a mark of their own in the text (`[3]`, `([example.com](https://…))`), which the
reference then replaces, or as a passage that rests on a page, after which it is put.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from capture.formatting.references import NAME_END, OWN, RIVAL, reference, without_forgeries

Span = tuple[int, int]

# More are no help to a reader, and hostile replies have as many as they like.
MOST_AT_ONE_PLACE = 10
MOST_PLACES = 2_000
# A span may take in a few characters more than the mark that it stands for.
SLACK = 10

# What a system has put there for the reference alone: a number in brackets, or a link whose words are a mere host.
_HOST = r"[^\s\[\]()]{1,200}\.[^\s\[\]()]{1,60}"
_ADDRESS = r"https?://(?:[^\s()]|\([^\s()]{0,200}\)){1,4000}"
_MARK = re.compile(rf"[ \t]?(?:\(\[{_HOST}\]\({_ADDRESS}\)\)|\[{_HOST}\]\({_ADDRESS}\)|\[[0-9]{{1,6}}\])")
# ChatGPT's own notation, which its API turns into annotations, but sometimes lets through.
_LEFT_OVER = re.compile("[ \t]?\ue200[^\ue200\ue201]{0,500}\ue201")


@dataclass(frozen=True, slots=True)
class Citation:
    """A source, and the places in the text that rest on it.

    Arguments:
        number: as it stands in the list of sources.
        spans: [start, end] in characters; what is none is left out.
    """

    number: int
    spans: Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class Name:
    """A place in the text at which somebody is named.

    Arguments:
        start, end: in characters.
        own: the brand, not one of its competitors.
    """

    start: int
    end: int
    own: bool


def with_references(text: str, citations: Iterable[Citation], names: Iterable[Name] = ()) -> str:
    """The text with a reference at each place that rests on a source, and with names marked.

    Arguments:
        names: they do not overlap.
    """
    text = without_forgeries(text)
    edits = dict.fromkeys((found.span() for found in _LEFT_OVER.finditer(text)), "")
    for place, numbers in _places(text, citations).items():
        edits[place] = reference(sorted(numbers)[:MOST_AT_ONE_PLACE])
    for name in sorted(names, key=lambda name: name.start):
        before, after = (name.start, name.start), (name.end, name.end)
        edits[before] = edits.get(before, "") + (OWN if name.own else RIVAL)
        edits[after] = NAME_END + edits.get(after, "")
    return "".join(_edited(text, edits))


def _places(text: str, citations: Iterable[Citation]) -> Mapping[Span, set[int]]:
    """What the references replace; where they are only put, that is empty."""
    marks = [found.span() for found in _MARK.finditer(text)]
    starts = [start for start, _ in marks]
    places: dict[Span, set[int]] = defaultdict(set)
    for citation in citations:
        for start, end in _spans(citation, len(text)):
            own = _mark_of(start, end, marks, starts)
            places[own or _after(text, end)].add(citation.number)
            if len(places) >= MOST_PLACES:
                return places
    return places


def _spans(citation: Citation, length: int) -> Iterator[Span]:
    for span in citation.spans:
        match span:
            case [int(start), int(end)] if 0 <= start < end <= length:
                yield start, end


def _mark_of(start: int, end: int, marks: Sequence[Span], starts: Sequence[int]) -> Span | None:
    """The mark that a span stands for, if that is all there is to it."""
    for index in range(bisect_right(starts, start + SLACK) - 1, -1, -1):
        mark = marks[index]
        overlap = min(end, mark[1]) - max(start, mark[0])
        if overlap > 0:
            return mark if (end - start) - overlap <= SLACK else None
        if mark[1] <= start:
            break
    return None


def _after(text: str, end: int) -> Span:
    """The empty place after a passage, before the white space that it may end with."""
    while end > 0 and text[end - 1].isspace():
        end -= 1
    return end, end


def _edited(text: str, edits: Mapping[Span, str]) -> Iterator[str]:
    """The pieces of the text; an edit within another goes after it."""
    done = 0
    for (start, end), new in sorted(edits.items()):
        yield text[done : max(start, done)]
        yield new
        done = max(end, done)
    yield text[done:]
