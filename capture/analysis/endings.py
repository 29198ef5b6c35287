"""What languages write onto names: case endings, particles, and one-letter words before."""

from __future__ import annotations

import re
from functools import cache

import regex

# Korean: the particles of nouns, which follow each other, or the forms of "to be".
_PARTICLES = re.compile(
    "들?(?:(?:에서|에게서|에게|에|께서|께|한테서|한테|으로서|로서|으로써|로써|으로|로|와|과|하고|이랑|랑|은|는|이|가|을|를"
    "|의|도|만|까지|부터|마저|조차|밖에|처럼|보다|같이|만큼|대로|마다|이나|나|이라도|라도|이든지|든지|이든|든|이란|란|이야말로"
    "|야말로|뿐|쯤){0,3}|이?(?:다|고|며|면|지만|라고|라는|라면|라서|므로|죠|지요|자|냐|니까)|입니다|입니까|인데|인지|인가|이었다|였다"
    "|이었습니다|였습니다|이에요|예요|이어서|여서|임|일까)"
)
# Turkish and Polish put case endings of proper names behind an apostrophe; Turkish vowels follow the name's.
_BEHIND_AN_APOSTROPHE = re.compile(
    "s|y?[aeıiuü]|n?[ıiuü]n|[dt][ae]n?|[dt][ae]ki(?:ler)?(?:[ae]|in|den)?|y?l[ae]|n[ae]|n[ıiuü]|[yn]?d[ae]n?|c[ae]"
    "|l[ae]r(?:[ıi]n?|[ae]|d[ae]n?)?|l[ıiuü](?:l[ae]r)?|l[ıiuü]k|s[ıiuü]z"
    "|y|em|ie|owi|ego|emu|om|ów|ach|ami"
)
_ARABIC_BEFORE = frozenset(
    conjunction + preposition for conjunction in ("", "و", "ف") for preposition in ("", "ب", "ك", "ل")
)
_HEBREW_BEFORE = frozenset(
    conjunction + relative + preposition + article
    for conjunction in ("", "ו")
    for relative in ("", "ש", "כש")
    for preposition in ("", "ב", "כ", "ל", "מ")
    for article in ("", "ה")
)
MOST_BEFORE = 6  # one more than the longest, to see that there is more


def are_particles(rest: str) -> bool:
    """Whether what follows a Korean name in its word is nothing or particles."""
    return _PARTICLES.fullmatch(rest) is not None


def may_follow_an_apostrophe(rest: str) -> bool:
    """Whether letters behind a name's apostrophe are an ending, as in `Nike's` and `Migros'un`."""
    return _BEHIND_AN_APOSTROPHE.fullmatch(rest.lower()) is not None


def may_precede(rest: str) -> bool:
    """Whether what stands in an Arabic or Hebrew word before a name is nothing or one-letter words."""
    return rest in _ARABIC_BEFORE or rest in _HEBREW_BEFORE


_SIBILANTS = "жшчщц"
_MASCULINE = "- а у ом е ы и ов ам ами ах і ові ів"
_AFTER_SIBILANTS = "- а у ом ем е ы и ов ев ей ам ами ах і ові еві ів"
_FEMININE = "а ы и е у ой ою ам ами ах і ої ій"
_PLURAL = "ов ев ей ам ами ах ям ями ях ів їв"
# By a word's end, the longest first: how many of its letters change, and what may stand for them. "-" is nothing.
_DECLENSIONS: tuple[tuple[str, int, str], ...] = (
    ("ская", 4, "ая ой ою ую"),
    ("ая", 2, "ая ой ою ую"),
    ("яя", 2, "яя ей ею юю"),
    ("ое", 2, "ое ого ому ым им ом"),
    ("ее", 2, "ее его ему им ем"),
    ("ые", 2, "ые ых ым ыми"),
    ("ие", 2, "ие их им ими ия ию ием ии ий"),
    ("ый", 2, "ый ого ому ым ом ые ых ыми"),
    ("ий", 2, "ий ого его ому ему им ім ом ем ие их ими ія ию ия ием ии иев"),
    ("ой", 2, "ой ого ому ым им ом ые ие ых их ыми ими оя ою оем ое ои оев оям оями оях"),
    ("ия", 2, "ия ии ию ией иею ий иям иями иях"),
    ("ія", 2, "ія ії ію ією ій іям іями іях"),
    ("ок", 2, "ок ка ку ком ке ки ков кам ками ках ока оку оком оке оки оков окам оками оках"),
    ("ёк", 2, "ёк ька ьку ьком ьке ьки ьков ькам ьками ьках"),
    ("ец", 2, "ец ца цу цом цем це цы цев цов цам цами цах еца ецу ецом еце ецы ецов ецам ецами ецах"),
    ("ька", 3, "ька ьки ьке ьку ькой ькою ек ькам ьками ьках ьці"),
    ("ка", 2, "ка ки ке ку кой кою кам ками ках ок ек ці"),
    ("га", 2, "га ги ге гу гой гою гам гами гах г зі"),
    ("ха", 2, "ха хи хе ху хой хою хам хами хах х сі"),
    ("ов", 0, "- а у ым ом е ы ой ых ыми ам ами ах і ові"),
    ("ев", 0, "- а у ым ом е ы ой ых ыми ам ами ах"),
    ("ин", 0, "- а у ым ом е ы ой ых ыми ов ам ами ах і ові"),
    ("а", 1, _FEMININE),
    ("я", 1, "я и е ю ей ею ёй ям ями ях ь й і ї єю"),
    ("ь", 1, "ь я ю ем ём е и ью ей ям ями ях єм єві і"),
    ("й", 1, "й я ю ем ём е и ев ёв ям ями ях єм єві ї їв"),
    ("о", 1, "о а у ом е ам ами ах"),
    ("е", 1, "е я ю ем и ям ями ях й"),
    ("ы", 1, f"ы {_PLURAL}"),
    ("и", 1, f"и {_PLURAL}"),
    ("і", 1, f"і {_PLURAL}"),
    ("ї", 1, f"ї {_PLURAL}"),
)
_CONSONANTS = "бвгґджзклмнпрстфхцчшщ"
_LONGEST_ABBREVIATION = 3


@cache
def declension(word: str) -> tuple[int, frozenset[str]] | None:
    """How many letters of a Cyrillic word stay in all cases, and the endings that may follow them.

    Arguments:
        word: a word of a name as it is written; a short one in capitals is an abbreviation and takes no ending.

    Returns:
        None for a word that stays as it is.
    """
    if len(word) < 3 or regex.fullmatch(r"\p{Cyrillic}+", word) is None:
        return None
    if word.isupper() and len(word) <= _LONGEST_ABBREVIATION:
        return None
    return _declined(word.lower())


def _declined(word: str) -> tuple[int, frozenset[str]] | None:
    for end, replaced, endings in _DECLENSIONS:
        if word.endswith(end) and len(word) > len(end) + 1:
            return len(word) - replaced, _endings(endings)
    if word[-1] in _SIBILANTS:
        return len(word), _endings(_AFTER_SIBILANTS)
    return (len(word), _endings(_MASCULINE)) if word[-1] in _CONSONANTS else None


def _endings(listed: str) -> frozenset[str]:
    return frozenset("" if ending == "-" else ending for ending in listed.split())
