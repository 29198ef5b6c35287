"""The answers of a check with their sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from operator import attrgetter
from urllib.parse import urlsplit

from django.db.models import QuerySet
from django.urls import reverse

from capture import formatting
from capture.analysis.mentions import Hit, find_mentions
from capture.models import Capture, Check, Source
from capture.reports.board import Board, board_of
from capture.reports.cells import Cell
from capture.reports.rows import by_place
from capture.reports.status import check_url

OWN = "brand"  # the key of the brand among those whom a check looks for

# Answers that are read at once, where a whole check's would be too many to keep.
AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class Link:
    """A source as it is shown.

    Arguments:
        url: as it is kept.
        href: the same; empty where the address is none that a browser should be sent to.
    """

    number: int
    url: str
    href: str
    domain: str
    title: str
    cited: bool

    @property
    def words(self) -> str:
        """What it is, in one line."""
        return " – ".join(dict.fromkeys(part for part in (self.domain, self.title) if part))


@dataclass(frozen=True, slots=True)
class Party:
    """The brand or a competitor, as an answer names it.

    Arguments:
        own: the brand.
        hits: at how many places.
    """

    name: str
    own: bool
    hits: int


@dataclass(frozen=True)
class Answer:
    """What came of a place, with its sources.

    Arguments:
        capture: None while nothing has come of it, or where it was taken out of the queue before.
        root: path of the page of its check, under which it is shown.
    """

    check: Check
    cell: Cell
    capture: Capture | None
    sources: tuple[Source, ...] = ()
    before: Cell | None = None
    after: Cell | None = None
    root: str = ""

    @property
    def url(self) -> str:
        """The path of its own page; the same for good."""
        return self._url_of(self.cell)

    @property
    def before_url(self) -> str:
        return self._url_of(self.before) if self.before else ""

    @property
    def after_url(self) -> str:
        return self._url_of(self.after) if self.after else ""

    def _url_of(self, cell: Cell) -> str:
        return self.root + answer_url(self.check, cell).removeprefix(check_url(self.check))

    @property
    def links(self) -> tuple[Link, ...]:
        return tuple(_links(self.sources))

    @property
    def cited(self) -> list[Link]:
        """The sources that places in the text rest on."""
        return [link for link in self.links if link.cited]

    @property
    def listed(self) -> list[Link]:
        """The sources that were only named beside it."""
        return [link for link in self.links if not link.cited]

    @cached_property
    def shown(self) -> formatting.Shown:
        """The text as it stands on a page, with references to the sources in place of the system's own marks."""
        text = self.capture.text if self.capture else ""
        citations = (formatting.Citation(source.position, source.spans) for source in self.sources)
        links = {link.number: formatting.Link(f"#{self.anchor_of(link)}", link.words) for link in self.links}
        names = (formatting.Name(hit.start, hit.end, hit.key == OWN) for hit in self.hits)
        return formatting.shown(formatting.with_references(text, citations, names), links)

    @cached_property
    def hits(self) -> list[Hit]:
        """Where the brand and its competitors are named, by their names as they were, in the part that is formatted."""
        text = self.capture.text if self.capture else ""
        return find_mentions(text[: formatting.MOST_FORMATTED], self.check.entities())

    @cached_property
    def named(self) -> tuple[Party, ...]:
        """The brand and its competitors that the whole text names, in the order in which it first does."""
        labels = {entity.key: entity.name for entity in self.check.entities()}
        named = self.capture.named if self.capture else []
        return tuple(Party(labels[found["key"]], found["key"] == OWN, found["hits"]) for found in named)

    @property
    def names_brand(self) -> bool:
        return any(party.own for party in self.named)

    def anchor_of(self, link: Link) -> str:
        """The name of a source within the page."""
        return f"source-{self.cell.anchor}-{link.number}"

    @property
    def plain(self) -> str:
        """The text as it came, with the addresses of its sources."""
        text = self.capture.text if self.capture else ""
        sources = "".join(
            f"[{source.position}] {source.title or source.domain} {source.url}\n" for source in self.sources
        )
        return f"{text}\n\n{sources}"


def answer_url(check: Check, cell: Cell) -> str:
    """The path of the page of a place."""
    return reverse("capture:answer", args=[check.uuid, cell.prompt.position, cell.system.slug, cell.sample])


def answer_at(check: Check, position: int, provider: str, sample: int, root: str = "") -> Answer | None:
    """What came of one place of a check; None if the check has no such place. Five queries.

    Arguments:
        root: path of the page of the check, where that is not its team's own.
    """
    cells = board_of(check).cells
    here = next((index for index, cell in enumerate(cells) if _place(cell) == (position, provider, sample)), None)
    if here is None:
        return None
    cell = cells[here]
    capture = _with_sources(check).filter(prompt=cell.prompt, provider=provider, sample=sample).first()
    after = cells[here + 1] if here + 1 < len(cells) else None
    found = _answer(check, cell, capture, before=cells[here - 1] if here else None, after=after)
    return replace(found, root=root) if root else found


def answers_on(shown: Board) -> Iterator[Answer]:
    """What has come of every place, in the order of the board; two queries for about `AT_ONCE` of them."""
    rows = iter(shown.rows)
    at_once = max(1, AT_ONCE * len(shown.rows) // (shown.total or 1))
    while batch := list(islice(rows, at_once)):
        captures = by_place(_with_sources(shown.check).filter(prompt__in=[row.prompt for row in batch]))
        for cell in (cell for row in batch for group in row.groups for cell in group.cells):
            yield _answer(shown.check, cell, captures.get((cell.prompt.pk, cell.system.slug, cell.sample)))


def _with_sources(check: Check) -> QuerySet[Capture]:
    return check.captures.select_related("copy_of__of_check", "copy_of__prompt").prefetch_related("sources")


def _answer(
    check: Check, cell: Cell, capture: Capture | None, *, before: Cell | None = None, after: Cell | None = None
) -> Answer:
    """What an earlier turn of a place left behind is not shown while it is asked again."""
    root = check_url(check)
    if cell.is_open or capture is None:
        return Answer(check, cell, None, before=before, after=after, root=root)
    sources = tuple(sorted(capture.sources.all(), key=attrgetter("position")))
    return Answer(check, cell, capture, sources, before, after, root)


def _place(cell: Cell) -> tuple[int, str, int]:
    return cell.prompt.position, cell.system.slug, cell.sample


def _links(sources: Iterable[Source]) -> Iterator[Link]:
    for source in sources:
        href = source.url if _is_web_address(source.url) else ""
        yield Link(source.position, source.url, href, source.domain, source.title or source.url, source.cited)


def _is_web_address(url: str) -> bool:
    try:
        return urlsplit(url).scheme in {"http", "https"}
    except ValueError:
        return False
