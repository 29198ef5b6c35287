"""A name, made ready to be looked for in many texts.

A name is found in two steps. It is searched for in the text with everything left out of both that may stand between a
name's words, which is quick. Then each place is looked at closely: what does stand between the words, and whether the
name begins and ends there.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, groupby

import regex

from capture.analysis.boundaries import begins_at, end_of
from capture.analysis.folding import BETWEEN, DROP_BETWEEN, MARK, fold
from capture.analysis.patterns import between, inflected, stem
from capture.analysis.scripts import Script, letters_in, script_of
from capture.analysis.signs import Sign, signs_of

# A joined form of fewer letters is another word: `E.ON` is not `eon`.
SHORTEST_JOINED = 5
_MOST_ANCHORS = 8
# Said or left out before a name: these never tell one name from another.
_NOT_LEADING = frozenset("\"'¡¿")
_NOT_TRAILING = " .'\"!"
# Persian and Urdu words of one name are parted by a zero-width non-joiner, or by a space by whoever has no such key.
_PARTED = regex.compile(r"(?<=\p{Arabic})\u200c(?=\p{Arabic})")


class Haystack:
    """A folded text, in which names are looked for.

    Arguments:
        visible: the text as readers see it.
        keep_case: upper and lower case count.
    """

    def __init__(self, visible: str, *, keep_case: bool) -> None:
        self.folded = fold(visible, keep_case=keep_case)
        self.text = self.folded.text
        self._words = _parted(self.text)
        self._squeezed = "".join(self._words)

    def places_of(self, anchor: str) -> Iterator[int]:
        """Where in the folded text some letters begin, whatever stands between them."""
        found = self._squeezed.find(anchor)
        while found >= 0:
            yield self._place(found)
            found = self._squeezed.find(anchor, found + 1)

    def _place(self, squeezed: int) -> int:
        return squeezed + bisect_right(self._left_out, squeezed)

    @cached_property
    def _left_out(self) -> list[int]:
        """For each character that is left out, how many before it stay."""
        return list(accumulate(map(len, self._words)))


def _parted(text: str) -> list[str]:
    """What is left between each two characters that are left out."""
    # Beyond ASCII, one call of `str.translate` takes longer than all these.
    for sign in BETWEEN:
        text = text.replace(sign, " ")
    return text.split(" ")


@dataclass(frozen=True, slots=True)
class Name:
    """How one name is found.

    Arguments:
        anchors: what it begins with, in its spellings, without what stands between words.
        lead: how many signs of its own stand before its first letter.
        core: the whole of it but for its last ending; matched at a place.
        first: the script of its first letter.
        last: the script of its last letter.
        edge: the signs of its own that it ends with.
        endings: the case endings of its last word, if it takes any.
        exclaims: it ends with an exclamation mark, which may be missing.
    """

    anchors: tuple[str, ...]
    lead: int
    core: re.Pattern[str]
    first: Script
    last: Script
    edge: str
    endings: frozenset[str] | None
    exclaims: bool

    def find(self, haystack: Haystack) -> Iterator[tuple[int, int]]:
        """The places of the name in the folded text; they may overlap."""
        for anchor in self.anchors:
            for place in haystack.places_of(anchor):
                if found := self._at(haystack.text, place - self.lead):
                    yield found

    def _at(self, text: str, start: int) -> tuple[int, int] | None:
        if start < 0 or not begins_at(text, start, self.first, led=self.lead > 0):
            return None
        core = self.core.match(text, start)
        if core is None:
            return None
        end = end_of(text, core.end(), self.last, edge=self.edge, endings=self.endings)
        if end is None:
            return None
        return start, end + (self.exclaims and text.startswith("!", end))


@lru_cache(maxsize=10_000)
def names_of(words: str, *, keep_case: bool = False) -> tuple[Name, ...]:
    """Make a name ready to be looked for.

    Arguments:
        words: the name as somebody typed it.
        keep_case: upper and lower case count.

    Returns:
        The name, and a second time where its accents are also spelled out (`Mueller`); a mixture would leave patterns
        many ways to read one text. So with a Persian or Urdu name of several words. Nothing for what has no letter and
        no digit.
    """
    signs = signs_of(words, keep_case=keep_case)
    if not any(sign.is_letter for sign in signs):
        return ()
    parted = signs_of(_PARTED.sub(" ", words), keep_case=keep_case)
    spelled = [tuple(sign.spelled(out=out) for sign in way) for way in (signs, parted) for out in (False, True)]
    return tuple(_name(way, keep_case=keep_case) for way in dict.fromkeys(spelled))


def _name(signs: Sequence[Sign], *, keep_case: bool) -> Name:
    letters = [place for place, sign in enumerate(signs) if sign.is_letter]
    lead = "".join(sign.folded for sign in signs[: letters[0]] if sign.folded not in _NOT_LEADING).lstrip()
    tail = "".join(sign.folded for sign in signs[letters[-1] + 1 :])
    body = signs[letters[0] : letters[-1] + 1]
    core, endings = _core(body, lead, tail.rstrip(_NOT_TRAILING), keep_case=keep_case)
    return Name(
        anchors=_anchors(body, keep_case=keep_case),
        lead=len(lead),
        core=re.compile(core),
        first=script_of(body[0].folded[0]),
        last=script_of(body[-1].folded[-1]),
        edge=tail.rstrip(_NOT_TRAILING),
        endings=endings,
        exclaims=tail.endswith("!"),
    )


def _core(body: Sequence[Sign], lead: str, edge: str, *, keep_case: bool) -> tuple[str, frozenset[str] | None]:
    """The pattern of a name up to the last ending, and the last word's endings."""
    runs = [list(run) for _, run in groupby(body, key=lambda sign: sign.is_letter)]
    may_join = letters_in("".join(sign.folded for sign in body)) >= SHORTEST_JOINED
    parts = [re.escape(lead)]
    for word, gap in zip(runs[:-1:2], runs[1::2], strict=True):
        parts += [inflected(word, keep_case=keep_case), between(gap, after=word, may_be_missing=may_join)]
    if edge:
        return "".join([*parts, inflected(runs[-1], keep_case=keep_case), f"{MARK}?", re.escape(edge)]), None
    letters, endings = stem(runs[-1], keep_case=keep_case)
    return "".join([*parts, *(sign.pattern for sign in letters)]), endings


def _anchors(body: Sequence[Sign], *, keep_case: bool) -> tuple[str, ...]:
    """As much of a name's beginning as has few spellings."""
    anchors = [""]
    for is_word, run in groupby(body, key=lambda sign: sign.is_letter):
        signs = list(run)
        letters, endings = stem(signs, keep_case=keep_case) if is_word else (signs, None)
        for sign in letters:
            longer = [anchor + way.translate(DROP_BETWEEN) for anchor in anchors for way in sign.alternatives]
            if len(longer) > _MOST_ANCHORS:
                return tuple(filter(None, anchors))
            anchors = longer
        if endings is not None:
            break
    return tuple(filter(None, dict.fromkeys(anchors)))
