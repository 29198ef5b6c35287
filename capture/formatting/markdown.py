"""Markdown as AI systems write it, into safe HTML.

HTML within it is shown as it was written. Pictures are told and not fetched. Definitions of links are left as text:
with them a short text makes an endless page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from capture.formatting.references import NAME_EDGE, OWN, REFERENCE, RIVAL, is_within, without_references
from capture.formatting.sanitizer import safe

# Characters that are formatted; what goes beyond follows as plain text. The longest answers that systems give have
# about as many, and a hostile text of this length takes less than a second.
MOST_FORMATTED = 30_000
# The deepest level at which the parser looks into a text; below it would leave the rest out.
DEEPEST = 20
# The page's own headings go before those of an answer.
FIRST_HEADING, LAST_HEADING = 3, 6

_WEB_ADDRESS = re.compile(r"https?://[^/?#]", re.IGNORECASE)
_BREAK = re.compile(r"<br\s{0,9}/?>", re.IGNORECASE)
_ALIGNED = re.compile(r"text-align:(center|right)")

_BLOCKS = frozenset(
    {
        *("paragraph_open", "heading_open", "blockquote_open", "bullet_list_open", "ordered_list_open"),
        *("list_item_open", "table_open", "th_open", "td_open"),
    }
)


@dataclass(frozen=True, slots=True)
class Link:
    """Where a reference leads.

    Arguments:
        href: an address, or a place in the page.
        title: what is told of it before somebody follows it.
    """

    href: str
    title: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A text as it is shown.

    Arguments:
        html: its formatted part.
        rest: what goes beyond that, as text.
    """

    html: SafeString
    rest: str = ""


def shown(text: str, links: Mapping[int, Link]) -> Shown:
    """A text, which may hold references, ready for a page.

    Arguments:
        links: by the number of a reference; one that has none is left out.
    """
    cut = _cut(text)
    return Shown(to_html(text[:cut], links), without_references(text[cut:]).strip("\n"))


def to_html(text: str, links: Mapping[int, Link]) -> SafeString:
    """A text as safe HTML; the time that it takes grows with the text's length, so bound that before."""
    env: dict[str, Any] = {"links": links, "deepest": 0}
    tokens = _parser.parse(text, env)
    if env["deepest"] >= DEEPEST:
        return _plain(text)
    html = _parser.renderer.render(tokens, _parser.options, env)
    return mark_safe(safe(html))  # noqa: S308  the sanitizer's whole purpose


def _plain(text: str) -> SafeString:
    html = f'<p class="plain" dir="auto">{escape(without_references(text))}</p>'
    return mark_safe(safe(html))  # noqa: S308


def _cut(text: str) -> int:
    """Where the formatted part ends: between paragraphs, or lines, or anywhere but in a reference."""
    if len(text) <= MOST_FORMATTED:
        return len(text)
    for between in ("\n\n", "\n"):
        place = text.rfind(between, MOST_FORMATTED // 2, MOST_FORMATTED)
        if place > 0:
            return place
    place = MOST_FORMATTED
    while is_within(text, place):
        place -= 1
    return place


# ---------------------------------------------------------------------------------------------------------- parsing


def _blocks_know_their_direction(state: StateCore) -> None:
    """Each block is written in its own direction, whatever the page's is. Notes how deep the text goes, too."""
    for token in state.tokens:
        if token.type in _BLOCKS:
            token.attrSet("dir", "auto")
        if aligned := _ALIGNED.search(str(token.attrs.pop("style", ""))):
            token.attrSet("class", aligned.group(1))
        state.env["deepest"] = max(state.env["deepest"], token.level + max(token.nesting, 0))


def _headings_follow_the_pages(state: StateCore) -> None:
    """No level of headings is left out, wherever an answer begins."""
    above: list[str] = []
    for token in state.tokens:
        if token.type == "heading_open":
            while above and above[-1] >= token.tag:
                above.pop()
            above.append(token.tag)
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(FIRST_HEADING + len(above) - 1, LAST_HEADING)}"


def _references_and_breaks(state: StateCore) -> None:
    """Within the words of a text, references become links and `<br>` breaks; anywhere else references are left out."""
    for token in state.tokens:
        if token.children:
            token.children = list(_words(token.children))
        elif token.content:
            token.content = without_references(token.content)


