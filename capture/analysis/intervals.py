"""How far a share may be from the truth: Wilson's interval at the number of answers that repeats are worth.

Repeats of one question on one day are alike, so a hundred answers of five days tell less than a hundred of a hundred
days. What they are worth, the effective n, is read from how much the days of each question differ.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from math import fsum, sqrt
from typing import NamedTuple

# The 97.5 % point of the standard normal distribution, for 95 % intervals.
Z95 = 1.959963984540054
# Less than this is rounding, not variance.
_NO_VARIANCE = 1e-12


class Cell(NamedTuple):
    """What is asked again and again under the same conditions.

    Arguments:
        prompt: the question's key, which stands for its text, country and language.
        provider: the AI system.
        surface: how that was asked.
    """

    prompt: str
    provider: str
    surface: str = ""

    @property
    def basket(self) -> tuple[str, str]:
        """What two windows must both have for the cell to be compared."""
        return self.prompt, self.provider


@dataclass(frozen=True, slots=True)
class Count:
    """What was counted in one cell on one day.

    Arguments:
        cell: what was asked.
        day: in the team's time zone.
        hits: the numerator.
        of: the denominator.
        answers: the answers that it rests on, where that is not the denominator; no fewer than those with a hit.
    """

    cell: Cell
    day: date
    hits: int
    of: int
    answers: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.hits <= self.of:
            raise ValueError(f"{self.hits} of {self.of} is no share")

    @property
    def base(self) -> int:
        """The answers that it rests on."""
        return self.of if self.answers is None else self.answers


@dataclass(frozen=True, slots=True)
class Interval:
    """A share with its 95 % interval.

    Arguments:
        share: the mean of the cells' means, 0 to 1.
        low, high: the interval's ends.
        n: how many independent answers it is worth.
        single_check: all of it is from one day, so nothing is known of how days differ.
    """

    share: float
    low: float
    high: float
    n: float
    single_check: bool


def wilson(share: float, n: float) -> tuple[float, float]:
    """The 95 % score interval of a share (E. B. Wilson, JASA 22, 1927).

    Arguments:
        share: 0 to 1.
        n: how many independent answers it is of; more than 0, not necessarily a whole number.
    """
    if not 0 <= share <= 1 or n <= 0:
        raise ValueError(f"no interval of {share} in {n}")
    z2 = Z95 * Z95
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 / (1 + z2 / n) * sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def interval(counts: Iterable[Count]) -> Interval | None:
    """The interval of a share over some cells and days, or None when nothing was counted.

    With x the mean of a cell on a day, the share p is the mean of the P cells' means over their D days. Its variance is
    the sum of s² / D over the cells, by P², where s² is a cell's sample variance over its days; a cell of one day gets
    the mean of the others' s². The effective n is p(1 − p) by that variance, at least 1 and at most the number of
    answers. Without variance it is the number of cells' days.
    """
    merged = _by_cell_and_day(counts)
    if not merged:
        return None
    cells = [[hits / of for hits, of, _ in days.values()] for days in merged.values()]
    answers = sum(base for days in merged.values() for _, _, base in days.values())
    share = min(1.0, fsum(fsum(days) / len(days) for days in cells) / len(cells))
    single = len({day for days in merged.values() for day in days}) == 1
    n = float(sum(map(len, cells))) if single else _effective_n(share, cells, answers)
    return Interval(share, *wilson(share, n), n, single)


def _by_cell_and_day(counts: Iterable[Count]) -> dict[Cell, dict[date, tuple[int, int, int]]]:
    merged: dict[Cell, dict[date, tuple[int, int, int]]] = defaultdict(dict)
    for count in counts:
        if count.of:
            hits, of, base = merged[count.cell].get(count.day, (0, 0, 0))
            merged[count.cell][count.day] = hits + count.hits, of + count.of, base + count.base
    return merged


def _effective_n(share: float, cells: Sequence[Sequence[float]], answers: int) -> float:
    known = [_sample_variance(days) for days in cells if len(days) > 1]
    usual = fsum(known) / len(known) if known else 0.0
    of_cells = [(_sample_variance(days) if len(days) > 1 else usual) / len(days) for days in cells]
    variance = fsum(of_cells) / len(cells) ** 2
    if variance < _NO_VARIANCE:
        return float(sum(map(len, cells)))
    return min(max(share * (1 - share) / variance, 1.0), float(answers))


def _sample_variance(values: Sequence[float]) -> float:
    mean = fsum(values) / len(values)
    return fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def difference(before: Interval, after: Interval) -> tuple[float, float]:
    """The 95 % interval of how much a share has grown (R. G. Newcombe, Statistics in Medicine 17, 1998, method 10)."""
    grown = after.share - before.share
    down = sqrt((after.share - after.low) ** 2 + (before.high - before.share) ** 2)
    up = sqrt((after.high - after.share) ** 2 + (before.share - before.low) ** 2)
    return grown - down, grown + up
