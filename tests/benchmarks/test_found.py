"""Medians, ratios and requirements, and what the page says of them."""

from __future__ import annotations

import pytest

from benchmarks.frame import page
from benchmarks.frame.found import Measured, Requirement, alternate
from benchmarks.pickup import percentile

MEASURED = {
    "at": "2026-01-01T00:00+00:00",
    "rounds": 3,
    "seed": 1,
    "processor": "A processor",
    "cores": 2,
    "memory": "1 kB",
    "system": "Linux",
    "load": 0.5,
    "fsync": "on",
    "versions": {"Python": "3.11.7"},
}
NOTHING = {"title": "Throughput", "says": [], "settings": {}, "tables": [], "requirements": [], "measured": MEASURED}


def row(what: str, *values: float, **more: float) -> dict[str, object]:
    return {"what": what, "median": sorted(values)[len(values) // 2], "values": list(values), **more}


def test_a_ratio_is_taken_within_each_round_as_a_machine_drifts():
    ours, theirs = Measured("ours", [10.0, 100.0, 30.0]), Measured("theirs", [5.0, 50.0, 10.0])

    assert ours.over(theirs) == 2.0


def test_values_of_other_numbers_of_rounds_are_not_divided():
    with pytest.raises(ValueError, match="shorter"):
        Measured("ours", [1.0, 2.0]).over(Measured("theirs", [1.0]))


def test_systems_are_measured_turn_and_turn_about():
    turns: list[str] = []

    def measure(name: str) -> float:
        turns.append(name)
        return len(turns)

    values = alternate(2, {"a": lambda: measure("a"), "b": lambda: measure("b")})

    assert turns == ["a", "b", "a", "b"]
    assert values == {"a": [1, 3], "b": [2, 4]}


def test_a_requirement_holds_at_its_bound_and_not_beyond():
    assert Requirement.at_least("ours", 1.5, 1.5).holds
    assert not Requirement.at_least("ours", 1.49, 1.5).holds
    assert Requirement.at_most("ours", 3.0, 3.0).holds
    assert not Requirement.at_most("ours", 3.01, 3.0).holds


def test_percentiles_are_the_nearest_rank():
    assert percentile([5.0, 1.0, 4.0, 2.0, 3.0], 50) == 3.0
    assert percentile(range(1, 201), 99) == 198


def test_the_page_says_what_does_not_hold():
    missed = vars(Requirement.at_least("ours ÷ theirs", 0.5, 1.5))
    held = vars(Requirement.at_most("ours ÷ bound", 2.0, 3.0))

    text = page.part(NOTHING | {"requirements": [missed, held]})

    assert "- ours ÷ theirs: at least 1.5 ×; it is 0.5 ×: **does not hold**" in text
    assert "- ours ÷ bound: at most 3 ×; it is 2 ×: holds" in text


def test_the_page_shows_ratios_beside_what_the_rounds_have_found():
    table = {"unit": "jobs/s", "digits": 0, "to": "ours", "rows": [row("theirs", 1000.0, 3000.0, 2000.0, ratio=0.25)]}

    text = page.part(NOTHING | {"tables": [table]})

    assert "| | jobs/s | least and most of the rounds | ÷ ours |" in text
    assert "| theirs | 2,000 | 1,000, 3,000 | 0.25 |" in text


def test_tables_of_the_same_rows_without_ratios_stand_side_by_side():
    first = {"unit": "ms", "digits": 1, "rows": [row("a", 1.0), row("b", 2.0)]}
    second = {"unit": "queries", "digits": 0, "rows": [row("a", 3.0), row("b", 6.0)]}

    text = page.part(NOTHING | {"tables": [first, second]})

    assert "| | ms | queries |" in text
    assert "| b | 2.0 | 6 |" in text


def test_the_page_says_on_what_was_measured():
    text = page.whole({"throughput": NOTHING})

    assert text.startswith("# Benchmarks")
    assert "rounds: 3, seed 1, on A processor, 2 cores" in text
    assert "Python 3.11.7" in text
