"""Where the parts of a chart stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.charts import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Value, chart_of

HALF = Value(0.5, 0.4, 0.6)
shares = st.floats(0, 1)
values = st.builds(lambda low, share, high: Value(share, *sorted((low, high))), shares, shares, shares)


def labels(count: int) -> list[str]:
    return [f"week {place}" for place in range(count)]


def test_nothing_is_at_the_foot_and_everything_at_the_top():
    none, everything = chart_of([Value(0, 0, 0.3), Value(1, 0.7, 1)], labels(2)).dots

    assert none.y == none.low == HEIGHT - BOTTOM
    assert everything.y == everything.high == TOP


def test_neighbours_are_joined_and_a_gap_parts_them():
    chart = chart_of([HALF, HALF, None, HALF, HALF, HALF], labels(6))

    assert [len(line.split()) for line in chart.lines] == [2, 3]
    assert [len(band.split()) for band in chart.bands] == [4, 6]
    assert len(chart.dots) == 5


def test_another_line_may_stand_beside_it_without_dots_and_band():
    chart = chart_of([HALF, None, HALF], labels(3), beside=[HALF, HALF, None])

    assert [len(line.split()) for line in chart.beside] == [2]
    assert (len(chart.dots), chart.lines, chart.bands) == (2, (), ())


def test_a_share_without_neighbours_is_a_dot_alone():
    chart = chart_of([None, HALF, None], labels(3))

    assert (len(chart.dots), chart.lines, chart.bands) == (1, (), ())


def test_nothing_measured_is_an_empty_field_with_its_axes():
    chart = chart_of([None, None], labels(2))

    assert chart.dots == ()
    assert [level.words for level in chart.levels] == ["0 %", "25 %", "50 %", "75 %", "100 %"]


@pytest.mark.parametrize(("count", "shown"), [(0, []), (1, [0]), (2, [0, 1]), (3, [0, 1, 2]), (9, [0, 4, 8])])
def test_the_foot_names_first_middle_and_last(count, shown):
    chart = chart_of([HALF] * count, labels(count))

    assert [foot.words for foot in chart.feet] == [f"week {place}" for place in shown]


def test_a_mark_stands_between_the_stretches_it_fell_between():
    chart = chart_of([HALF, HALF], labels(2), [(0.5, "names changed")])

    (mark,) = chart.marks
    assert chart.dots[0].x < mark.x < chart.dots[1].x
    assert mark.words == "names changed"


def test_what_happened_outside_is_not_marked():
    assert chart_of([HALF, HALF], labels(2), [(-0.6, "before"), (1.6, "after")]).marks == ()


@given(st.lists(st.none() | values, max_size=60))
def test_all_dots_stand_in_the_field_from_left_to_right(given_values):
    chart = chart_of(given_values, labels(len(given_values)))

    across = [dot.x for dot in chart.dots]
    assert across == sorted(set(across))
    assert all(LEFT <= x <= WIDTH - RIGHT for x in across)
    assert all(TOP <= y <= HEIGHT - BOTTOM for dot in chart.dots for y in (dot.y, dot.low, dot.high))
    assert all(dot.high <= dot.low for dot in chart.dots)
