"""Which answers count, and what is counted of them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from capture.analysis.answers import Answer, day_of, in_scope, tally, why_left_out
from capture.analysis.intervals import Cell
from capture.analysis.mentions import Entity

CELL = Cell("key", "chatgpt", "api")
MONDAY = date(2026, 3, 2)
ACME = Entity("acme", "Acme", domains=("acme.com", "acme.org"))
BOLT = Entity("bolt", "Bolt", domains=("bolt.com",))


def answer(**fields):
    usual: dict[str, Any] = {"cell": CELL, "day": MONDAY}
    return Answer(**usual | fields)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, None),
        ({"outcome": "refused"}, "refused"),
        ({"outcome": "failed", "has_text": False}, "failed"),
        ({"has_text": False}, "empty"),
        ({"cached": True}, "cached"),
        ({"simulated": True}, "simulated"),
        ({"simulated": True, "outcome": "failed"}, "simulated"),
        ({"simulated": True, "about_simulated": True}, None),
        ({"about_simulated": True}, "real"),
    ],
)
def test_an_answer_counts_or_says_why_not(fields, reason):
    usual: dict[str, Any] = {"outcome": "answered", "has_text": True, "cached": False, "simulated": False}

    assert why_left_out(**usual | fields) == reason


def test_what_does_not_count_is_counted_by_its_reason():
    good = answer()

    scope = in_scope(
        [good, answer(outcome="failed"), answer(outcome="failed"), answer(cached=True), answer(simulated=True)]
    )

    assert scope.analysable == [good]
    assert scope.left_out == {"failed": 2, "cached": 1, "simulated": 1}


def test_answers_are_counted_for_each_cell_and_day():
    other = Cell("key", "gemini", "api")
    answers = [answer(), answer(), answer(day=MONDAY + timedelta(1)), answer(cell=other)]

    found = tally(answers, [ACME])

    assert [(each.cell, each.day, each.answers) for each in found] == [
        (CELL, MONDAY, 2),
        (CELL, MONDAY + timedelta(1), 1),
        (other, MONDAY, 1),
    ]


def test_names_are_counted_once_an_answer_and_ranked_among_the_brand_and_its_competitors():
    answers = [
        answer(named=("stranger", "bolt", "acme", "bolt")),
        answer(named=("acme",)),
        answer(named=("stranger",)),
    ]

    (found,) = tally(answers, [ACME, BOLT])

    assert found.naming == {"acme": 2, "bolt": 1}
    assert found.first == {"bolt": 1, "acme": 1}
    assert found.ranks == {"acme": 3, "bolt": 1}


def test_sources_are_counted_once_an_answer():
    answers = [
        answer(hosts=frozenset({"www.acme.com", "shop.acme.com", "acme.org", "news.example"})),
        answer(hosts=frozenset({"bolt.com", "notacme.com"})),
        answer(),
    ]

    (found,) = tally(answers, [ACME, BOLT])

    assert found.sourced == 2
    assert found.citing == {"acme": 1, "bolt": 1}
    assert found.domains == {"acme.com": 1, "acme.org": 1, "news.example": 1, "bolt.com": 1, "notacme.com": 1}


def test_simulated_and_real_answers_never_make_one_figure():
    with pytest.raises(ValueError, match="simulated"):
        tally([answer(), answer(simulated=True)], [ACME])


@pytest.mark.parametrize(
    ("moment", "day"),
    [
        (datetime(2026, 3, 28, 22, 59, tzinfo=UTC), date(2026, 3, 28)),
        (datetime(2026, 3, 28, 23, 0, tzinfo=UTC), date(2026, 3, 29)),
        # 29 March has 23 hours, 25 October has 25.
        (datetime(2026, 3, 29, 21, 59, tzinfo=UTC), date(2026, 3, 29)),
        (datetime(2026, 3, 29, 22, 0, tzinfo=UTC), date(2026, 3, 30)),
        (datetime(2026, 10, 24, 22, 0, tzinfo=UTC), date(2026, 10, 25)),
        (datetime(2026, 10, 25, 22, 59, tzinfo=UTC), date(2026, 10, 25)),
    ],
)
def test_a_day_is_one_of_the_teams_time_zone_be_it_of_23_or_25_hours(moment, day):
    assert day_of(moment, ZoneInfo("Europe/Berlin")) == day


def test_a_moment_without_a_time_zone_has_no_day():
    with pytest.raises(ValueError, match="time zone"):
        day_of(datetime(2026, 3, 1), UTC)  # noqa: DTZ001 - that is the point
