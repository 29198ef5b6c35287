"""States of a call by the clock, and how long calls take."""

from dataclasses import replace
from statistics import median

from simulator.calls import Call, State
from simulator.dice import dice, latency_s


def call(**changes):
    return replace(Call("c", "s", "p", request={}, seed=0, sample=0, created_at=100.0, due_at=110.0), **changes)


def test_a_call_goes_through_its_states_by_the_clock():
    states = [call().state(now) for now in (100.0, 101.4, 101.6, 109.9, 110.0, 1e9)]

    assert states == ["queued", "queued", "in_progress", "in_progress", "done", "done"]


def test_a_call_that_is_never_due_stays_in_progress():
    assert call(due_at=None).state(1e12) is State.IN_PROGRESS


def test_cancelled_is_for_good():
    assert call(cancelled_at=105.0).state(1e9) is State.CANCELLED


def test_a_call_with_no_latency_is_done_at_once():
    assert call(due_at=100.0).state(100.0) is State.DONE


def test_latencies_lie_round_their_median_and_within_bounds():
    drawn = [latency_s(dice(0, number), 6.0) for number in range(2_000)]

    assert 5.5 < median(drawn) < 6.5
    assert min(drawn) >= 2
    assert max(drawn) <= 40
    assert max(drawn) > 15


def test_dice_repeat():
    assert dice(1, "a").random() == dice(1, "a").random()
    assert dice(1, "a").random() != dice(2, "a").random()
    assert dice("ab", "c").random() != dice("a", "bc").random()
