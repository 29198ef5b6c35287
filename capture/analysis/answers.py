"""Which answers count, and what each of them says, in the form in which figures are made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, tzinfo

from capture.analysis.intervals import Cell
from capture.analysis.mentions import Entity
from capture.analysis.sources import belongs, registrable_domain

ANSWERED = "answered"
EMPTY = "empty"
CACHED = "cached"
SIMULATED = "simulated"
REAL = "real"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one question.

    Arguments:
        cell: what was asked.
        day: on which day it was answered, see `day_of`.
        outcome: `answered`, or why there is no answer.
        has_text: the answer's text is not empty.
        cached: a copy of an answer that the vendor made before.
        simulated: by the simulator.
        named: keys of the brand and its competitors, in the order in which each is first named.
        hosts: of its sources, cited or listed.
    """

    cell: Cell
    day: date
    outcome: str = ANSWERED
    has_text: bool = True
    cached: bool = False
    simulated: bool = False
    named: tuple[str, ...] = ()
    hosts: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Scope:
    """The answers that count, and how many do not, by the reason."""

    analysable: list[Answer]
    left_out: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Tally:
    """What the analysable answers of one cell on one day name and cite. A database can count it as well.

    Arguments:
        cell: what was asked.
        day: in the team's time zone.
        answers: how many analysable answers.
        naming: how many name each of the brand and its competitors.
        first: how many name each before all the others.
        ranks: the sum of each one's places among those named, over the answers that name it.
        sourced: how many have a source.
        citing: how many have a source on a domain of each of the brand and its competitors.
        domains: how many have a source on each registrable domain.
    """

    cell: Cell
    day: date
    answers: int
    naming: Mapping[str, int] = field(default_factory=dict)
    first: Mapping[str, int] = field(default_factory=dict)
    ranks: Mapping[str, int] = field(default_factory=dict)
    sourced: int = 0
    citing: Mapping[str, int] = field(default_factory=dict)
    domains: Mapping[str, int] = field(default_factory=dict)


def day_of(moment: datetime, zone: tzinfo) -> date:
    """The day of a moment in a time zone.

    Raises:
        ValueError: the moment has no time zone of its own.
    """
    if moment.tzinfo is None:
        raise ValueError("a moment without a time zone has no day")
    return moment.astimezone(zone).date()


def why_left_out(
    outcome: str, *, has_text: bool, cached: bool, simulated: bool, about_simulated: bool = False
) -> str | None:
    """Why an answer is in no figure, or None when it counts.

    Arguments:
        about_simulated: the figures are about simulated answers, and only about those.
    """
    if simulated != about_simulated:
        return SIMULATED if simulated else REAL
    if outcome != ANSWERED:
        return outcome
    if not has_text:
        return EMPTY
    return CACHED if cached else None


def in_scope(answers: Iterable[Answer], *, about_simulated: bool = False) -> Scope:
    """Part the answers that count from those that do not."""
    analysable: list[Answer] = []
    left_out: Counter[str] = Counter()
    for answer in answers:
        reason = why_left_out(
            answer.outcome,
            has_text=answer.has_text,
            cached=answer.cached,
            simulated=answer.simulated,
            about_simulated=about_simulated,
        )
        if reason is None:
            analysable.append(answer)
        else:
            left_out[reason] += 1
    return Scope(analysable, left_out)


def tally(answers: Iterable[Answer], entities: Sequence[Entity]) -> list[Tally]:
    """Count what analysable answers name and cite, for each cell and day.

    Arguments:
        answers: those that count, see `in_scope`.
        entities: the brand and its competitors; others that an answer names do not count.

    Raises:
        ValueError: some are simulated and some are not.
    """
    groups: dict[tuple[Cell, date], list[Answer]] = {}
    kinds = set()
    for answer in answers:
        groups.setdefault((answer.cell, answer.day), []).append(answer)
        kinds.add(answer.simulated)
    if len(kinds) > 1:
        raise ValueError("simulated and real answers never make one figure")
    return [_tally_of(cell, day, group, entities) for (cell, day), group in groups.items()]


def _tally_of(cell: Cell, day: date, answers: Sequence[Answer], entities: Sequence[Entity]) -> Tally:
    keys = {entity.key for entity in entities}
    orders = [[key for key in dict.fromkeys(answer.named) if key in keys] for answer in answers]
    ranks: Counter[str] = Counter()
    for order in orders:
        ranks.update({key: place for place, key in enumerate(order, start=1)})
    return Tally(
        cell,
        day,
        answers=len(answers),
        naming=Counter(key for order in orders for key in order),
        first=Counter(order[0] for order in orders if order),
        ranks=ranks,
        sourced=sum(1 for answer in answers if answer.hosts),
        citing=Counter(entity.key for answer in answers for entity in entities if _cites(answer, entity)),
        domains=Counter(domain for answer in answers for domain in {registrable_domain(host) for host in answer.hosts}),
    )


def _cites(answer: Answer, entity: Entity) -> bool:
    return any(belongs(host, domain) for host in answer.hosts for domain in entity.domains)