def _words(tokens: Sequence[Token]) -> Iterator[Token]:
    inside = 0  # links within links there are none: a reference in the words of one goes after it
    held_back: list[Token] = []
    splitter = _Splitter()
    for token in tokens:
        pieces = list(splitter.pieces(token.content)) if token.type == "text" else [token]
        inside += token.nesting if token.type in {"link_open", "link_close"} else 0
        for piece in pieces:
            if piece.type == "reference" and inside:
                held_back.append(piece)
            else:
                yield piece
        if not inside:
            yield from held_back
            held_back.clear()


class _Splitter:
    """Splits the words of a block at references, breaks and the edges of names.

    A name may begin in one text of the block and end in another, as in `North**wind**`; each part is marked by itself.
    """

    def __init__(self) -> None:
        self._mark = ""

    def pieces(self, content: str) -> Iterator[Token]:
        done = 0
        for found in _SIGN.finditer(content):
            yield from self._text(content[done : found.start()])
            yield from self._sign(found)
            done = found.end()
        yield from self._text(content[done:])

    def _sign(self, found: re.Match[str]) -> Iterator[Token]:
        if NAME_EDGE.match(found.group()):
            self._mark = _MARKS.get(found.group(), "")
        elif number := found.group(1):
            yield Token("reference", "", 0, content=number)
        else:
            yield Token("hardbreak", "br", 0)

    def _text(self, content: str) -> Iterator[Token]:
        if not content:
            return
        text = Token("text", "", 0, content=without_references(content))
        if self._mark:
            yield Token("mark_open", "mark", 1, attrs={"class": self._mark})
            yield text
            yield Token("mark_close", "mark", -1)
        else:
            yield text


_SIGN = re.compile(f"{REFERENCE.pattern}|{NAME_EDGE.pattern}|{_BREAK.pattern}", re.IGNORECASE)
_MARKS = {OWN: "own", RIVAL: "rival"}


# -------------------------------------------------------------------------------------------------------- rendering

Rule = Callable[[RendererHTML, Sequence[Token], int, Any, Any], str]


def _reference(_: RendererHTML, tokens: Sequence[Token], index: int, __: Any, env: Any) -> str:
    number = tokens[index].content
    link = env["links"].get(int(number))
    if link is None:
        return ""
    return f'<sup class="reference"><a href="{escape(link.href)}" title="{escape(link.title)}">[{number}]</a></sup>'


def _link_open(_: RendererHTML, tokens: Sequence[Token], index: int, __: Any, ___: Any) -> str:
    return f'<a href="{escape(tokens[index].attrGet("href") or "")}" target="_blank">'


def _image(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    words = without_references(renderer.renderInlineAsText(tokens[index].children, options, env)).strip()
    return escape(gettext("(picture: %s)") % words if words else gettext("(picture)"))


def _code_inline(_: RendererHTML, tokens: Sequence[Token], index: int, __: Any, ___: Any) -> str:
    return f"<code>{escape(without_references(tokens[index].content))}</code>"


def _code_block(_: RendererHTML, tokens: Sequence[Token], index: int, __: Any, ___: Any) -> str:
    return f'<pre dir="auto"><code>{escape(tokens[index].content)}</code></pre>\n'


def _table_open(_: RendererHTML, __: Sequence[Token], ___: int, ____: Any, _____: Any) -> str:
    """A table may be wider than the page; then it is scrolled by itself, also with the keyboard."""
    return f'<div class="wide" role="region" aria-label="{gettext("Table")}" tabindex="0"><table dir="auto">\n'


def _table_close(_: RendererHTML, __: Sequence[Token], ___: int, ____: Any, _____: Any) -> str:
    return "</table></div>\n"


_RULES: Mapping[str, Rule] = {
    "reference": _reference,
    "link_open": _link_open,
    "image": _image,
    "code_inline": _code_inline,
    "fence": _code_block,
    "table_open": _table_open,
    "table_close": _table_close,
}


def _make_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": DEEPEST})
    parser.enable(["table", "strikethrough"])
    # Systems mark code by fences, headings by number signs, and a line of dashes is a line.
    parser.disable(["code", "lheading", "reference"])
    for rule in (_blocks_know_their_direction, _headings_follow_the_pages, _references_and_breaks):
        parser.core.ruler.push(rule.__name__.strip("_"), rule)
    for name, render in _RULES.items():
        parser.add_render_rule(name, render)
    normalise = parser.normalizeLink
    parser.normalizeLink = lambda url: normalise(without_references(url))  # type: ignore[method-assign]
    parser.validateLink = lambda url: bool(_WEB_ADDRESS.match(url))  # type: ignore[method-assign]
    return parser


_parser = _make_parser()
