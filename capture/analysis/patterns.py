"""Patterns for the parts of a name: its words with their endings, and what may stand between them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from unicodedata import normalize

from capture.analysis.endings import declension
from capture.analysis.folding import MARK, SEPARATORS
from capture.analysis.scripts import letters_in
from capture.analysis.signs import Sign

# A line may break within a name, a paragraph may not.
_SPACE = r"(?: {0,3}\n {0,3}| {1,3})"
_SIGNS = r"[\-.'&·]"
# A short word before a dot and a space is an abbreviation rather than the end of a sentence: `Dr. Pepper`.
_LONGEST_ABBREVIATION = 3


def stem(word: Sequence[Sign], *, keep_case: bool) -> tuple[Sequence[Sign], frozenset[str] | None]:
    """The part of a word that always stays, and the endings of which one has to follow, if it takes any."""
    written = normalize("NFC", "".join(sign.written for sign in word))
    declined = declension(written) if len(written) == len(word) else None
    if declined is None:
        return word, None
    kept, endings = declined
    if keep_case and written.isupper():
        endings = frozenset(map(str.upper, endings))
    return word[:kept], endings


def inflected(word: Sequence[Sign], *, keep_case: bool) -> str:
    """A word within a name, in all its cases."""
    letters, endings = stem(word, keep_case=keep_case)
    pattern = "".join(sign.pattern for sign in letters)
    if endings is None:
        return pattern
    return f"{pattern}(?:{'|'.join(map(re.escape, sorted(endings, key=len, reverse=True)))})"


def between(gap: Sequence[Sign], *, after: Sequence[Sign], may_be_missing: bool) -> str:
    """What may stand between two words of a name; one way only, so that no text makes the pattern try many.

    Arguments:
        gap: what stands there in the name.
        after: the word before it.
        may_be_missing: the words may be joined.
    """
    signs = "".join(sign.folded for sign in gap)
    if not SEPARATORS.issuperset(signs):
        return f"(?>{MARK}?{''.join(_of_other_signs(sign, may_be_missing) for sign in signs)}{MARK}?)"
    ways = [_SPACE, _SIGNS]
    if own := signs.replace(" ", "").replace("\n", ""):
        ways.insert(0, " ?" + " ?".join(map(re.escape, own)) + " ?")
    if letters_in("".join(sign.folded for sign in after)) <= _LONGEST_ABBREVIATION:
        ways.insert(0, r"\. {1,2}")
    return f"(?>{MARK}?(?:{'|'.join(ways)}){'?' if may_be_missing else ''}{MARK}?)"


def _of_other_signs(sign: str, may_be_missing: bool) -> str:
    if sign in " \n":
        return _SPACE + ("?" if may_be_missing else "")
    if sign in '"!':
        return f"{sign}?"
    return f"{_SIGNS}?" if sign in SEPARATORS else re.escape(sign)
