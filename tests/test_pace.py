"""How long it takes, reckoned from how long calls took lately."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone

from capture.models import Capture
from capture.reports import pace
from capture.reports.pace import Load, in_words, seconds_left, seconds_of
from capture.reports.standings import Standing
from tests.factories import complete_one, make_job

NOW = timezone.now()


def lane(**fields) -> Standing:
    usual: dict[str, Any] = {
        "now": NOW,
        "name": "openai",
        "enabled": True,
        "paused": False,
        "limit": 10,
        "in_flight": 0,
        "cooling_since": None,
        "cooling_until": None,
        "cooling_reason": "",
        "spacing": 0.0,
        "next_start": None,
    }
    return Standing(**usual | fields)


class TestFormula:
    @pytest.mark.parametrize(
        ("line", "fields", "seconds"),
        [
            (0, {"in_flight": 3}, 30),  # the last ones are being worked at
            (1, {}, 30),
            (10, {}, 30),  # all find a place
            (11, {}, 33),  # the last waits for the first place that comes free
            (100, {}, 300),
            (100, {"in_flight": 10}, 330),
            (100, {"in_flight": 15}, 330),  # the limit was lowered meanwhile
            (10, {"spacing": 6.0}, 90),
        ],
    )
    def test_a_lane_is_a_queue_with_as_many_servers_as_places(self, line, fields, seconds):
        assert seconds_left(Load((30.0,), line), lane(**fields)) == pytest.approx(seconds)

    def test_calls_of_several_systems_in_a_lane_count_by_their_mean(self):
        assert seconds_left(Load((10.0, 10.0, 40.0), 1), lane()) == pytest.approx(20)

    def test_a_check_takes_as_long_as_its_slowest_lane(self):
        loads = {"openai": Load((10.0,), 1), "gemini": Load((50.0,), 1)}

        assert seconds_of(loads, {"openai": lane(), "gemini": lane(name="gemini")}) == pytest.approx(50)

    @pytest.mark.parametrize(
        ("loads", "lanes"),
        [
            ({}, {"openai": lane()}),
            ({"openai": Load((), 1)}, {"openai": lane()}),
            ({"openai": Load((10.0,), 1)}, {}),
            ({"openai": Load((10.0,), 1)}, {"openai": lane(paused=True)}),
            ({"openai": Load((10.0,), 1)}, {"openai": lane(enabled=False)}),
        ],
        ids=["nothing wanted", "not measured", "no lane", "paused", "off"],
    )
    def test_what_cannot_be_told_is_not_told(self, loads, lanes):
        assert seconds_of(loads, lanes) is None


class TestWords:
    @pytest.mark.parametrize(
        ("seconds", "words"),
        [
            (0, "less than a minute"),
            (29, "less than a minute"),
            (31, "about 1 minute"),
            (330, "about 6 minutes"),
            (5_300, "about 88 minutes"),
            (5_400, "about 2 hours"),
            (90_000, "about 25 hours"),
        ],
    )
    def test_they_are_as_exact_as_an_estimate_can_be(self, seconds, words):
        assert in_words(seconds) == words


@pytest.mark.django_db
@pytest.mark.usefixtures("simulated")
class TestLengths:
    @pytest.fixture(autouse=True)
    def _afresh(self):
        cache.clear()

    def answered(self, **fields) -> None:
        job = make_job()
        complete_one(job)
        Capture.objects.filter(prompt=job.prompt_id).update(**fields)

    def test_the_mean_of_each_system_real_and_simulated_apart(self):
        self.answered(seconds=10)
        self.answered(seconds=30)
        self.answered(seconds=5, simulated=False)

        assert pace.lengths() == {("chatgpt", True): 20, ("chatgpt", False): 5}

    def test_copies_count_nothing_and_days_as_long_as_a_place_is_held(self):
        self.answered(seconds=1, cached=True)
        self.answered(seconds=80_000)

        assert pace.lengths() == {("chatgpt", True): 1_800}

    def test_only_the_last_ones_count(self, monkeypatch):
        monkeypatch.setattr(pace, "RECENT", 1)
        self.answered(seconds=10)
        self.answered(seconds=30)

        assert pace.lengths() == {("chatgpt", True): 30}

    def test_it_is_measured_now_and_then(self, django_assert_num_queries):
        self.answered(seconds=10)

        with django_assert_num_queries(1):
            assert pace.lengths() == pace.lengths()
