"""Web and mail addresses in prose. An address is a source and never a mention."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from capture.analysis.sources import has_known_suffix

# Scripts without spaces between words, in which prose goes on right behind an address.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_ENDS = r"\s<>\"“”„«»‹›`|\\^{}\[\]—–،؛、。，；：！？（）「」『』【】《》〈〉・…\ufffc"
_AMPERSAND = r"&(?!(?:nbsp|lt|gt|quot|#\d+);)"
_CHARACTERS = rf"[^&{_ENDS}{_UNSPACED}()]++|{_AMPERSAND}|(?<=[/=_?&#%.\-{_UNSPACED}])[{_UNSPACED}]"
_REST = rf"(?:{_CHARACTERS}|\((?:{_CHARACTERS})*\))*"

_LETTER = "a-z0-9\u00c0-\u024f\u0370-\u052f"
_LABEL = rf"[{_LETTER}](?:[{_LETTER}\-]{{0,61}}[{_LETTER}])?"
_DOMAIN = rf"{_LABEL}(?:\.{_LABEL}){{1,9}}"
# Only where a word begins, or behind one sign of its own (a bullet's hyphen): so each word is tried once.
_BEGINS = rf"(?:(?<![{_LETTER}@._+\-])|(?<=[^{_LETTER}@._+\-][._+\-])|(?<=^[._+\-]))"

BARE_DOMAIN = re.compile(_DOMAIN, re.IGNORECASE)
ADDRESS = re.compile(
    rf"(?P<url>(?<![a-z0-9])(?:[a-z][a-z0-9+.\-]{{1,15}}://|mailto:|tel:){_REST})"
    rf"|{_BEGINS}(?:(?P<mail>[{_LETTER}._%+\-]{{1,64}}@{_DOMAIN})|(?P<host>{_DOMAIN})(?P<path>(?::\d+)?[/?#]{_REST})?)",
    re.IGNORECASE,
)

# Every address has one of these within it, or at its end.
_WITHIN = re.compile(rf"[.:@](?:(?=[/{_LETTER}])|(?<=mailto:)|(?<=tel:))", re.IGNORECASE)


class Address(NamedTuple):
    """Where an address stands; `bare` for a domain with nothing else, as in "we use monday.com"."""

    start: int
    end: int
    bare: bool


def addresses(text: str) -> Iterator[Address]:
    """All addresses in a text, in their order."""
    for found in candidates(text):
        host = found["host"]
        if host is None:
            yield Address(*found.span(), bare=False)
        elif _is_domain(host):
            bare = found["path"] is None and not host.lower().startswith("www.")
            yield Address(*found.span(), bare=bare)


def candidates(text: str) -> Iterator[re.Match[str]]:
    """What looks like an address: all that `ADDRESS` finds in a text, which is tried only where there may be one.

    No address goes over a space, so it is tried from the space before such a sign to the one behind it.
    """
    reached = 0
    while within := _WITHIN.search(text, reached):
        start = max(reached, text.rfind(" ", reached, within.start()))
        reached = text.find(" ", within.end())
        if reached < 0:
            reached = len(text)
        yield from ADDRESS.finditer(text, start, reached)


def _is_domain(host: str) -> bool:
    """Whether words with dots between them are a domain, and not two sentences without a space (`Notion.It is`)."""
    suffix = host.rpartition(".")[2]
    return (suffix.islower() or host.isupper()) and has_known_suffix(host)
