"""The figures about a brand, as counts; percentages are made only where they are shown.

Each metric turns tallies into counts for each cell and day. `figure` makes a figure with its interval of such counts,
and `compare` says whether two windows differ. Counts may come from a database as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from capture.analysis.answers import Tally
from capture.analysis.intervals import Count, Interval, difference, interval

# With fewer answers only counts are shown, and nothing is said of a trend.
LEAST_ANSWERS = 20
NOTHING = "—"


def visibility(tallies: Iterable[Tally], key: str) -> list[Count]:
    """Answers naming somebody, of the analysable answers."""
    return [Count(tally.cell, tally.day, tally.naming.get(key, 0), tally.answers) for tally in tallies]


def share_of_voice(tallies: Iterable[Tally], key: str, keys: Collection[str]) -> list[Count]:
    """Answers naming somebody, of the answers naming each of the brand and its competitors, summed up.

    Arguments:
        keys: of the brand and its competitors. With the brand alone there is no share.
    """
    return [
        Count(
            tally.cell,
            tally.day,
            hits=tally.naming.get(key, 0) if len(keys) > 1 else 0,
            of=sum(tally.naming.get(each, 0) for each in keys) if len(keys) > 1 else 0,
            answers=tally.answers,
        )
        for tally in tallies
    ]


def first_named(tallies: Iterable[Tally], key: str) -> list[Count]:
    """Answers naming somebody before all the others, of the analysable answers."""
    return [Count(tally.cell, tally.day, tally.first.get(key, 0), tally.answers) for tally in tallies]


def cited(tallies: Iterable[Tally], key: str) -> list[Count]:
    """Answers with a source on somebody's own domains, of the answers with any source."""
    return [Count(tally.cell, tally.day, tally.citing.get(key, 0), tally.sourced) for tally in tallies]


def source_share(tallies: Iterable[Tally], domain: str) -> list[Count]:
    """Answers with a source on a registrable domain, of the answers with any source."""
    return [Count(tally.cell, tally.day, tally.domains.get(domain, 0), tally.sourced) for tally in tallies]


@dataclass(frozen=True, slots=True)
class Position:
    """At which place somebody is named.

    Arguments:
        ranks: the sum of the places, 1 for the first.
        answers: the answers that name it.
    """

    ranks: int
    answers: int

    @property
    def mean(self) -> float | None:
        return self.ranks / self.answers if self.answers else None

    def __str__(self) -> str:
        return NOTHING if self.mean is None else f"{self.mean:.1f} (n = {self.answers})"


def position(tallies: Iterable[Tally], key: str) -> Position:
    """The mean place of somebody among those named, over the answers that name it."""
    counted = [(tally.ranks.get(key, 0), tally.naming.get(key, 0)) for tally in tallies]
    return Position(sum(ranks for ranks, _ in counted), sum(naming for _, naming in counted))


@dataclass(frozen=True, slots=True)
class Figure:
    """A share as it is stored and shown.

    Arguments:
        hits: the numerator.
        of: the denominator.
        answers: the answers that it rests on; none when nothing was measured.
        interval: none when there is no share.
    """

    hits: int
    of: int
    answers: int
    interval: Interval | None

    @property
    def measured(self) -> bool:
        """Whether there was any answer to measure; a system that could not be asked is not measured, never 0 %."""
        return self.answers > 0

    @property
    def share(self) -> float | None:
        return self.hits / self.of if self.of else None

    @property
    def is_of_few(self) -> bool:
        return self.answers < LEAST_ANSWERS

    @property
    def single_check(self) -> bool:
        return self.interval is not None and self.interval.single_check

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The interval, made wide enough to hold the share that stands beside it.

        The share is of all answers, the interval about the mean of the cells; they part where cells have very unlike
        numbers of answers.
        """
        if self.interval is None or self.share is None:
            return None
        return min(self.interval.low, self.share), max(self.interval.high, self.share)

    @property
    def counts(self) -> str:
        return f"{self.hits} of {self.of}" if self.of else NOTHING

    def text(self, *, least: int = LEAST_ANSWERS) -> str:
        """The figure in words: `36 of 120 · 30 % (22–39)`, with few answers `3 of 12`, with none `—`.

        Arguments:
            least: answers from which on a percentage is shown.
        """
        if self.share is None or self.bounds is None or self.answers < least:
            return self.counts
        low, high = self.bounds
        return f"{self.counts} · {100 * self.share:.0f} % ({100 * low:.0f}–{100 * high:.0f})"

    def __str__(self) -> str:
        return self.text()


def figure(counts: Iterable[Count]) -> Figure:
    """The figure of some cells and days."""
    counted = list(counts)
    return Figure(
        sum(count.hits for count in counted),
        sum(count.of for count in counted),
        sum(count.base for count in counted),
        interval(counted),
    )


class Verdict(StrEnum):
    UP = "up"
    DOWN = "down"
    WITHIN_NOISE = "within noise"
    TOO_FEW = "too few answers"
    NOT_COMPARABLE = "not comparable"


@dataclass(frozen=True, slots=True)
class Window:
    """What was counted in a stretch of time.

    Arguments:
        counts: of one metric.
        matchers: the versions of the rules by which names were found.
    """

    counts: Sequence[Count]
    matchers: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Change:
    """How a figure has changed between two windows, over what both have.

    Arguments:
        verdict: in a word.
        before: the figure of the earlier window.
        after: the figure of the later one.
        grown: the 95 % interval of the difference of the two shares, if there is one.
        basket: the questions and systems that were compared.
    """

    verdict: Verdict
    before: Figure
    after: Figure
    grown: tuple[float, float] | None
    basket: frozenset[tuple[str, str]]


def compare(before: Window, after: Window) -> Change:
    """Say whether a figure went up or down, on the questions and systems that both windows have.

    Figures by different rules for finding names are not compared.
    """
    basket = _baskets(before) & _baskets(after)
    return change_between(
        _figure_within(before, basket),
        _figure_within(after, basket),
        comparable=len(before.matchers | after.matchers) < 2,
        basket=basket,
    )


def change_between(
    before: Figure, after: Figure, *, comparable: bool = True, basket: frozenset[tuple[str, str]] = frozenset()
) -> Change:
    """Say whether a figure went up or down.

    Arguments:
        before, after: of the same questions and systems, or the difference would be that of the questions.
        comparable: both are by the same rules for finding names.
    """
    grown = difference(before.interval, after.interval) if before.interval and after.interval else None
    verdict = _verdict(grown, comparable=comparable, few=before.is_of_few or after.is_of_few)
    return Change(verdict, before, after, grown, basket)


def _figure_within(window: Window, basket: frozenset[tuple[str, str]]) -> Figure:
    return figure(count for count in window.counts if count.cell.basket in basket)


def _baskets(window: Window) -> frozenset[tuple[str, str]]:
    return frozenset(count.cell.basket for count in window.counts if count.of)


def _verdict(grown: tuple[float, float] | None, *, comparable: bool, few: bool) -> Verdict:
    if grown is None or not comparable:
        return Verdict.NOT_COMPARABLE
    if few:
        return Verdict.TOO_FEW
    low, high = grown
    if low > 0:
        return Verdict.UP
    return Verdict.DOWN if high < 0 else Verdict.WITHIN_NOISE
