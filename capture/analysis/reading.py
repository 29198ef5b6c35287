"""What is read in an answer when it comes: whom it names, by the names of then and by the names of today."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from capture.analysis.mentions import MATCHER_VERSION, Entity, Hit, find_mentions

# A hostile or broken answer is read as far as this, many times the longest that there are; with some twenty names that
# takes a quarter of a second.
MOST_CHARACTERS = 200_000


@dataclass(frozen=True, slots=True)
class Watch:
    """Whom to look for in an answer.

    Arguments:
        asked: the brand and its competitors by the names as they were when the check was asked.
        today: the same, and whoever has come since, by the names of today.
        edition: number of the names of today.
    """

    asked: tuple[Entity, ...]
    today: tuple[Entity, ...]
    edition: int


@dataclass(frozen=True, slots=True)
class Named:
    """Somebody whom an answer names.

    Arguments:
        first: where it is named first.
        hits: at how many places it is named.
        flags: what the answer says of it at any of them.
    """

    first: Hit
    hits: int
    flags: tuple[str, ...]

    @property
    def key(self) -> str:
        return self.first.key


@dataclass(frozen=True, slots=True)
class Reading:
    """Whom an answer names, each list in the order in which they are first named.

    Arguments:
        asked, today: see `Watch`.
        watch: for whom it was looked.
        matcher: version of the rules.
    """

    asked: tuple[Named, ...]
    today: tuple[Named, ...]
    watch: Watch
    matcher: int


def read(text: str, watch: Watch) -> Reading:
    """Read an answer; places in it are those of the whole text."""
    text = text[:MOST_CHARACTERS]
    asked = named(text, watch.asked)
    return Reading(asked, _today(text, watch, asked), watch, MATCHER_VERSION)


def _today(text: str, watch: Watch, asked: Sequence[Named]) -> tuple[Named, ...]:
    """Whom it names by the names of today; those are mostly still the same, and then it need not be read twice."""
    if [entity.sought for entity in watch.today] != [entity.sought for entity in watch.asked]:
        return named(text, watch.today)
    keys = {former.key: entity.key for former, entity in zip(watch.asked, watch.today, strict=True)}
    return tuple(replace(each, first=replace(each.first, key=keys[each.key])) for each in asked)


def named(text: str, entities: Sequence[Entity]) -> tuple[Named, ...]:
    """Those of some entities whom a text names, in the order in which it first does."""
    places: dict[str, list[Hit]] = {}
    for hit in find_mentions(text, entities):
        places.setdefault(hit.key, []).append(hit)
    return tuple(
        Named(hits[0], len(hits), tuple(sorted(frozenset().union(*(hit.flags for hit in hits)))))
        for hits in places.values()
    )
