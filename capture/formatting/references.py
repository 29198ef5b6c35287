"""References to sources, and marks of names, within a text that is not formatted yet.

A reference is written as its number between two noncharacters, which Unicode keeps for a program's own use: no system
sends them, Markdown gives them no meaning, and whatever is left of them can be found and taken out. A name stands
between two others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
OWN, RIVAL, NAME_END = "\ufdd2", "\ufdd3", "\ufdd4"

REFERENCE = re.compile(f"{_OPEN}([0-9]{{1,5}}){_CLOSE}")
NAME_EDGE = re.compile(f"[{OWN}{RIVAL}{NAME_END}]")
_SIGNS = f"[{_OPEN}{_CLOSE}{OWN}{RIVAL}{NAME_END}]"
_PARTS = re.compile(f"{_OPEN}[0-9]{{1,5}}{_CLOSE}|{_SIGNS}")
_FORGERIES = re.compile(_SIGNS)


def reference(numbers: Iterable[int]) -> str:
    """References to sources, one after the other."""
    return "".join(f"{_OPEN}{number}{_CLOSE}" for number in numbers)


def without_references(text: str) -> str:
    """The text without references and marks, and without what is left of one that was cut."""
    return _PARTS.sub("", text)


def without_forgeries(text: str) -> str:
    """The text with each character that could start or end a reference or a mark replaced, one for one."""
    return _FORGERIES.sub("\ufffd", text)


def is_within(text: str, place: int) -> bool:
    """Whether a place in the text stands inside a reference."""
    return text.rfind(_OPEN, 0, place) > text.rfind(_CLOSE, 0, place)
