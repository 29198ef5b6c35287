"""What an answer says of somebody where it names them: that it found nothing, or that it advises against them.

A name is a mention all the same. The cues are words of a few languages within the same clause; a hint for readers,
from which no figure is made.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

NOT_FOUND = "not_found"
NOT_RECOMMENDED = "not_recommended"

_N_T = r"(?:n['’]t| not|not)"
_CUES = {
    NOT_FOUND: re.compile(
        rf"(?:could|can|did|do|does|was|am|were|is){_N_T}(?: \w+)? "
        r"(?:find|found|locate|identify|verify|able to|aware|familiar|know|recogni[sz]e|seem to exist|have (?:any )?info)"
        r"|\b(?:unable|failed) to (?:find|locate|identify|verify)|\bunfamiliar with\b|\bunaware of\b"
        r"|\b(?:no|little|any) (?:\w+ )?(?:information|results?|data|records?|evidence|details|mentions?) (?:\w+ )?"
        r"(?:about|on|for|of|under)\b|\bfound (?:nothing|no)\b"
        r"|\b(?:keine|nichts?|nicht) (?:\w+ ){0,3}(?:finden|gefunden|bekannt|informationen|angaben)\b"
        r"|\b(?:konnte|kann|kenne) (?:\w+ ){0,4}(?:keine|nichts?)\b"
        r"|\b(?:pas|rien|aucune?) (?:\w+ ){0,2}(?:trouv|trouver|information|connais)|\bne connais pas\b"
        r"|\bno (?:\w+ ){0,2}(?:encontr|encuentr|conozco|tengo informaci|hay informaci)"
        r"|\bnon (?:\w+ ){0,2}(?:trov|conosco|ho informazioni)"
        r"|\bnão (?:\w+ ){0,2}(?:encontr|conheço|há informaç|tenho informaç)"
        r"|\bgeen (?:\w+ ){0,2}(?:informatie|gegevens)|\bniet (?:\w+ ){0,2}(?:vinden|gevonden|bekend)\b"
        r"|\bне (?:\w+ ){0,2}(?:наш|найд|найти|удалось|знаком|знаю)|\bнет (?:\w+ ){0,2}(?:информации|данных|сведений)"
        r"|見つかりません|見つけられません|情報がありません|未找到|找不到|没有找到|沒有找到|찾을 수 없|찾지 못",
        re.IGNORECASE,
    ),
    NOT_RECOMMENDED: re.compile(
        rf"(?:{_N_T}|\bnever|\bhardly|\bcannot)(?: \w+)? (?:recommend|advis|suggest|endorse|worth|a good (?:choice|fit|option))"
        r"|\b(?:avoid|steer clear of|stay away from|advise against|recommend against|not the best)\b"
        r"|\b(?:nicht|kaum) (?:\w+ ){0,2}(?:empf|ratsam|zu raten)|\b(?:rate|raten) (?:\w+ ){0,3}ab\b|\bvermeiden\b"
        r"|\b(?:ne|n['’]) ?(?:\w+ ){0,2}(?:recommand|conseill)\w* (?:\w+ )?pas\b|\bdéconseill|\bpas recommand|\béviter\b"
        r"|\bno (?:\w+ ){0,2}(?:recom|aconsej)|\bevit(?:ar|e|a)\b|\bdesaconsej"
        r"|\bnon (?:\w+ ){0,2}(?:consigli|raccomand)|\bsconsigli|\bnão (?:\w+ ){0,2}recomend|\bdesaconselh"
        r"|\b(?:niet|af te) (?:\w+ )?(?:aanbevolen|aan te raden|raden)|\bне (?:\w+ )?(?:рекоменд|совету|стоит)|\bизбега"
        r"|おすすめできません|お勧めできません|おすすめしません|不推荐|不推薦|不建议|추천하지 않|권장하지 않",
        re.IGNORECASE,
    ),
}
_CLAUSE_ENDS = re.compile(
    r"[.!?…](?=\s)|[。！？;；\n]|,? \b(?:but|while|whereas|although|though|however|instead|aber|sondern|mais|pero|ma|но|а)\b",
    re.IGNORECASE,
)


class Flags:
    """The flags of the names in one text; each clause is read at most once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: dict[int, frozenset[str]] = {}

    def at(self, start: int, end: int) -> frozenset[str]:
        """What the clause at a place says of whom it names."""
        clause = bisect_right(self._ends, start)
        # A name with a dot or such a word in it goes on into the next clause.
        last = bisect_right(self._ends, end - 1)
        return frozenset().union(*(self._of_clause(place) for place in range(clause, last + 1)))

    @cached_property
    def _ends(self) -> list[int]:
        return [found.start() for found in _CLAUSE_ENDS.finditer(self._text)]

    def _of_clause(self, clause: int) -> frozenset[str]:
        if clause not in self._found:
            start = self._ends[clause - 1] if clause else 0
            end = self._ends[clause] if clause < len(self._ends) else len(self._text)
            self._found[clause] = frozenset(flag for flag, cue in _CUES.items() if cue.search(self._text, start, end))
        return self._found[clause]
