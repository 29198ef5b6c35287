"""Intervals: Wilson's, and how many answers repeats are worth."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random

import pytest

from capture.analysis.intervals import (
    Cell,
    CellSummary,
    Count,
    Spread,
    difference,
    interval,
    interval_of_cells,
    interval_of_spread,
    wilson,
)

MONDAY = date(2026, 3, 2)


def counts(*cells, of=1):
    """Counts of cells, each given by its hits of the days one after the other."""
    return [
        Count(Cell(f"prompt {place}", "chatgpt"), MONDAY + timedelta(day), hits, of)
        for place, days in enumerate(cells)
        for day, hits in enumerate(days)
    ]


def interval_of(counted):
    found = interval(counted)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [
        (0, 1, 0, 79.3),
        (1, 5, 3.6, 62.4),
        (3, 10, 10.8, 60.3),
        (6, 20, 14.5, 51.9),
        (36, 120, 22.5, 38.7),
        (300, 1000, 27.2, 32.9),
    ],
)
def test_wilsons_interval_has_its_known_values(hits, of, low, high):
    found = wilson(hits / of, of)

    assert [round(100 * end, 1) for end in found] == [low, high]


@pytest.mark.parametrize(("share", "n"), [(-0.1, 5), (1.1, 5), (0.5, 0), (0.5, -1)])
def test_what_is_no_share_has_no_interval(share, n):
    with pytest.raises(ValueError, match="no interval"):
        wilson(share, n)


def test_nothing_counted_has_no_interval():
    assert interval([]) is None
    assert interval([Count(Cell("p", "x"), MONDAY, 0, 0)]) is None


def test_more_hits_than_answers_are_refused():
    with pytest.raises(ValueError, match="5 of 3"):
        Count(Cell("p", "x"), MONDAY, 5, 3)


def test_a_single_day_is_worth_its_prompts_and_says_so():
    found = interval_of(counts([3], [0], [5], of=5))

    assert found.single_check
    assert found.n == 3
    assert found.share == pytest.approx(8 / 15)
    assert (found.low, found.high) == wilson(found.share, 3)


def test_days_that_never_differ_are_worth_one_answer_each():
    found = interval_of(counts([5, 5, 5], [5, 5], of=5))

    assert not found.single_check
    assert found.n == 5
    assert (found.low, found.high) == wilson(1.0, 5)


def test_the_effective_n_is_the_variance_between_days_turned_round():
    # Means 1/2, 1, 0 and 1, 1, 1/2: variances 1/4 and 1/12, so var = (1/4 + 1/12) / 3 / 4 = 1/36, and p = 2/3.
    found = interval_of(counts([1, 2, 0], [2, 2, 1], of=2))

    assert found.share == pytest.approx(2 / 3)
    assert found.n == pytest.approx(2 / 9 * 36)


def test_the_effective_n_is_at_most_the_answers_and_at_least_one():
    steady = interval_of(counts([5, 5, 5, 6], of=10))
    wild = interval_of(counts([0, 10], of=10))

    assert steady.n == 40
    assert wild.n == 1


def test_a_cell_of_one_day_gets_the_usual_variance():
    # The first cell's variance is 1/2 over two days; the second has one day, so var = (1/4 + 1/2) / 4.
    found = interval_of(counts([0, 1], [1]))

    assert found.n == pytest.approx(0.75 * 0.25 / (0.75 / 4))


def test_a_database_may_sum_up_the_cells():
    cells = [CellSummary(3, 0.5, 0.25, 6), CellSummary(3, 5 / 6, 1 / 12, 6)]

    found = interval_of_cells(cells, single_check=False)

    assert found == interval_of(counts([1, 2, 0], [2, 2, 1], of=2))


def test_counts_of_the_same_cell_and_day_are_one():
    apart = [Count(Cell("p", "x"), MONDAY + timedelta(day), hits, 1) for day in range(3) for hits in (0, 1)]
    together = [Count(Cell("p", "x"), MONDAY + timedelta(day), 1, 2) for day in range(3)]

    assert interval(apart) == interval(together)


def test_a_difference_has_the_ends_of_newcombes_tenth_method():
    """56 of 70 against 48 of 80, the first example of the source: 0.0524 to 0.3339."""
    before, after = (interval_of(counts([1] * hits + [0] * (of - hits))) for hits, of in ((48, 80), (56, 70)))
    assert before.n == pytest.approx(80, rel=0.02)

    low, high = difference(before, after)

    assert (low, high) == pytest.approx((0.0524, 0.3339), abs=0.002)


def coverage(of_interval, rounds=1500):
    """How often an interval holds the truth when the repeats of a day are alike.

    Four questions are asked five times a day for three weeks. The chance of a hit is the question's own on average and
    differs from day to day.
    """
    random = Random(20260302)
    chances = (0.2, 0.35, 0.5, 0.65)
    truth = sum(chances) / len(chances)
    held = 0
    for _ in range(rounds):
        hits = [[repeats(random, chance) for _ in range(21)] for chance in chances]
        low, high = of_interval(hits)
        held += low <= truth <= high
    return held / rounds


def repeats(random, chance):
    of_day = random.betavariate(1.5 * chance, 1.5 * (1 - chance))
    return sum(random.random() < of_day for _ in range(5))


def by_effective_n(hits):
    found = interval_of(counts(*hits, of=5))
    return found.low, found.high


def by_all_answers(hits):
    total = 5 * sum(map(len, hits))
    return wilson(sum(map(sum, hits)) / total, total)


@pytest.mark.slow
def test_the_interval_holds_the_truth_as_often_as_it_says_where_a_plain_one_does_not():
    assert 0.90 <= coverage(by_effective_n) <= 0.98
    assert 0.72 <= coverage(by_all_answers) <= 0.88


def test_a_spread_that_a_database_adds_up_has_the_interval_of_its_cells():
    cells = [CellSummary(3, 0.5, 0.25, 6), CellSummary(4, 0.75, 0.25, 8), CellSummary(1, 1.0, None, 2)]
    spread = Spread(cells=3, means=2.25, varying=2, variances=0.5, of_means=0.25 / 3 + 0.25 / 4, days=8, answers=16)

    assert interval_of_spread(spread, single_check=False) == interval_of_cells(cells, single_check=False)
    assert interval_of_spread(spread, single_check=True) == interval_of_cells(cells, single_check=True)


def test_a_spread_of_nothing_has_no_interval():
    assert interval_of_spread(Spread(0, 0.0, 0, 0.0, 0.0, 0, 0), single_check=False) is None
