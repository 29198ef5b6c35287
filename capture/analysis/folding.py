"""Bringing text into one form for comparing: NFKC, one case, one kind of dash, apostrophe and space.

Accents stay, since they fold one way only: `spellings` says in which ways a letter of a name may stand in a text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

import regex

from capture.analysis.edited import Edit, Edited, edit

# What a trade mark or a footnote's digit becomes: a sign that is no letter, and may stand within a name.
MARK = "™"
# Of these any one may stand between the words of a name.
SEPARATORS = frozenset(" \n-.'&·")
# What is left out of a text and of a name for the first, quick search.
BETWEEN = SEPARATORS | {MARK, '"', "!"}
DROP_BETWEEN = {ord(character): None for character in BETWEEN}

_TRADE_MARKS = frozenset("™®℠©")
_SAME = {
    **dict.fromkeys("'’‘‛ʼʻʹ′´＇՚ꞌ׳", "'"),
    **dict.fromkeys('"“”„‟«»″״', '"'),
    **dict.fromkeys("·・‧∙•⋅･", "·"),
    **dict.fromkeys("\n\x0b\x0c\x85\u2028\u2029", "\n"),
    **dict.fromkeys("\r\t", " "),
    "−": "-",
    # One letter on an Arabic keyboard and on a Persian one.
    "ک": "ك",
    "ی": "ي",
}
# Signs for the reader's voice, which words are written with or without: Arabic and Hebrew vowels, the Arabic stroke
# that stretches a word, and stress over Cyrillic vowels (any other letter has composed with it by then).
_VOICE = regex.compile(
    r"[\u0610-\u061a\u064b-\u0652\u0670\u0640\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0300\u0301]"
)
_CLUSTERS = regex.compile(r"\X")


def fold(text: str, *, keep_case: bool = False) -> Edited:
    """The text in the form in which names are looked for, with every character's place in the text.

    Arguments:
        text: without invisible characters.
        keep_case: compare upper and lower case as different.
    """
    table = _TABLES[keep_case]
    if text.isascii():
        return edit(text.translate(table), ())  # where no character joins another or folds to several
    characters = set(text)
    composed = unicodedata.is_normalized("NFC", text)
    joining = {character for character in characters if _joins(character, composed=composed)}
    special = joining | {character for character in characters if len(table[ord(character)]) != 1}
    if not special:
        return edit(text.translate(table), ())
    folded = edit(text, _special_edits(text, special, joining, keep_case=keep_case))
    return Edited(folded.text.translate(table), folded.places, folded.origins, folded.ends, folded.replaced)


@cache
def _joins(character: str, *, composed: bool) -> bool:
    """Whether a character may become one with the one before it."""
    if character in "\uff9e\uff9f" or unicodedata.category(character) == "Me":
        return True
    if composed:
        return False
    return unicodedata.category(character).startswith("M") or "\u1160" <= character <= "\u11ff"


def _special_edits(text: str, special: set[str], joining: set[str], *, keep_case: bool) -> Iterable[Edit]:
    pattern = f"{_class_of(special)}+"
    if joining:
        pattern = f"(?:.(?={_class_of(joining)}))?{pattern}"
    for run in re.finditer(pattern, text, re.DOTALL):
        for cluster in _CLUSTERS.finditer(run.group()):
            start, end = run.start() + cluster.start(), run.start() + cluster.end()
            folded = fold_cluster(cluster.group(), keep_case=keep_case)
            if len(folded) != 1 or end - start != 1:
                yield Edit(start, end, folded)


def _class_of(characters: set[str]) -> str:
    return f"[{''.join(map(re.escape, sorted(characters)))}]"


@cache
def fold_cluster(cluster: str, *, keep_case: bool = False) -> str:
    """One character with the marks on it, in the form for comparing; folding it again changes nothing."""
    if any(_is_mark(character) for character in cluster):
        return MARK
    folded = unicodedata.normalize("NFKC", "".join(_SAME.get(character, character) for character in cluster))
    if not keep_case:
        # A Turkish capital of the plain i folds to an i with a dot of its own.
        folded = unicodedata.normalize("NFKC", folded.casefold()).replace("i̇", "i")
    return "".join(map(_unified, _VOICE.sub("", folded)))


def _is_mark(character: str) -> bool:
    """Trade marks, super- and subscript and circled digits, and the frame that makes a keycap of a digit."""
    return character in _TRADE_MARKS or unicodedata.category(character) in ("No", "Me")


def raised_digits(cluster: str) -> str:
    """The digits that a raised, lowered or circled digit stands for; nothing for a trade mark."""
    return "".join(digit for digit in unicodedata.normalize("NFKC", cluster) if digit.isdecimal())


def _unified(character: str) -> str:
    if same := _SAME.get(character):
        return same
    match unicodedata.category(character):
        case "Pd":
            return "-"
        case "Zs":
            return " "
    return character


class _Table(dict[int, str]):
    """Folds single characters for `str.translate`; fills itself."""

    def __init__(self, *, keep_case: bool) -> None:
        super().__init__()
        self._keep_case = keep_case

    def __missing__(self, code: int) -> str:
        folded = self[code] = fold_cluster(chr(code), keep_case=self._keep_case)
        return folded


_TABLES = {False: _Table(keep_case=False), True: _Table(keep_case=True)}

# Letters whose plain spelling no decomposition gives, and accents that are also spelled out.
_PLAIN = {
    "ı": ("i",),
    "ø": ("o", "oe"),
    "ł": ("l",),
    "đ": ("d",),
    "ð": ("d",),
    "ħ": ("h",),
    "ŧ": ("t",),
    "þ": ("th",),
    "æ": ("ae",),
    "œ": ("oe",),
    "ß": ("ss",),
    "ä": ("a", "ae"),
    "ö": ("o", "oe"),
    "ü": ("u", "ue"),
    "å": ("a", "aa"),
    "ё": ("е",),
    "ة": ("ه",),
    "ى": ("ي",),
}
_PLAIN |= {letter.upper(): tuple(map(str.capitalize, plain)) for letter, plain in _PLAIN.items() if letter != "ß"}
# Marks over and under letters, the nuqta of Indian scripts, and the Arabic hamza and madda. Not: vowel signs, viramas,
# and the marks of kana, which make other letters.
_ACCENTS = regex.compile(r"[\u0300-\u036f\u093c\u09bc\u0a3c\u0abc\u0b3c\u0cbc\u0653-\u0655]+")


@cache
def spellings(letter: str) -> tuple[str, ...]:
    """The ways in which a name's folded letter may stand in a text: as it is first, then without its accent."""
    if plain := _PLAIN.get(letter):
        return (letter, *plain)
    if regex.match(r"\p{Cyrillic}", letter):
        return (letter,)  # й and ї are letters
    bare = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", letter)))
    return (letter,) if bare == letter else (letter, bare)
