"""What one call learns of its account holds for all: waits, refused keys, probes."""

from __future__ import annotations

from datetime import timedelta
from random import Random

import pytest
from django.db.models import F

from capture import cooling, lanes, queue
from capture.calls import Result
from capture.models import CaptureJob, Lane, Status
from capture.models.clock import ClockTimestamp, database_now
from capture.providers.replies import Kind, Pending, Scope
from capture.retry import Limits, PutBack, Situation, decide
from tests.factories import (
    answer,
    claim,
    claim_one,
    error,
    fresh,
    hand_back,
    make_check,
    prompts,
    stranger,
    unknown_error,
)

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


def take_calls(count):
    """Since the last cooling, half of them still in hand."""
    CaptureJob.objects.open().delete()
    CaptureJob.objects.update(asked_at=ClockTimestamp() - timedelta(hours=1))
    make_check(prompts=prompts(count)) if count else None
    for number in range(count):
        ticket = start_next()
        queue.complete(ticket, answer()) if number % 2 else queue.wait(ticket, f"resp_{number}", 2.0)


def start_next():
    (ticket,) = claim(seats=1)
    return ticket


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
    claim()

    hand_back()

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
        time_passes(seconds=seconds_left() + 1)

    cooling.throttle("openai", told_to_wait(), 0.0)

    assert seconds_left() == pytest.approx(cooling.LONGEST_COOLING, abs=1)


def test_an_account_that_takes_many_calls_between_two_troubles_waits_less_again():
    waits = []
    for taken in (0, 0, 0, 4, 5, 5, 1, 7, 9):
        cooling.throttle("openai", told_to_wait(), 0.0)
        waits.append(round(seconds_left()))
        time_passes(seconds=waits[-1] + 1)
        take_calls(taken)

    assert waits == [2, 4, 8, 16, 16, 8, 4, 4, 2]


def test_a_trouble_long_after_the_last_one_is_a_first_one():
    for _ in range(3):
        cooling.throttle("openai", told_to_wait(), 0.0)
        time_passes(seconds=10)
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


def refuse(ticket, trouble=None):
    """As the loop records it."""
    trouble = trouble or refused()
    assert not cooling.singles_out(ticket, trouble)
    cooling.shut("openai", trouble)
    queue.put_back(ticket, trouble)
    time_passes(minutes=16)


def answer_next():
    ticket = start_next()
    cooling.reopen("openai", ticket)
    queue.complete(ticket, answer())
    return ticket


def test_a_job_that_is_refused_while_others_are_answered_is_the_trouble_itself():
    jobs = list(make_check(prompts=prompts(4)).jobs.order_by("pk"))
    poison = start_next()
    refuse(poison)
    answer_next()
    CaptureJob.objects.filter(pk=poison.job).update(turn=0)
    refuse(start_next())
    answer_next()
    CaptureJob.objects.filter(pk=poison.job).update(turn=0)

    again = start_next()

    assert again.job == poison.job == jobs[0].pk
    assert cooling.singles_out(again, refused())
    assert not cooling.singles_out(again, error("insufficient_quota", kind=Kind.FATAL, scope=Scope.MONEY))


def test_jobs_of_an_earlier_outage_are_not_to_blame_for_the_next():
    make_check(prompts=prompts(5))
    for ticket in [start_next() for _ in range(3)]:
        refuse(ticket)
    answer_next()
    for _ in range(3):
        refuse(start_next())

    assert set(CaptureJob.objects.open().values_list("status", flat=True)) == {Status.PENDING}
    assert CaptureJob.objects.open().count() == 4


def test_an_account_that_accepts_calls_and_then_refuses_to_work_them_fails_no_job():
    make_check(prompts=prompts(6))
    empty = error("insufficient_quota", kind=Kind.FATAL, scope=Scope.MONEY, ended=True, heard=True)
    for _ in range(12):
        probe = start_next()
        cooling.reopen("openai", probe)
        queue.wait(probe, f"resp_{probe.attempt}", 0)
        (poll,) = claim(seats=1)
        refuse(poll, empty)

    assert set(CaptureJob.objects.values_list("status", "attempts")) == {(Status.PENDING, 0)}
    assert database_now() - lane().cooling_since > timedelta(hours=2)


