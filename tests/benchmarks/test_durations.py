"""The durations of calls, and the schedule that nobody beats."""

from __future__ import annotations

import pytest

from benchmarks.frame.durations import SPANS, list_schedule, seconds


def test_one_seat_does_one_job_after_the_other():
    assert list_schedule([3.0, 1.0, 2.0], seats=1) == 6.0


def test_with_a_seat_for_each_the_longest_job_ends_last():
    assert list_schedule([3.0, 1.0, 2.0], seats=3) == 3.0


def test_a_job_begins_as_soon_as_a_seat_is_free():
    # The first seat is busy until 5; the second does 1, 2 and 2 meanwhile, and then the last.
    assert list_schedule([5.0, 1.0, 2.0, 2.0, 4.0], seats=2) == 9.0


def test_the_order_in_which_jobs_begin_matters():
    assert list_schedule([1.0, 1.0, 4.0], seats=2) == 5.0
    assert list_schedule([4.0, 1.0, 1.0], seats=2) == 4.0


def test_no_jobs_take_no_time():
    assert list_schedule([], seats=8) == 0.0


@pytest.mark.parametrize("system", SPANS)
def test_a_call_takes_as_long_as_its_system_was_seen_to_take(system):
    least, most = SPANS[system]

    taken = [seconds("1", system, f"{number}?", scale=0.5) for number in range(100)]

    assert min(taken) >= least / 2
    assert max(taken) <= most / 2
    assert max(taken) - min(taken) > (most - least) / 4


def test_the_same_seed_gives_the_same_durations_and_another_seed_others():
    assert seconds("1", "gemini", "a?", 1.0) == seconds("1", "gemini", "a?", 1.0)
    assert seconds("1", "gemini", "a?", 1.0) != seconds("2", "gemini", "a?", 1.0)
