"""Gathering the web pages that an answer rests on, each of them once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from capture.providers.replies import Source
from capture.providers.urls import clean_url

# A reply with more is broken or hostile; nobody reads so many, and the reader has a second for it.
MOST_FINDINGS = 10_000
MOST_SPANS = 1_000
# Of all findings together: each of many can point at the same many places.
_MOST_PLACES = 100_000
# Characters that are looked through for words of a reply; a long answer with a hundred links needs a twentieth of it.
_MOST_LOOKED_THROUGH = 10_000_000


@dataclass(frozen=True, slots=True)
class Finding:
    """One place of a reply at which a page is named.

    Arguments:
        url: as it came.
        title: as it came, or empty.
        cited: tied to a place in the text.
        spans: (start, end) places in the answer's text, in characters.
        domain: the page's host where the address does not show it.
        redirect: the address is a redirect of the system's own.
    """

    url: str
    title: str = ""
    cited: bool = False
    spans: tuple[tuple[int, int], ...] = ()
    domain: str = ""
    redirect: bool = False


def gather(findings: Iterable[Finding]) -> tuple[Source, ...]:
    """One source for each cleaned address, in the order in which the addresses first come up.

    What is cited anywhere is cited; the spans of all findings are kept as far as the limits go, the first title that
    is not empty, and the first address as it came. What is no web address is left out.
    """
    pages: dict[str, list[Finding]] = {}
    cleaned: dict[str, str | None] = {}
    places = _MOST_PLACES
    for finding in islice(findings, MOST_FINDINGS):
        if finding.url not in cleaned:
            cleaned[finding.url] = clean_url(finding.url)
        if url := cleaned[finding.url]:
            kept = finding if len(finding.spans) <= places else replace(finding, spans=finding.spans[:places])
            places -= len(kept.spans)
            pages.setdefault(url, []).append(kept)
    return tuple(_source(url, found) for url, found in pages.items())


def _source(url: str, findings: Sequence[Finding]) -> Source:
    first = findings[0]
    return Source(
        url=url,
        raw_url=first.url,
        title=next((title for finding in findings if (title := finding.title.strip())), ""),
        cited=any(finding.cited for finding in findings),
        spans=tuple(sorted({place for finding in findings for place in finding.spans})[:MOST_SPANS]),
        domain=next((finding.domain for finding in findings if finding.domain), ""),
        redirect=first.redirect,
    )


class Finder:
    """Finds words in the text of one reply, and finds no more once it has looked through too much for them."""

    def __init__(self) -> None:
        self._left = _MOST_LOOKED_THROUGH

    def place(self, text: str, words: str, start: int = 0) -> int:
        """The first place of some words from `start` on, or -1."""
        if self._left <= 0:
            return -1
        found = text.find(words, start)
        self._left -= (len(text) if found < 0 else found) - start + len(words)
        return found

    def only_place(self, text: str, words: str) -> int:
        """The place of words that are in a text once, or -1."""
        found = self.place(text, words)
        # With nothing left for the second look nobody knows whether it is the only one.
        once = found >= 0 and self._left > 0 and self.place(text, words, found + 1) < 0
        return found if once else -1


def span(start: object, end: object, length: int) -> tuple[int, int] | None:
    """Two values as a span of a text that is so many characters long, or None when they are none."""
    # JSON's true is an int to Python, and no place in a text.
    if type(start) is not int or type(end) is not int:
        return None
    return (start, end) if 0 <= start < end <= length else None
