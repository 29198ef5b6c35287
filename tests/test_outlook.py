"""What awaits a check that is only typed so far."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.core.cache import cache

from capture import heartbeat, lanes
from capture.models import Capture, Lane, Team
from capture.providers import registry
from capture.reports import Outlook, Wanted, outlook_for
from tests.factories import WORKER, complete_one, make_check, make_job, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]


@pytest.fixture(autouse=True)
def _at_work():
    cache.clear()
    lanes.make_missing()
    heartbeat.register(WORKER, list(registry.by_slug), 8)


@pytest.fixture
def user():
    return make_user("ada")


def measure(seconds: float = 60) -> None:
    """A call of ChatGPT took so long."""
    complete_one(make_job())
    Capture.objects.update(seconds=seconds)


def outlook(user, **fields) -> Outlook:
    usual: dict[str, Any] = {"prompts": 1, "providers": ("chatgpt",)}
    return outlook_for(Team.objects.of(user), Wanted(**usual | fields))


class TestWanted:
    def test_jobs_are_prompts_times_systems_times_samples(self):
        wanted = Wanted(prompts=3, providers=("chatgpt", "gemini"), samples=2)

        assert wanted.total == 12
        assert wanted.asked_less == []

    def test_a_system_that_takes_one_sample_counts_once(self):
        wanted = Wanted(prompts=3, providers=("chatgpt", "copilot"), samples=5)

        assert wanted.jobs == {"chatgpt": 15, "copilot": 3}
        assert wanted.asked_less == ["Copilot"]


class TestTime:
    def test_nobody_can_say_before_anything_was_measured(self, user):
        assert outlook(user).time == ""

    def test_as_long_as_calls_took_lately(self, user):
        measure(120)

        assert outlook(user).time == "about 2 minutes"

    def test_more_than_there_are_places_take_turns(self, user):
        measure(60)
        Lane.objects.filter(name="openai").update(limit=2)

        assert outlook(user, prompts=10).time == "about 5 minutes"  # eight wait, at two a minute, and the last one's

    def test_the_teams_own_jobs_go_first(self, user):
        measure(60)
        Lane.objects.filter(name="openai").update(limit=1)
        make_check(user, prompts=("One?", "Two?", "Three?"))

        assert outlook(user).time == "about 4 minutes"

    def test_teams_take_turns_so_that_a_large_check_of_others_counts_as_often_as_ours(self, user):
        measure(60)
        Lane.objects.filter(name="openai").update(limit=1)
        make_check(prompts=tuple(f"Question {number}?" for number in range(50)))

        assert outlook(user, prompts=2).time == "about 4 minutes"

    def test_a_system_that_is_held_has_no_time(self, user):
        measure()
        Lane.objects.filter(name="openai").update(paused=True)

        assert (outlook(user).time, outlook(user).held) == ("", ["ChatGPT"])
        assert outlook(user, providers=("gemini",)).held == []


class TestDollars:
    def test_the_simulators_answers_cost_nothing(self, user):
        assert outlook(user, prompts=10).dollars == 0

    @pytest.mark.usefixtures("only_chatgpt")
    def test_the_estimate_of_each_question(self, user):
        one, ten = outlook(user).dollars, outlook(user, prompts=5, samples=2).dollars

        assert one > 0
        assert ten == Decimal(10) * one
