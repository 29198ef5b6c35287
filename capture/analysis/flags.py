"""What an answer says of somebody where it names them: that it found nothing, or that it advises against them.

A name is a mention all the same. A flag is a hint for readers, from which no figure is made: in the clause of the name
a word of denial stands shortly before a word of finding or of recommending, in one of a few languages.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise, takewhile

NOT_FOUND = "not_found"
NOT_RECOMMENDED = "not_recommended"

_DENIALS = (
    "not(?! only)|no|never|cannot|unable|failed|nicht|nichts|keine?[nrm]?|kaum|ne|pas|rien|aucune?|non|nessuna?|nada"
    "|não|nenhuma?|niet|niets|geen|не|нет|ничего"
)
_FINDING = (
    r"find|found|locate\w*|identif\w+|verif\w+|know|aware|familiar|recogni[sz]e\w*|information|results?|mentions?"
    r"|finden|gefunden|bekannt|informationen|angaben|trouv\w+|connais|informations?|encontr\w+|encuentr\w+|conozco"
    r"|información|trov\w+|conosco|informazioni|conheço|informaç\w+|vinden|gevonden|bekend|informatie"
    r"|наш[её]л\w*|наш\w+|найд\w+|найти|знаю|знаком\w*|информации|данных|сведений"
)
_RECOMMENDING = (
    r"recommend\w*|advis\w+|suggest\w*|endorse\w*|worth|empfehl\w+|empfohlen|ratsam|recommand\w+|conseill\w+"
    r"|recomend\w+|recomiend\w+|aconsej\w+|consigli\w+|raccomand\w+|aanbevolen|aanraden|raden|рекоменд\w+|совету\w+"
)
_AVOIDING = (
    "avoid|steer clear of|stay away from|advise against|recommend against|abzuraten|vermeiden|éviter|évitez"
    "|evitar|evita|evitate|desaconsej|sconsigli|desaconselh|déconseill|избега"
)
_UNSPACED_NOT_FOUND = (
    "見つかりません|見つけられません|情報がありません|未找到|找不到|没有找到|沒有找到|찾을 수 없|찾지 못"
)
_UNSPACED_NOT_RECOMMENDED = (
    "おすすめできません|お勧めできません|おすすめしません|不推荐|不推薦|不建议|不建議|추천하지 않|권장하지 않"
)

_DENIED = rf"(?:n['’]t|\b(?:{_DENIALS}))(?:\W+\w+){{0,3}}?\W+"
CUES = {
    NOT_FOUND: re.compile(rf"{_DENIED}(?:{_FINDING})\b|unaware of|unfamiliar with|{_UNSPACED_NOT_FOUND}"),
    NOT_RECOMMENDED: re.compile(rf"{_DENIED}(?:{_RECOMMENDING})\b|\b(?:{_AVOIDING})|{_UNSPACED_NOT_RECOMMENDED}"),
}
# What a clause must have for one of them to fit; most have nothing of it.
ANY_CUE = re.compile(
    rf"\b(?:(?:{_DENIALS})\b|{_AVOIDING}|unaware|unfamiliar)|n['’]t\b"
    rf"|{_UNSPACED_NOT_FOUND}|{_UNSPACED_NOT_RECOMMENDED}"
)
CLAUSE_ENDS = re.compile(
    r"[.!?…](?=\s)|[。！？;；\n]"
    r"|\b(?:but|while|whereas|although|though|however|instead|aber|sondern|mais|pero|ma|mas|maar|но)\b"
)
# Of what ends a clause, that which is found quickest: it parts a text into passages.
_PASSAGE_END = re.compile(r"\.(?= )|\n")
_NONE: frozenset[str] = frozenset()


class Flags:
    """The flags of the names in one text.

    Only the passages that hold a name are read, each once when names come in their order.
    """

    def __init__(self, text: str) -> None:
        lowered = text.lower()
        # The lower case of a few letters is longer; then places would not fit.
        self._text = lowered if len(lowered) == len(text) else text
        self._begin = self._end = 0
        self._clause_ends: list[int] = []
        self._said: list[frozenset[str]] = []

    def at(self, start: int, end: int) -> frozenset[str]:
        """What the clause at a place says of whom it names."""
        said = _NONE
        # A name with a dot or a word that ends a clause goes on into the next one, which may be in the next passage.
        while start < end:
            self._go_to(start)
            first, last = bisect_right(self._clause_ends, start), bisect_right(self._clause_ends, end - 1)
            said = said.union(*self._said[first : last + 1])
            start = self._end
        return said

    def _go_to(self, place: int) -> None:
        """Read the passage at a place, unless it is the one that was read last."""
        if self._begin <= place < self._end:
            return
        reached = self._end if self._end <= place else 0
        end = _PASSAGE_END.search(self._text, place + 1)
        self._begin = max(reached, self._text.rfind(". ", reached, place), self._text.rfind("\n", reached, place))
        self._end = end.start() if end else len(self._text)
        self._clause_ends, self._said = [], [_NONE]
        if ANY_CUE.search(self._text, self._begin, self._end):
            self._read_closely()

    def _read_closely(self) -> None:
        ends = (found.start() for found in CLAUSE_ENDS.finditer(self._text, self._begin + 1))
        self._clause_ends = list(takewhile(lambda end: end < self._end, ends))
        self._said = [self._of_clause(*clause) for clause in pairwise((self._begin, *self._clause_ends, self._end))]

    def _of_clause(self, start: int, end: int) -> frozenset[str]:
        if ANY_CUE.search(self._text, start, end) is None:
            return _NONE
        return frozenset(flag for flag, cue in CUES.items() if cue.search(self._text, start, end))
