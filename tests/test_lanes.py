"""How much of one account may be asked now."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models import F

from capture import lanes, queue
from capture.models import CaptureJob, Lane
from capture.models.clock import ClockTimestamp
from tests.factories import claim, make_check, prompts, stranger

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _lanes():
    lanes.make_missing()


def change(**fields):
    Lane.objects.filter(name="openai").update(**fields)


def test_a_lane_has_the_limit_of_the_settings(settings):
    assert {lane.name: lane.limit for lane in Lane.objects.all()} == settings.CAPTURE_LANE_LIMITS


def test_a_lane_takes_as_many_calls_as_its_limit_says():
    change(limit=3)
    make_check(prompts=prompts(8))

    assert len(claim()) == 3
    assert claim(worker=stranger()) == []


def test_a_full_lane_holds_up_no_other():
    change(limit=1)
    make_check(prompts=prompts(3), providers=("chatgpt", "perplexity"))
    claim("openai")

    assert claim("openai") == []
    assert len(claim("perplexity")) == 3


def test_a_paused_lane_starts_nothing_and_looks_after_its_calls():
    make_check(prompts=prompts(2))
    (ticket,) = claim(seats=1)
    queue.wait(ticket, "resp_1", 0)
    change(paused=True)

    (poll,) = claim()

    assert poll.remote_id == "resp_1"


def test_a_lane_that_is_switched_off_is_left_alone():
    make_check()
    change(enabled=False)

    assert claim() == []


def test_starts_of_a_lane_are_spaced():
    change(least_seconds_between_starts=10)
    make_check(prompts=prompts(4))

    assert len(claim()) == 1
    assert claim(worker=stranger()) == []

    change(last_start_at=F("last_start_at") - timedelta(seconds=11))
    assert len(claim(worker=stranger())) == 1


def test_looking_after_calls_is_not_spaced():
    make_check(prompts=prompts(3))
    tickets = claim()
    for ticket in tickets:
        queue.wait(ticket, f"resp_{ticket.job}", 0)
    change(least_seconds_between_starts=10, last_start_at=ClockTimestamp())

    assert len(claim()) == 3


def test_the_loop_knows_when_the_next_start_is_allowed():
    change(least_seconds_between_starts=10)
    make_check(prompts=prompts(2))
    claim()

    assert queue.look(["openai"]).until_due == pytest.approx(10, abs=2)


def test_a_call_that_takes_long_gives_its_place_to_another():
    change(limit=1)
    make_check(prompts=prompts(2))
    (ticket,) = claim()
    queue.wait(ticket, "resp_1", 60)

    assert claim() == []
    CaptureJob.objects.filter(pk=ticket.job).update(asked_at=F("asked_at") - timedelta(minutes=31))
    assert len(claim()) == 1
