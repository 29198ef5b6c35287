"""Who is named in an answer, and where."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from capture.analysis.flags import Flags
from capture.analysis.names import Haystack, names_of
from capture.analysis.text import visible

# Goes up when a rule changes, so that figures by different rules are not compared.
MATCHER_VERSION = 2


@dataclass(frozen=True, slots=True)
class Entity:
    """Somebody who may be named: a brand or a competitor.

    Arguments:
        key: whatever tells it from the others.
        name: as it is usually written.
        aliases: other names of it; its bare domain, if that is to count in prose.
        domains: its own, for telling whose a source is; not looked for in text.
        match_case: upper and lower case count, for a name that is also a word.
    """

    key: str
    name: str
    aliases: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    match_case: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """All by which it is found."""
        return self.name, *self.aliases

    @property
    def sought(self) -> tuple[object, ...]:
        """All that matters for where it is found."""
        return self.names, self.match_case


@dataclass(frozen=True, slots=True)
class Hit:
    """One place at which somebody is named.

    Arguments:
        key: of the entity.
        alias: the name or alias that was found.
        start: where it begins in the text, in characters.
        end: where it ends.
        words: as they stand there.
        flags: what the text says of it there, see `flags`; it is named all the same.
    """

    key: str
    alias: str
    start: int
    end: int
    words: str
    flags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Candidate:
    entity: Entity
    alias: str
    start: int
    end: int


def find_mentions(text: str, entities: Sequence[Entity]) -> list[Hit]:
    """All places at which one of some entities is named, in the order of the text.

    Of names that overlap the longest counts, whosever it is. `docs/mentions.md` has the rules.

    Arguments:
        text: an answer, in markdown or plain.
        entities: those who may be named.
    """
    shown = visible(text)
    haystacks = {case: Haystack(shown.seen.text, keep_case=case) for case in {entity.match_case for entity in entities}}
    found: list[_Candidate] = []
    for entity in entities:
        haystack = haystacks[entity.match_case]
        for alias, start, end in _places(entity, haystack):
            found.append(_Candidate(entity, alias, *shown.seen.origin(*haystack.folded.origin(start, end))))
    kept = _longest(_whole_domains(found, shown.domains), len(text))
    flags = Flags(text)
    return [
        Hit(hit.entity.key, hit.alias, hit.start, hit.end, text[hit.start : hit.end], flags.at(hit.start, hit.end))
        for hit in kept
    ]


def named_in_order(hits: Iterable[Hit]) -> tuple[str, ...]:
    """The keys of those who are named, in the order in which each is first named."""
    return tuple(dict.fromkeys(hit.key for hit in sorted(hits, key=lambda hit: hit.start)))


def clashes(entities: Sequence[Entity]) -> list[tuple[str, str, str]]:
    """Names of one entity by which another would be found, so that nobody could tell whom they mean.

    Returns:
        For each the name, the key of the entity that has it, and the key of the one that is found by it.
    """
    return [
        (name, entity.key, other.key)
        for entity, other in permutations(entities, 2)
        for name in entity.names
        if _is_called(other, name)
    ]


def _is_called(entity: Entity, name: str) -> bool:
    haystack = Haystack(name, keep_case=entity.match_case)
    return any((0, len(haystack.text)) == (start, end) for _, start, end in _places(entity, haystack))


def _places(entity: Entity, haystack: Haystack) -> Iterator[tuple[str, int, int]]:
    for alias in entity.names:
        for name in names_of(alias, keep_case=entity.match_case):
            for start, end in name.find(haystack):
                yield alias, start, end


def _whole_domains(found: Iterable[_Candidate], domains: Sequence[tuple[int, int]]) -> Iterator[_Candidate]:
    """Without what is only a part of a bare domain: a domain is one word."""
    begins = [start for start, _ in domains]
    for hit in found:
        touched = domains[max(bisect_right(begins, hit.start) - 1, 0) : bisect_right(begins, hit.end - 1)]
        if all(hit.start <= start and end <= hit.end for start, end in touched if end > hit.start):
            yield hit


def _longest(found: Iterable[_Candidate], length: int) -> list[_Candidate]:
    """Of overlapping hits the longest, of equally long ones the first."""
    taken = bytearray(length)
    kept: list[_Candidate] = []
    for hit in sorted(found, key=lambda hit: (hit.start - hit.end, hit.start)):
        if taken.find(1, hit.start, hit.end) < 0:
            taken[hit.start : hit.end] = b"\x01" * (hit.end - hit.start)
            kept.append(hit)
    return sorted(kept, key=lambda hit: hit.start)
