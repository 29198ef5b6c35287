"""The visible text of an answer: what a reader sees of its markdown, with every character's place in the original.

Link targets, addresses, images, reference definitions, tags and characters without a shape are not seen. An address
leaves `OBJECT` behind, a footnote's marker and a link's edge leave `MARKER`, so that what stands on the two sides does
not run together: `Nike[1](https://…)`.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass

import regex

from capture.analysis.addresses import BARE_DOMAIN, addresses
from capture.analysis.edited import Edit, Edited, edit
from capture.analysis.sources import has_known_suffix

OBJECT = "\ufffc"
MARKER = "¹"

INVISIBLE = regex.compile(r"\p{Default_Ignorable_Code_Point}+", regex.V1)

_INLINE_TAGS = (
    "a|abbr|b|bdi|bdo|big|cite|code|del|dfn|em|font|i|ins|kbd|mark|q|s|samp|small|span|strike|strong|sub|u|wbr"
)
_BLOCK_TAGS = (
    "article|aside|blockquote|br|center|dd|details|div|dl|dt|figcaption|figure|footer|h[1-6]|header|hr|img|input|li|main"
    "|nav|ol|p|picture|pre|section|summary|table|tbody|td|tfoot|th|thead|tr|ul|video"
)
# Every alternative begins with a character of its own and stops at the next of its kind, so that hostile text is read
# in one pass as well. None begins with `^`, so that `regex` skips to the next of these characters.
_MARKDOWN = regex.compile(
    rf"""
      (?P<escape> \\ [!-/:-@\[-`{{-~] )
    | (?P<footnote> \[\^ [^\[\]\s]+ \] :? | 【 [^【】†\n]* † [^【】\n]* 】 | \ue200 [^\ue200\ue201\n]* \ue201 )
    | (?P<open> !? \[ )
    | (?P<target> \] \( [ \t]* (?: < [^<>\n]* > | (?: [^\s()<>\\]++ | \\. | \( (?: [^\s()\\]++ | \\. )* \) )* )
        (?: [ \t]+ (?: "[^"\n]*" | '[^'\n]*' | \( [^()\n]* \) ) )? [ \t]* \) )
    | (?P<reference> \] \[ (?P<named> [^\[\]\n]* ) \] (?! \( ) )
    | (?P<close> \] )
    | (?P<paragraph> \n [ \t]* \n )
    | (?P<entity> & (?: \# \d{{1,7}} | \# [xX] [0-9a-fA-F]{{1,6}} | [A-Za-z] [A-Za-z0-9]{{1,31}} ) ; )
    | (?P<autolink> < [A-Za-z] [A-Za-z0-9+.\-]{{1,31}} : [^\s<>]* > | < [^\s<>@]+ @ [^\s<>@]+ > )
    | (?P<unseen> <!-- [^<>]* --> | < (?P<tag> (?i: script | style ) ) \b [^<>]* > [^<]* </ (?P=tag) \s* > )
    | (?P<superscript> </? (?i: sup ) (?= [\s/>] ) [^<>]* > )
    | (?P<inline> </? (?i: {_INLINE_TAGS} ) (?= [\s/>] ) [^<>]* > )
    | (?P<block> </? (?i: {_BLOCK_TAGS} ) (?= [\s/>] ) [^<>]* > )
    | (?P<fence> (?<= ^ [ ]{{0,3}} ) (?: `{{3,}} | ~{{3,}} ) [\w+\#.\-]* [ \t]* $ )
    | (?P<emphasis> \*\*+ | ~~ )
    | (?P<invisible> \p{{Default_Ignorable_Code_Point}}+ )
    """,
    regex.V1 | regex.VERBOSE | regex.MULTILINE,
)
_LEAVES_BEHIND = {
    "footnote": MARKER,
    "autolink": OBJECT,
    "unseen": "",
    "superscript": MARKER,
    "inline": "",
    "block": "\n",
    "emphasis": "",
    "invisible": "",
}
_DEFINITION = regex.compile(
    r"""^ [ ]{0,3} \[ (?! \^ ) (?P<named> [^\[\]\n]+ ) \] : [ \t]*
    (?: < [^<>\n]* > | (?: [A-Za-z][A-Za-z0-9+.\-]* : | / | \# | www\. ) \S* | [\w.\-]+ \. [A-Za-z]{2,} (?: / \S* )? )
    [ \t]* (?: "[^"\n]*" | '[^'\n]*' | \( [^()\n]* \) )? [ \t]* $""",
    regex.V1 | regex.VERBOSE | regex.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Visible:
    """What a reader sees of a text.

    Arguments:
        seen: the visible text, edited from the original.
        domains: the places in the original of bare domains in prose, each of which is one word.
    """

    seen: Edited
    domains: tuple[tuple[int, int], ...]


def visible(text: str) -> Visible:
    """What a reader sees of a text, in markdown or plain."""
    found = list(addresses(text))
    edits = [Edit(address.start, address.end, OBJECT) for address in found if not address.bare]
    edits += _Markdown(text).edits()
    return Visible(edit(text, edits), tuple((address.start, address.end) for address in found if address.bare))


class _Markdown:
    """Reads a text once for its markdown, with the brackets open so far."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._open: list[regex.Match[str]] = []
        self._definitions = list(_DEFINITION.finditer(text))
        self._names = {_reference(definition["named"]) for definition in self._definitions}

    def edits(self) -> Iterator[Edit]:
        for definition in self._definitions:
            yield Edit(*definition.span(), OBJECT)
        for token in _MARKDOWN.finditer(self._text):
            yield from self._read(token)

    def _read(self, token: regex.Match[str]) -> Iterator[Edit]:
        match token.lastgroup:
            case "open":
                self._open.append(token)
            case "target":
                yield from self._link(token)
            case "reference":
                yield from self._referring_link(token)
            case "close" if self._open:
                self._open.pop()
            case "paragraph":
                self._open.clear()  # no link goes over the end of its paragraph
            case "escape":
                yield Edit(token.start(), token.start() + 1, "")
            case "entity":
                yield from _unescaped(token)
            case "fence":
                yield Edit(self._text.rfind("\n", 0, token.start()) + 1, token.end(), "")
            case str(kind) if kind in _LEAVES_BEHIND:
                yield Edit(*token.span(), _LEAVES_BEHIND[kind])

    def _link(self, closing: regex.Match[str]) -> Iterator[Edit]:
        if not self._open:
            return
        opening = self._open.pop()
        label = self._text[opening.end() : closing.start()]
        if opening.group() == "![" or _is_an_address(label):
            yield Edit(opening.start(), closing.end(), OBJECT)
        else:
            yield Edit(*opening.span(), MARKER)
            yield Edit(*closing.span(), MARKER)

    def _referring_link(self, closing: regex.Match[str]) -> Iterator[Edit]:
        label = self._text[self._open[-1].end() : closing.start()] if self._open else ""
        if _reference(closing["named"] or label) in self._names:
            yield from self._link(closing)
        elif self._open:
            self._open.pop()


def _reference(name: str) -> str:
    return " ".join(name.split()).casefold()


def _is_an_address(label: str) -> bool:
    """Whether a link's label is a bare domain; `Booking.com` with its capital is a name."""
    label = label.strip(" *_`")
    return label == label.lower() and BARE_DOMAIN.fullmatch(label) is not None and has_known_suffix(label)


def _unescaped(entity: regex.Match[str]) -> Iterator[Edit]:
    character = html.unescape(entity.group())
    if character != entity.group():
        yield Edit(*entity.span(), INVISIBLE.sub("", character))
