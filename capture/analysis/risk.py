"""Names that will be found where nobody is meant: short ones, and words of a language."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from functools import cache
from heapq import nlargest

from spellchecker import SpellChecker

from capture.analysis.folding import fold
from capture.analysis.scripts import letters_in
from capture.analysis.text import INVISIBLE

SHORTEST_SAFE = 4
# Of the words of a language by how often they are used; rarer ones hardly come up in an answer.
_COMMONEST = 20_000


class Risk(StrEnum):
    SHORT = "short"
    WORD = "word"
    NOTHING_TO_FIND = "nothing to find"


def risks_of(name: str, languages: Collection[str] = ("en",)) -> frozenset[Risk]:
    """What should be said to somebody who enters a name.

    Arguments:
        name: a name or alias.
        languages: lower-case codes. Nothing is said of a language without a list of words; a list is read once in a
            process, which takes from a tenth of a second to two.
    """
    folded = fold(INVISIBLE.sub("", name)).text.strip(" .!?'\"")
    letters = letters_in(folded)
    if letters == 0:
        return frozenset({Risk.NOTHING_TO_FIND})
    risks = {Risk.SHORT} if letters < SHORTEST_SAFE else set()
    if any(folded in _common_words(language) for language in languages):
        risks.add(Risk.WORD)
    return frozenset(risks)


@cache
def _common_words(language: str) -> frozenset[str]:
    try:
        frequencies = SpellChecker(language=language).word_frequency.dictionary
    except ValueError:
        return frozenset()
    return frozenset(nlargest(_COMMONEST, frequencies, key=lambda word: frequencies[word]))
