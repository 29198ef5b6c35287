"""What a benchmark has found: values of each round, and by them medians, ratios and whether requirements hold."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Measured:
    """One thing that was measured in every round.

    Arguments:
        what: one row of a table.
        values: one a round.
    """

    what: str
    values: Sequence[float]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def over(self, other: Measured) -> float:
        """How many times the other one this is: the median of what it was in each round.

        A machine's speed drifts, so only what was measured side by side is divided.
        """
        return statistics.median(one / two for one, two in zip(self.values, other.values, strict=True))


@dataclass(frozen=True)
class Table:
    """Things that can be compared with each other.

    Arguments:
        unit: of the values.
        rows: in the order in which they are shown.
        to: what each row is divided by; None where a ratio says nothing.
        digits: behind the point.
    """

    unit: str
    rows: Sequence[Measured]
    to: Measured | None = None
    digits: int = 0


@dataclass(frozen=True)
class Requirement:
    """Something that has to hold.

    Arguments:
        what: as the page says it, with the bound.
        value: what was measured.
        holds: whether it does.
    """

    what: str
    value: float
    holds: bool
    unit: str = "×"

    @classmethod
    def at_least(cls, what: str, value: float, bound: float, unit: str = "×") -> Requirement:
        return cls(f"{what}: at least {bound:g} {unit}", value, value >= bound, unit)

    @classmethod
    def at_most(cls, what: str, value: float, bound: float, unit: str = "×") -> Requirement:
        return cls(f"{what}: at most {bound:g} {unit}", value, value <= bound, unit)


@dataclass
class Found:
    """What one benchmark has to say.

    Arguments:
        title: of its part of the page.
        says: what was compared, and how; a paragraph each.
        settings: of each that was compared, in words, by its label.
    """

    title: str
    says: Sequence[str]
    tables: Sequence[Table] = ()
    requirements: Sequence[Requirement] = ()
    settings: dict[str, str] = field(default_factory=dict)


def alternate(rounds: int, measures: Mapping[str, Callable[[], float]]) -> dict[str, list[float]]:
    """Measure each, one after the other, as many rounds as that; values by what was measured."""
    values: dict[str, list[float]] = {key: [] for key in measures}
    for _ in range(rounds):
        for key, measure in measures.items():
            values[key].append(measure())
    return values
