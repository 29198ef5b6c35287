"""The answers of a check with their sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from capture.models import Capture, Source
from capture.reports.board import Board, by_place
from capture.reports.cells import Cell


@dataclass(frozen=True, slots=True)
class Link:
    """A source as it is shown.

    Arguments:
        href: empty where the address is none that a browser should be sent to.
    """

    number: int
    href: str
    domain: str
    title: str
    cited: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a place, with its sources."""

    cell: Cell
    capture: Capture
    links: tuple[Link, ...]


def answers_on(shown: Board) -> list[Answer]:
    """What has come of a check, in the order of its board. Two queries, whatever its size."""
    captures = by_place(shown.check.captures.select_related("copy_of__of_check").prefetch_related("sources"))
    found = []
    for cell in shown.cells:
        capture = captures.get((cell.prompt.pk, cell.system.slug, cell.sample))
        if capture is not None and not cell.is_open:
            found.append(Answer(cell, capture, tuple(_links(capture.sources.all()))))
    return found


def _links(sources: Iterable[Source]) -> Iterator[Link]:
    for source in sorted(sources, key=lambda source: source.position):
        href = source.url if _is_web_address(source.url) else ""
        yield Link(source.position, href, source.domain, source.title or source.url, source.cited)


def _is_web_address(url: str) -> bool:
    try:
        return urlsplit(url).scheme in {"http", "https"}
    except ValueError:
        return False
