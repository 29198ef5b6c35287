"""Gathering the web pages that an answer rests on, each of them once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from capture.providers.replies import Source
from capture.providers.urls import clean_url


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

    What is cited anywhere is cited; the spans of all findings are kept, the first title that is not empty, and the
    first address as it came. What is no web address is left out.
    """
    sources: dict[str, Source] = {}
    for finding in findings:
        url = clean_url(finding.url)
        if url:
            sources[url] = _merged(sources.get(url), url, finding)
    return tuple(sources.values())


def _merged(known: Source | None, url: str, finding: Finding) -> Source:
    known = known or Source(url=url, raw_url=finding.url, redirect=finding.redirect)
    return replace(
        known,
        title=known.title or finding.title.strip(),
        cited=known.cited or finding.cited,
        spans=tuple(sorted({*known.spans, *finding.spans})),
        domain=known.domain or finding.domain,
    )


def span(start: object, end: object, length: int) -> tuple[int, int] | None:
    """Two values as a span of a text that is so many characters long, or None when they are none."""
    # JSON's true is an int to Python, and no place in a text.
    if type(start) is not int or type(end) is not int:
        return None
    return (start, end) if 0 <= start < end <= length else None
