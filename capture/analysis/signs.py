"""The characters of a name, each with the ways in which it may stand in a text."""

from __future__ import annotations

import re
from dataclasses import dataclass

import regex

from capture.analysis.folding import MARK, fold_cluster, raised_digits, spellings
from capture.analysis.scripts import Script, script_of
from capture.analysis.text import INVISIBLE

_TURKISH = frozenset("İıĞğŞş")


@dataclass(frozen=True, slots=True)
class Sign:
    """A letter, or a sign between or beside letters.

    Arguments:
        alternatives: how it may stand in a folded text; first as it is, folded.
        written: as it was typed.
    """

    alternatives: tuple[str, ...]
    written: str

    @property
    def folded(self) -> str:
        return self.alternatives[0]

    @property
    def is_letter(self) -> bool:
        return script_of(self.folded[:1]) is not Script.NONE

    def spelled(self, *, out: bool) -> Sign:
        """The same with one plain spelling: for `ü` that is `u`, or `ue` spelled out."""
        as_it_is, *plain = self.alternatives
        return Sign((as_it_is, plain[-1 if out else 0]) if plain else (as_it_is,), self.written)

    @property
    def pattern(self) -> str:
        ways = "|".join(map(re.escape, self.alternatives))
        return ways if len(self.alternatives) == 1 else f"(?:{ways})"


def signs_of(name: str, *, keep_case: bool) -> list[Sign]:
    """A name's characters.

    Arguments:
        name: as somebody typed it.
        keep_case: upper and lower case count.
    """
    visible = INVISIBLE.sub("", name).strip()
    # Only a name that is surely Turkish has a capital I that is the capital of a dotless i.
    is_turkish = not keep_case and not _TURKISH.isdisjoint(visible)
    signs = [sign for cluster in regex.findall(r"\X", visible) for sign in _signs(cluster, keep_case, is_turkish)]
    return _with_article(signs)


def _signs(cluster: str, keep_case: bool, is_turkish: bool) -> list[Sign]:
    folded = fold_cluster(cluster, keep_case=keep_case)
    if folded == MARK:
        # A trade mark is no part of a name; a raised or lowered digit is, and may stand as a plain one.
        digits = raised_digits(cluster)
        return [Sign((digits, MARK), cluster)] if digits else []
    if is_turkish and cluster == "I":
        return [Sign(("i", "ı"), cluster)]
    return [Sign(spellings(letter), cluster) for letter in folded]


def _with_article(signs: list[Sign]) -> list[Sign]:
    """The Arabic article at the beginning of a name becomes one with the word "to" before it."""
    if len(signs) > 3 and [sign.folded for sign in signs[:2]] == ["ا", "ل"]:
        return [Sign(("ال", "لل"), "ال"), *signs[2:]]
    return signs
