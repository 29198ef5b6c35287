"""How far a share may be from the truth: Wilson's interval at the number of answers that repeats are worth.

Repeats of one question on one day are alike, so a hundred answers of five days tell less than a hundred of a hundred
days. What they are worth, the effective n, is read from how much the days of each question differ.
"""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True)
class CellSummary:
    """What a cell's days come to, x being the mean of a day. A database can say it as well.

    Arguments:
        days: on how many days it was counted, at least 1.
        mean: the mean of x over the days.
        variance: the sample variance of x over the days; none with one day.
        answers: all of them.
    """

    days: int
    mean: float
    variance: float | None
    answers: int


@dataclass(frozen=True, slots=True)
class Spread:
    """What some cells come to together, as far as an interval needs it. A database can add it up as well.

    Arguments:
        cells: how many.
        means: the sum of their means.
        varying: how many have a variance, being counted on more than one day.
        variances: the sum of their variances.
        of_means: the sum of their variances, each by the number of its days.
        days: the sum of the cells' numbers of days.
        answers: all of them.
    """

    cells: int
    means: float
    varying: int
    variances: float
    of_means: float
    days: int
    answers: int

    @property
    def share(self) -> float:
        return min(1.0, self.means / self.cells)

    @property
    def variance(self) -> float:
        """Of the share: a cell of one day gets the mean of the others' variances."""
        usual = self.variances / self.varying if self.varying else 0.0
        return (self.of_means + (self.cells - self.varying) * usual) / self.cells**2


def interval(counts: Iterable[Count]) -> Interval | None:
    """The interval of a share over some cells and days, or None when nothing was counted; see `interval_of_spread`."""
    merged = _by_cell_and_day(counts)
    single_check = len({day for days in merged.values() for day in days}) == 1
    return interval_of_cells([_summary(list(days.values())) for days in merged.values()], single_check=single_check)


def interval_of_cells(cells: Sequence[CellSummary], *, single_check: bool) -> Interval | None:
    """The interval of a share over some cells, or None without any; see `interval_of_spread`."""
    known = [(cell.variance, cell.days) for cell in cells if cell.variance is not None]
    spread = Spread(
        cells=len(cells),
        means=fsum(cell.mean for cell in cells),
        varying=len(known),
        variances=fsum(variance for variance, _ in known),
        of_means=fsum(variance / days for variance, days in known),
        days=sum(cell.days for cell in cells),
        answers=sum(cell.answers for cell in cells),
    )
    return interval_of_spread(spread, single_check=single_check)


def interval_of_spread(spread: Spread, *, single_check: bool) -> Interval | None:
    """The interval of a share, or None without any cell.

    The share p is the mean of the P cells' means. Its variance is the sum of s² / D over the cells, by P², where s² is
    a cell's sample variance over its D days; a cell of one day gets the mean of the others' s². The effective n is
    p(1 − p) by that variance, at least 1 and at most the number of answers. Without variance it is the number of the
    cells' days.

    Arguments:
        single_check: all is of one day, so that there is no variance between days.
    """
    if not spread.cells:
        return None
    share, variance = spread.share, 0.0 if single_check else spread.variance
    if variance < _NO_VARIANCE:
        n = float(spread.days)
    else:
        n = min(max(share * (1 - share) / variance, 1.0), float(spread.answers))
    return Interval(share, *wilson(share, n), n, single_check)


def _by_cell_and_day(counts: Iterable[Count]) -> dict[Cell, dict[date, tuple[int, int, int]]]:
    merged: dict[Cell, dict[date, tuple[int, int, int]]] = {}
    for count in counts:
        if count.of:
            days = merged.setdefault(count.cell, {})
            hits, of, base = days.get(count.day, (0, 0, 0))
            days[count.day] = hits + count.hits, of + count.of, base + count.base
    return merged


def _summary(days: Sequence[tuple[int, int, int]]) -> CellSummary:
    means = [hits / of for hits, of, _ in days]
    mean = fsum(means) / len(means)
    variance = fsum((x - mean) ** 2 for x in means) / (len(means) - 1) if len(means) > 1 else None
    return CellSummary(len(days), mean, variance, sum(answers for _, _, answers in days))


def difference(before: Interval, after: Interval) -> tuple[float, float]:
    """The 95 % interval of how much a share has grown (R. G. Newcombe, Statistics in Medicine 17, 1998, method 10)."""
    grown = after.share - before.share
    down = sqrt((after.share - after.low) ** 2 + (before.high - before.share) ** 2)
    up = sqrt((after.high - after.share) ** 2 + (before.share - before.low) ** 2)
    return grown - down, grown + up
