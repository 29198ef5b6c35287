"""Whose job comes next: teams alternate, whatever each has asked for."""

from __future__ import annotations

import pytest

from capture import lanes, queue
from capture.models import CaptureJob, Lane, Status
from capture.models.clock import ClockTimestamp
from capture.queue import entry
from tests.factories import (
    claim,
    claim_one,
    error,
    fresh,
    make_check,
    make_team,
    make_user,
    prompts,
    stranger,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _lanes():
    lanes.make_missing()
    Lane.objects.update(limit=10_000)


@pytest.fixture
def small_batches(monkeypatch):
    """What comes back in two batches would be hundreds of jobs."""
    monkeypatch.setattr(entry, "AT_ONCE", 25)


def claimed_teams(count, lane="openai"):
    """The teams of the next jobs, each claimed by itself."""
    tickets = [ticket for _ in range(count) for ticket in claim(lane, seats=1, worker=stranger())]
    teams = dict(CaptureJob.objects.values_list("pk", "team"))
    return [teams[ticket.job] for ticket in tickets]


def fail_passing(jobs):
    """Each is asked, and has to be asked again; its time comes at once."""
    for ticket in claim(seats=len(jobs)):
        queue.ask_again(ticket, error(), 0)


@pytest.mark.parametrize("lane", ["openai", "perplexity"])
def test_fault_21_a_small_check_does_not_wait_for_a_large_one(lane):
    large, small = make_user(), make_user()
    make_check(large, prompts=prompts(1000), providers=("chatgpt", "perplexity"))
    claimed_teams(10, lane)
    make_check(small, prompts=prompts(4), providers=("chatgpt", "perplexity"))

    assert claimed_teams(8, lane).count(make_team(small).pk) == 4


def test_fault_21_jobs_that_come_back_at_once_do_not_go_before_a_newcomer(small_batches):
    large, small = make_user(), make_user()
    check = make_check(large, prompts=prompts(45))
    fail_passing(check.jobs.all())
    assert queue.promote_due() + queue.promote_due() == 45
    make_check(small, prompts=prompts(4))

    assert claimed_teams(8).count(make_team(small).pk) == 4


def test_fault_21_jobs_that_come_back_after_a_newcomer_came_do_not_go_before_it(small_batches):
    large, small = make_user(), make_user()
    check = make_check(large, prompts=prompts(45))
    fail_passing(check.jobs.all())
    make_check(small, prompts=prompts(4))
    while queue.promote_due():
        pass

    assert claimed_teams(8).count(make_team(small).pk) == 4


def test_fault_21_who_asks_one_by_one_gets_no_more_than_its_turn():
    large, dripping = make_user(), make_user()
    make_check(large, prompts=prompts(40))
    teams = []
    for _ in range(20):
        make_check(dripping)
        teams += claimed_teams(1)

    assert teams.count(make_team(dripping).pk) <= 11


def test_a_team_gets_no_turns_for_the_time_in_which_it_asked_nothing():
    busy, late = make_user(), make_user()
    make_check(busy, prompts=prompts(60))
    make_check(late)
    claimed_teams(40)
    make_check(late, prompts=prompts(20))

    assert claimed_teams(10).count(make_team(late).pk) == 5


def test_what_was_called_off_took_no_turn():
    moody, other = make_user(), make_user()
    queue.cancel(make_check(moody, prompts=prompts(50)).jobs.all())
    make_check(other, prompts=prompts(20))
    make_check(moody, prompts=prompts(20))

    assert claimed_teams(10).count(make_team(moody).pk) == 5


def test_cleanup_of_final_jobs_gives_nobody_an_earlier_turn():
    busy, other = make_user(), make_user()
    make_check(busy, prompts=prompts(10))
    claimed_teams(10)
    make_check(other, prompts=prompts(10))
    CaptureJob.objects.filter(team=make_team(busy)).delete()
    make_check(busy, prompts=prompts(10))

    assert claimed_teams(10).count(make_team(busy).pk) == 5


def test_the_jobs_of_one_check_come_in_their_order():
    check = make_check(prompts=prompts(5))

    assert [ticket.job for ticket in claim()] == sorted(check.jobs.values_list("pk", flat=True))


def test_a_lane_serves_the_turn_of_the_job_that_was_claimed_last():
    make_check(prompts=prompts(5))
    claim(seats=4)

    assert Lane.objects.get(name="openai").turn == 3


def test_one_answer_that_is_asked_again_by_hand_takes_the_turn_that_is_served_now():
    user = make_user()
    failed = make_check(user).jobs.get()
    queue.fail(claim_one(failed), error())
    make_check(user, prompts=prompts(20))
    claimed_teams(10)

    assert queue.requeue(CaptureJob.objects.filter(pk=failed.pk)) == 1
    assert fresh(failed).turn == Lane.objects.get(name="openai").turn
    assert [ticket.job for ticket in claim(seats=1)] == [failed.pk]


def test_many_that_are_asked_again_take_the_next_turns_of_their_team():
    large, small = make_user(), make_user()
    failed = make_check(large, prompts=prompts(30))
    for ticket in claim(seats=30):
        queue.fail(ticket, error())
    make_check(small, prompts=prompts(4))

    assert queue.requeue(failed.jobs.all()) == 30
    assert set(failed.jobs.values_list("status", "attempts", "reason", "finished_at")) == {
        (Status.PENDING, 0, "", None)
    }
    assert claimed_teams(8).count(make_team(small).pk) == 4


def test_what_comes_back_goes_behind_what_its_team_has_asked_since():
    check = make_check(prompts=prompts(3))
    check.jobs.update(run_after=ClockTimestamp())

    assert queue.promote_due() == 3
    assert sorted(check.jobs.values_list("turn", flat=True)) == [3, 4, 5]
