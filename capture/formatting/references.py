"""A reference to a source within a text that is not formatted yet.

It is written as its number between two noncharacters, which Unicode keeps for a program's own use: no system sends
them, Markdown gives them no meaning, and whatever is left of them can be found and taken out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_OPEN, _CLOSE = "\ufdd0", "\ufdd1"

REFERENCE = re.compile(f"{_OPEN}([0-9]{{1,5}}){_CLOSE}")
_PARTS = re.compile(f"{_OPEN}[0-9]{{1,5}}{_CLOSE}|[{_OPEN}{_CLOSE}]")


def reference(numbers: Iterable[int]) -> str:
    """References to sources, one after the other."""
    return "".join(f"{_OPEN}{number}{_CLOSE}" for number in numbers)


def without_references(text: str) -> str:
    """The text without references, and without what is left of one that was cut."""
    return _PARTS.sub("", text)


def without_forgeries(text: str) -> str:
    """The text with each character that could start or end a reference replaced, one for one."""
    return text.replace(_OPEN, "\ufffd").replace(_CLOSE, "\ufffd")


def is_within(text: str, place: int) -> bool:
    """Whether a place in the text stands inside a reference."""
    return text.rfind(_OPEN, 0, place) > text.rfind(_CLOSE, 0, place)
