"""The text of an answer as SerpApi takes it apart: blocks of a page, and which sources each of them points at.

Formats: https://serpapi.com/google-ai-mode-api, https://serpapi.com/google-ai-overview and
https://serpapi.com/bing-copilot-api.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from capture.providers.reading import list_of, mapping_of, mappings_of, text_of
from capture.providers.sources import Finder, Finding

Document = Mapping[str, Any]
Span = tuple[int, int]

# Items of a list have no type. What is not here is no part of the answer's text: videos, shops, news.
_TEXTUAL = frozenset({"", "paragraph", "heading", "list", "table", "expandable", "comparison", "code", "code_block"})
# Real pages nest two or three deep.
_DEEPEST = 12
_BETWEEN_CELLS = " | "
# "… smoother mixing 1 ." and "… smoother mixing 1": what is left of a footnote's mark. "PlayStation 5." is not one.
_FOOTNOTE = re.compile(r"\s([0-9]{1,3})(?=(?:\s+[.।])?$)")


class Composition:
    """The text of a page's blocks, one line for each of them, and the places that rest on sources.

    Attributes:
        marks: by the index of a reference, the places in the text that point at it.
        links: the links within the text.
    """

    def __init__(self, page: Document, *, footnotes: bool) -> None:
        """
        Arguments:
            page: what holds the blocks, and a leading sentence where there is one.
            footnotes: the marks of footnotes are still in the text and have to be taken out.
        """
        self.marks: dict[int, list[Span]] = defaultdict(list)
        self.links: list[Finding] = []
        self._most_footnotes = len(list_of(page, "references")) if footnotes else 0
        self._finder = Finder()
        self._lines: list[str] = []
        self._length = 0
        self._add_line(text_of(page, "header"), {})
        for block in mappings_of(page, "text_blocks"):
            self._add(block, 0)

    @property
    def text(self) -> str:
        """The whole text."""
        return "\n".join(self._lines)

    def _add(self, node: Document, depth: int) -> None:
        """Add a block, or an item of a list, with everything in it."""
        if depth > _DEEPEST or text_of(node, "type") not in _TEXTUAL:
            return
        start = self._next()
        self._add_line(self._own_text(node), node)
        self._add_line(text_of(node, "code"), {})
        for item in list_of(node, "list"):
            self._add(item if isinstance(item, dict) else {"snippet": item}, depth + 1)
        self._add_table(node)
        self._add_comparison(node)
        for block in mappings_of(node, "text_blocks"):
            self._add(block, depth + 1)
        self._mark(node, start)

    def _own_text(self, node: Document) -> str:
        title, snippet = text_of(node, "title"), text_of(node, "snippet")
        if self._most_footnotes and list_of(node, "reference_indexes"):
            snippet = _FOOTNOTE.sub(self._without_footnote, snippet)
        return snippet if snippet.startswith(title) else f"{title} {snippet}".rstrip()

    def _without_footnote(self, found: re.Match[str]) -> str:
        return "" if 1 <= int(found.group(1)) <= self._most_footnotes else found.group()

    def _add_table(self, node: Document) -> None:
        """Add a table, row by row. Its first row may stand apart; links and references are told cell by cell."""
        self._add_row(list_of(node, "headers"), [])
        detailed = list_of(node, "detailed")
        for number, row in enumerate(list_of(node, "table")):
            details = detailed[number] if number < len(detailed) else None
            self._add_row(row if isinstance(row, list) else [], details if isinstance(details, list) else [])

    def _add_row(self, cells: list[Any] | Any, details: list[Any]) -> None:
        start = self._next()
        self._add_line(_BETWEEN_CELLS.join(map(_cell, cells)) if any(map(_cell, cells)) else "", {})
        for cell in details:
            if isinstance(cell, dict):
                self._mark(cell, start)
                self._add_links(cell, start)

    def _add_comparison(self, node: Document) -> None:
        labels = [_cell(label) for label in list_of(node, "product_labels")]
        self._add_row(["", *labels] if any(labels) else [], [])
        for feature in mappings_of(node, "comparison"):
            self._add_row([text_of(feature, "feature"), *list_of(feature, "values")], [feature])

    def _add_line(self, line: str, node: Document) -> None:
        """Add a line and the links that `node` has in it."""
        if line.strip():
            start = self._next()
            self._lines.append(line)
            self._length = start + len(line)
            self._add_links(node, start)

    def _next(self) -> int:
        """Where the next line will start."""
        return self._length + 1 if self._lines else 0

    def _add_links(self, node: Document, start: int) -> None:
        line, place = self._lines[-1] if self._lines else "", 0
        for link in mappings_of(node, "snippet_links"):
            words = text_of(link, "text")
            found = self._finder.place(line, words, place) if words else -1
            spans: tuple[Span, ...] = ()
            if found >= 0:
                place = found + len(words)
                spans = ((start + found, start + place),)
            self.links.append(Finding(text_of(link, "link"), words, cited=True, spans=spans))

    def _mark(self, node: Document, start: int) -> None:
        """Note what the text from `start` on rests on."""
        if start < self._length:
            for index in list_of(node, "reference_indexes"):
                if type(index) is int:
                    self.marks[index].append((start, self._length))


def _cell(cell: object) -> str:
    """The text of a cell, which may be a text or hold one."""
    holder = {"snippet": cell} if isinstance(cell, str) else mapping_of({"cell": cell}, "cell")
    return text_of(holder, "snippet")
