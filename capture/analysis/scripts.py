"""Where words begin and end, by the script of their letters."""

from __future__ import annotations

from enum import Enum
from functools import cache

import regex


class Script(Enum):
    """How the letters of a script stand beside others, or that a character is no letter at all."""

    NONE = ""
    ALPHABETIC = "Latin, Greek, Cyrillic, Devanagari and others with spaces between words; all digits and marks"
    ARABIC = "Arabic: one-letter words are written onto the next"
    HEBREW = "Hebrew: likewise"
    HANGUL = "Hangul: particles are written onto names"
    KATAKANA = "Katakana: a run is a word"
    UNSPACED = "Han, Hiragana, Thai, Lao, Khmer, Burmese: no sign of where a word ends"


_SCRIPTS = regex.compile(
    r"""(?P<HANGUL> \p{Hangul} )
    | (?P<KATAKANA> [\p{Katakana}ー] )
    | (?P<UNSPACED> [\p{Han}\p{Hiragana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}] )
    | (?P<ARABIC> [\p{Arabic}&&\p{L}] )
    | (?P<HEBREW> [\p{Hebrew}&&\p{L}] )
    | (?P<ALPHABETIC> [\p{L}\p{M}\p{N}] )""",
    regex.V1 | regex.VERBOSE,
)
# A sign of these is a syllable or a word, worth two letters.
_SYLLABIC = frozenset({Script.HANGUL, Script.KATAKANA, Script.UNSPACED})


@cache
def script_of(character: str) -> Script:
    """The script of a character; an empty text, as beyond the end of a text, has none."""
    found = _SCRIPTS.match(character)
    if found is None or not regex.match(r"[\p{L}\p{M}\p{N}]", character):
        return Script.NONE
    return Script[str(found.lastgroup)]


@cache
def is_mark(character: str) -> bool:
    """Whether a character stands on the one before it."""
    return regex.match(r"\p{M}", character) is not None


def letters_in(words: str) -> int:
    """How long words are in letters of an alphabet: marks count nothing, a syllable's or a word's sign twice."""
    scripts = [script_of(character) for character in words if not is_mark(character)]
    return sum(2 if script in _SYLLABIC else 1 for script in scripts if script is not Script.NONE)


def run_after(text: str, start: int, script: Script) -> str:
    """The letters of a script that stand at a place and right behind it."""
    end = start
    while end < len(text) and script_of(text[end]) is script:
        end += 1
    return text[start:end]


def run_before(text: str, end: int, script: Script, most: int) -> str:
    """The letters of a script, at most so many, that stand right before a place."""
    start = end
    while start > 0 and end - start < most and script_of(text[start - 1]) is script:
        start -= 1
    return text[start:end]
