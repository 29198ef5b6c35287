"""What one call learns of its account holds for all: waits, refused keys, probes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models import F

from capture import cooling, lanes, queue
from capture.models import CaptureJob, Lane, Status
from capture.models.clock import ClockTimestamp, database_now
from capture.providers.replies import Kind, Scope
from tests.factories import ACCOUNT, PATIENCE, answer, claim, error, fresh, make_check, start_one, stranger

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _lanes():
    lanes.make_missing()


def lane(name="openai"):
    return Lane.objects.get(name=name)


def seconds_left(name="openai"):
    return (lane(name).cooling_until - database_now()).total_seconds()


def told_to_wait(wait=None):
    return error("rate_limit_exceeded", wait=wait, heard=True, throttled=True)


def refused(scope=Scope.KEY):
    return error("invalid_api_key", kind=Kind.FATAL, scope=scope, heard=True)


def time_passes(**span):
    """For the lanes: what is in the future comes nearer."""
    past = timedelta(**span)
    Lane.objects.update(cooling_since=F("cooling_since") - past, cooling_until=F("cooling_until") - past)


def start_next():
    (ticket,) = claim(seats=1)
    assert queue.start(ticket, stranger(), ACCOUNT, PATIENCE)
    return ticket


def prompts(count):
    return tuple(f"{number}?" for number in range(count))


def test_fault_27_a_lane_that_was_told_to_wait_starts_nothing_and_looks_after_nothing():
    check = make_check(prompts=prompts(3))
    queue.wait(start_next(), "resp_1", 0)
    cooling.throttle("openai", told_to_wait(20), 0.1)

    assert claim() == []
    assert 19 < seconds_left() <= 20
    assert set(check.jobs.values_list("attempts", flat=True)) == {0, 1}


def test_other_lanes_go_on_while_one_cools():
    make_check(providers=("chatgpt", "perplexity"))
    cooling.throttle("openai", told_to_wait(20), 0.1)

    assert claim("openai") == []
    assert len(claim("perplexity")) == 1


def test_after_the_cooling_one_probe_goes_and_its_reply_lets_the_rest_follow():
    make_check(prompts=prompts(5))
    cooling.throttle("openai", told_to_wait(20), 0.1)
    time_passes(seconds=21)

    (probe,) = claim()
    assert probe.probe
    assert claim(worker=stranger()) == []

    assert cooling.reopen("openai", probe)
    followers = claim(seats=2)
    assert len(followers) == 2
    assert not any(ticket.probe for ticket in followers)
    assert (lane().cooling_since, lane().cooling_reason) == (None, "")


def test_a_reply_to_a_call_from_before_does_not_open_a_lane():
    make_check(prompts=prompts(5))
    (before,) = claim(seats=1)
    cooling.throttle("openai", told_to_wait(20), 0.1)

    assert not cooling.reopen("openai", before)
    assert claim() == []


def test_a_probe_whose_worker_is_gone_is_followed_by_another():
    make_check(prompts=prompts(5))
    cooling.throttle("openai", told_to_wait(1), 0.1)
    time_passes(seconds=2)
    (probe,) = claim()

    queue.release(probe)

    (other,) = claim(worker=stranger())
    assert other.probe


def test_a_start_is_the_better_probe():
    make_check(prompts=prompts(2))
    queue.wait(start_next(), "resp_1", 0)
    cooling.throttle("openai", told_to_wait(1), 0.1)
    time_passes(seconds=2)

    (probe,) = claim()

    assert probe.remote_id is None


def test_fault_38_a_lane_full_of_calls_that_wait_is_probed_by_looking_after_one():
    Lane.objects.filter(name="openai").update(limit=2)
    make_check(prompts=prompts(4))
    for number in range(2):
        queue.wait(start_next(), f"resp_{number}", 60)
    CaptureJob.objects.waiting().update(run_after=ClockTimestamp())
    cooling.throttle("openai", told_to_wait(1), 0.1)
    time_passes(seconds=2)

    (probe,) = claim()

    assert probe.remote_id is not None


def test_fault_38_a_burst_counts_once():
    for ago in (3.0, 2.5, 2.0, 0.5, 0.1, 3.0, 1.0, 2.0):
        cooling.throttle("openai", told_to_wait(), ago)

    assert lane().cooling_repeats == 0
    assert seconds_left() <= cooling.FIRST_COOLING


def test_an_account_that_is_told_to_wait_again_by_a_later_call_waits_longer():
    waits = []
    for _ in range(4):
        cooling.throttle("openai", told_to_wait(), 0.0)
        waits.append(round(seconds_left()))
        time_passes(seconds=waits[-1] + 1)

    assert waits == [2, 4, 8, 16]


def test_own_waits_are_bounded():
    for _ in range(30):
        cooling.throttle("openai", told_to_wait(), 0.0)
        time_passes(seconds=301)

    cooling.throttle("openai", told_to_wait(), 0.0)

    assert seconds_left() == pytest.approx(cooling.LONGEST_COOLING, abs=1)


def test_a_trouble_long_after_the_last_one_is_a_first_one():
    for _ in range(3):
        cooling.throttle("openai", told_to_wait(), 0.0)
        time_passes(seconds=60)
    Lane.objects.update(cooling_since=None)
    time_passes(minutes=10)

    cooling.throttle("openai", told_to_wait(), 0.0)

    assert lane().cooling_repeats == 0


def test_the_longest_wait_of_a_burst_counts():
    cooling.throttle("openai", told_to_wait(60), 0.1)
    cooling.throttle("openai", told_to_wait(5), 0.1)

    assert seconds_left() > 55


@pytest.mark.parametrize("scope", [Scope.KEY, Scope.MONEY, Scope.REGION])
def test_fault_28_a_trouble_of_the_account_stops_the_lane_for_a_quarter_of_an_hour(scope):
    check = make_check(prompts=prompts(3))
    ticket = start_next()

    cooling.shut("openai", refused(scope))
    queue.put_back(ticket, refused(scope))

    assert seconds_left() == pytest.approx(900, abs=2)
    assert lane().cooling_reason == "invalid_api_key"
    assert set(check.jobs.values_list("status", "attempts")) == {(Status.PENDING, 0)}
    assert claim() == []


def test_fault_28_however_long_a_key_is_refused_no_job_fails_by_it():
    check = make_check(prompts=prompts(2))
    for _ in range(20):
        probe = start_next()
        assert not cooling.singles_out(probe, refused())
        cooling.shut("openai", refused())
        queue.put_back(probe, refused())
        time_passes(minutes=16)

    assert set(check.jobs.values_list("status", "attempts")) == {(Status.PENDING, 0)}


def test_another_job_is_the_next_probe():
    first, second = make_check(prompts=prompts(2)).jobs.order_by("pk")
    ticket = start_next()
    cooling.shut("openai", refused())
    queue.put_back(ticket, refused())
    time_passes(minutes=16)

    (probe,) = claim()

    assert (ticket.job, probe.job) == (first.pk, second.pk)


def test_a_job_that_is_refused_while_others_are_answered_is_the_trouble_itself():
    poison, other = make_check(prompts=prompts(2)).jobs.order_by("pk")
    ticket = start_next()
    cooling.shut("openai", refused())
    queue.put_back(ticket, refused())
    time_passes(minutes=16)
    probe = start_next()
    cooling.reopen("openai", probe)
    queue.complete(probe, answer())

    again = start_next()

    assert (ticket.job, probe.job, again.job) == (poison.pk, other.pk, poison.pk)
    assert cooling.singles_out(again, refused())
    assert not cooling.singles_out(again, error("insufficient_quota", kind=Kind.FATAL, scope=Scope.MONEY))


def test_a_call_that_is_looked_after_stays_live_while_its_key_is_refused():
    job = make_check().jobs.get()
    queue.wait(start_one(job), "resp_1", 0)
    cooling.shut("openai", refused())

    assert claim() == []
    assert (fresh(job).status, fresh(job).remote_id, fresh(job).attempts) == (Status.WAITING, "resp_1", 1)


def test_staff_can_let_a_lane_go_on_at_once():
    make_check(prompts=prompts(3))
    cooling.shut("openai", refused())
    Lane.objects.filter(name="openai").update(paused=True)

    assert cooling.resume(["openai"])
    assert not cooling.resume(["openai"])
    assert len(claim()) == 3


def test_a_lane_that_goes_on_by_hand_remembers_no_repeats():
    cooling.throttle("openai", told_to_wait(), 0.0)
    cooling.resume(["openai"])
    cooling.throttle("openai", told_to_wait(), 5.0)

    assert lane().cooling_repeats == 0


def test_the_loop_knows_when_a_lane_ends_to_cool():
    cooling.throttle("openai", told_to_wait(20), 0.1)

    assert queue.look(["openai"]).until_due == pytest.approx(20, abs=1)
    assert queue.look(["perplexity"]).until_due is None
