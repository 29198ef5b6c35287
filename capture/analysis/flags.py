"""What an answer says of somebody where it names them: that it found nothing, or that it advises against them.

A name is a mention all the same. A flag is a hint for readers, from which no figure is made: in the clause of the name
a word of denial stands shortly before a word of finding or of recommending, in one of a few languages.
"""

from __future__ import annotations

import re

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
_CUES = {
    NOT_FOUND: re.compile(rf"{_DENIED}(?:{_FINDING})\b|unaware of|unfamiliar with|{_UNSPACED_NOT_FOUND}"),
    NOT_RECOMMENDED: re.compile(rf"{_DENIED}(?:{_RECOMMENDING})\b|\b(?:{_AVOIDING})|{_UNSPACED_NOT_RECOMMENDED}"),
}
# What a clause must have for one of them to fit; most have nothing of it.
_ANY_CUE = re.compile(
    rf"n['’]t\b|\b(?:{_DENIALS})\b|\b(?:{_AVOIDING}|unaware|unfamiliar)|{_UNSPACED_NOT_FOUND}|{_UNSPACED_NOT_RECOMMENDED}"
)
_CLAUSE_ENDS = re.compile(
    r"[.!?…](?=\s)|[。！？;；\n]"
    r"|\b(?:but|while|whereas|although|though|however|instead|aber|sondern|mais|pero|ma|mas|maar|но)\b"
)
_NONE: frozenset[str] = frozenset()


class Flags:
    """The flags of the names in one text; of the text, only their clauses are read closely, and each once."""

    def __init__(self, text: str) -> None:
        lowered = text.lower()
        # The lower case of a few letters is longer; then places would not fit.
        self._text = lowered if len(lowered) == len(text) else text
        self._begin = self._end = 0
        self._of_clause = _NONE

    def at(self, start: int, end: int) -> frozenset[str]:
        """What the clause at a place says of whom it names; quick where places come in their order."""
        self._go_to(start)
        found = self._of_clause
        # A name with a dot or such a word in it goes on into the next clause.
        while self._end < end:
            self._go_to(self._end)
            found |= self._of_clause
        return found

    def _go_to(self, place: int) -> None:
        """Read the clause at a place, unless it is the one that was read last."""
        if self._begin <= place < self._end:
            return
        self._begin, self._end = self._clause_at(place)
        self._of_clause = _NONE
        if _ANY_CUE.search(self._text, self._begin, self._end):
            self._of_clause = frozenset(
                flag for flag, cue in _CUES.items() if cue.search(self._text, self._begin, self._end)
            )

    def _clause_at(self, place: int) -> tuple[int, int]:
        behind = self._end if place >= self._end else 0
        # Of what ends a clause, these are found quickest.
        begin = max(behind, self._text.rfind(". ", behind, place), self._text.rfind("\n", behind, place))
        for ends in _CLAUSE_ENDS.finditer(self._text, begin):
            if ends.start() > place:
                return begin, ends.start()
            begin = ends.start()
        return begin, len(self._text)