def test_an_unknown_outcome_stays_counted_when_the_account_is_refused_in_between():
    job = make_check().jobs.get()
    queue.ask_again(start_next(), unknown_error(), 0)
    queue.promote_due()
    refuse(start_next())

    assert fresh(job).unknowns == 1
    assert start_next().unknowns == 1


def test_a_call_from_before_its_job_was_asked_anew_can_be_put_back():
    job = make_check().jobs.get()
    ticket = start_next()
    queue.wait(ticket, "resp_1", 0)
    (poll,) = claim()
    queue.fail(poll, error("remote_deadline"), live=True)
    queue.requeue(CaptureJob.objects.filter(pk=job.pk))
    (poll,) = claim()

    assert queue.put_back(poll, error("insufficient_quota", kind=Kind.FATAL, scope=Scope.MONEY, ended=True))
    assert (fresh(job).status, fresh(job).attempts, fresh(job).remote_id) == (Status.PENDING, 0, None)


def test_a_call_that_alone_may_not_be_looked_after_does_not_shut_an_account_that_answers_others():
    job = make_check().jobs.get()
    queue.wait(start_next(), "resp_1", 0)
    (poll,) = claim()
    assert not cooling.singles_out(poll, refused())
    queue.wait(poll, "resp_1", 0, "invalid_api_key")
    Lane.objects.filter(name="openai").update(opened_at=ClockTimestamp())

    (poll,) = claim()

    assert poll.job == job.pk
    assert cooling.singles_out(poll, refused())


@pytest.mark.parametrize("came", [answer(), Pending("resp_1"), error("invalid", kind=Kind.FATAL, heard=True)])
def test_any_word_of_the_system_to_a_probe_opens_the_lane(came):
    cooling.throttle("openai", told_to_wait(1), 0.1)
    time_passes(seconds=2)
    make_check()

    cooling.learn(Result(start_next(), came, 0.1), singled_out=False)

    assert lane().cooling_since is None


@pytest.mark.parametrize("came", [error("timeout", maybe_charged=True), refused(), told_to_wait()])
def test_a_probe_that_is_lost_refused_or_told_to_wait_opens_nothing(came):
    cooling.throttle("openai", told_to_wait(1), 0.1)
    time_passes(seconds=2)
    make_check()

    cooling.learn(Result(start_next(), came, 0.1), singled_out=False)

    assert lane().cooling_since is not None


def test_fault_38_waits_that_calls_in_hand_are_told_of_belong_to_the_time_when_these_began():
    check = make_check(prompts=prompts(8))
    tickets = claim()
    for ticket in tickets:
        queue.wait(ticket, f"resp_{ticket.job}", 0)
    check.jobs.update(asked_at=F("asked_at") - timedelta(minutes=1))
    over = error("rate_limit_exceeded", ended=True, heard=True, throttled=True)
    for poll in claim():
        cooling.learn(Result(poll, over, 0.1), singled_out=False)
        time_passes(seconds=3)

    assert lane().cooling_repeats == 0


def test_a_system_that_cannot_be_reached_costs_no_job_an_attempt():
    job = make_check().jobs.get()
    away = error("unreachable", unsent=True)
    for _ in range(8):
        probe = start_next()
        cooling.learn(Result(probe, away, 0.1), singled_out=False)
        assert isinstance(decide(away, situation_of(probe), LIMITS, Random(1)), PutBack)
        queue.put_back(probe, away)
        time_passes(minutes=6)

    assert (fresh(job).status, fresh(job).attempts) == (Status.PENDING, 0)


LIMITS = Limits(attempts=5, unknown_retries=1, remote_deadline=86_400)


def situation_of(ticket):
    return Situation(ticket.attempts, ticket.unknowns, ticket.polls, ticket.remote_id, ticket.age)


def test_an_old_cooling_is_none_when_the_clock_goes_back():
    make_check()
    Lane.objects.filter(name="openai").update(cooling_until=ClockTimestamp() + timedelta(hours=1))

    assert queue.look(["openai"]).ready == {"openai"}
    assert len(claim()) == 1


def test_a_pause_that_ends_is_no_cooling_that_ended():
    Lane.objects.filter(name="openai").update(paused=True)
    cooling.resume(["openai"])
    cooling.throttle("openai", told_to_wait(), 0.0)

    assert lane().cooling_repeats == 0


def test_a_call_that_is_looked_after_stays_live_while_its_key_is_refused():
    job = make_check().jobs.get()
    queue.wait(claim_one(job), "resp_1", 0)
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
