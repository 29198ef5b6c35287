"""Two database sessions at once; each race is brought about on purpose, once a session is seen to wait."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection, transaction

from capture import budgets, cooling, lanes, models, queue
from capture.budgets import OverBudgetError
from capture.models import Brand, CaptureJob, Charge, Check, Lane, Membership, Team
from capture.queue import claims
from capture.reports import board_of
from tests.factories import (
    ESTIMATES,
    answer,
    claim,
    claim_one,
    complete_one,
    error,
    make_check,
    make_job,
    make_order,
    make_team,
    make_user,
    prompts,
    stranger,
)
from tests.process.running import until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _lanes():
    lanes.make_missing()


@pytest.fixture
def elsewhere():
    """Run something in a session of its own: a thread, since Django gives each its own connection."""
    with ThreadPoolExecutor(16) as pool:

        def run(function: Callable[[], Any]) -> Future[Any]:
            def and_close() -> Any:
                try:
                    return function()
                finally:
                    connection.close()

            return pool.submit(and_close)

        yield run


@contextmanager
def held_open(elsewhere, work):
    """A transaction that has done its work and is not yet committed."""
    done, commit = threading.Event(), threading.Event()

    def hold():
        with transaction.atomic():
            result = work()
            done.set()
            assert commit.wait(30)
        return result

    future = elsewhere(hold)
    assert done.wait(30)
    try:
        yield future
    finally:
        commit.set()
        future.result(30)


def waiting_sessions():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return cursor.fetchone()[0]


def claim_once_free():
    """Claim as a worker does: a lane where somebody else is at is tried again."""
    tickets = []

    def claimed():
        try:
            tickets.extend(claim(seats=3, worker=stranger()))
        except lanes.LaneBusyError:
            return False
        return True

    until(claimed)
    return tickets


def test_fault_20_two_claimers_at_once_keep_to_the_limit_of_the_lane(elsewhere):
    make_check(prompts=prompts(10))
    Lane.objects.filter(name="openai").update(limit=3)

    with held_open(elsewhere, lambda: claim(seats=2)) as first, pytest.raises(lanes.LaneBusyError):
        claim(worker=stranger())

    assert len(first.result()) == 2
    assert len(claim(worker=stranger())) == 1
    assert CaptureJob.objects.held().count() == 3


def test_a_job_that_somebody_else_has_locked_is_passed_over(elsewhere):
    first, second = make_check(prompts=prompts(2)).jobs.order_by("pk")

    with held_open(elsewhere, lambda: CaptureJob.objects.select_for_update().get(pk=first.pk)):
        tickets = claim()

    assert [ticket.job for ticket in tickets] == [second.pk]


def test_a_claimer_that_freezes_holds_up_its_lane_and_no_other(elsewhere):
    make_check(prompts=prompts(2), providers=("chatgpt", "perplexity"))

    with held_open(elsewhere, lambda: lanes.lock("openai")):
        with pytest.raises(lanes.LaneBusyError):
            claim("openai")
        assert len(claim("perplexity")) == 2

    assert len(claim("openai")) == 2


def test_a_lane_that_somebody_is_at_is_told_of_a_wait_the_next_time_and_holds_up_no_loop(elsewhere):
    make_job()
    told = error("rate_limit_exceeded", wait=20, throttled=True, heard=True)

    with held_open(elsewhere, lambda: lanes.lock("openai")), pytest.raises(lanes.LaneBusyError):
        cooling.throttle("openai", told, 0.0)

    cooling.throttle("openai", told, 0.0)
    assert Lane.objects.get(name="openai").cooling_since is not None


def test_a_claimer_that_freezes_is_ended_by_the_database(elsewhere, monkeypatch):
    monkeypatch.setattr(models.lanes, "IDLE_TIMEOUT", timedelta(milliseconds=200))
    make_job()

    frozen = threading.Event()
    take = claims._lock

    def freeze(*args):
        if threading.current_thread() is not threading.main_thread() and not frozen.is_set():
            frozen.set()
            threading.Event().wait(1)
        return take(*args)

    monkeypatch.setattr(claims, "_lock", freeze)
    late = elsewhere(claim)
    assert frozen.wait(30)

    assert len(claim_once_free()) == 1
    assert late.exception(30) is not None


def test_a_slow_counter_cannot_see_less_than_what_was_committed_before_its_lock(elsewhere):
    """The count is a statement of its own after the lock; in one statement it would be older than the lock."""
    make_check(prompts=prompts(40))
    Lane.objects.filter(name="openai").update(limit=3)

    with held_open(elsewhere, lambda: lanes.lock("openai")):
        claimers = [elsewhere(claim_once_free) for _ in range(6)]

    assert sum(len(claimer.result(30)) for claimer in claimers) == 3


def test_fault_19_a_double_click_makes_one_check(elsewhere):
    user = make_user()
    team = make_team(user)
    order = make_order(prompts=prompts(5))
    estimates = {"chatgpt": Decimal("0.02")}

    with held_open(elsewhere, lambda: queue.enqueue(order, team, user, estimates)) as first:
        second = elsewhere(lambda: queue.enqueue(order, team, user, estimates))
        until(waiting_sessions)

    (check, new), (same, new_again) = first.result(), second.result(30)
    assert (new, new_again) == (True, False)
    assert check == same == Check.objects.get()
    assert CaptureJob.objects.count() == 5


def test_fault_22_two_last_jobs_that_finish_at_once_do_not_miss_each_other(elsewhere, simulated):
    check = make_check(prompts=prompts(2))
    first, second = claim(seats=2)

    with held_open(elsewhere, lambda: queue.complete(first, answer())):
        assert queue.complete(second, answer())
        assert board_of(check).open == 1

    assert board_of(check).open == 0


def test_two_first_requests_of_a_user_make_one_team(elsewhere):
    user = make_user()

    with held_open(elsewhere, lambda: Team.objects.of(user)) as first:
        second = elsewhere(lambda: Team.objects.of(user))
        until(waiting_sessions)

    assert first.result() == second.result(30)
    assert Membership.objects.count() == 1


def test_a_job_that_is_cancelled_while_it_is_being_started_is_one_or_the_other(elsewhere):
    job = make_job()

    with held_open(elsewhere, lambda: claim_one(job)):
        cancel = elsewhere(lambda: queue.cancel(CaptureJob.objects.filter(pk=job.pk)))
        until(waiting_sessions)

    assert cancel.result(30) == 0
    assert CaptureJob.objects.get().status == "running"


@pytest.fixture
def poor(only_chatgpt):
    """A user whose team has a budget for three questions."""
    user = make_user()
    Team.objects.filter(pk=make_team(user).pk).update(monthly_budget=Decimal("0.06"))
    return user


def test_two_checks_at_once_do_not_both_squeeze_into_a_budget(elsewhere, poor):
    with held_open(elsewhere, lambda: make_check(poor, prompts=prompts(2))) as first:
        second = elsewhere(lambda: make_check(poor, brand="Contoso", prompts=prompts(2)))
        until(waiting_sessions)

    refusal = second.exception(30)
    assert isinstance(refusal, OverBudgetError)
    assert str(refusal) == "This check would cost about $0.04; $0.02 of this month's $0.06 is left."
    assert list(Check.objects.all()) == [first.result()]
    assert Brand.objects.count() == 1


def test_a_check_and_jobs_that_are_asked_again_do_not_both_squeeze_into_a_budget(elsewhere, poor):
    again = make_check(poor, prompts=prompts(2)).jobs.all()
    queue.cancel(again)

    def ask_again():
        budgets.require(make_team(poor), budgets.expected(again), "Asking again")
        return queue.requeue(again)

    with held_open(elsewhere, ask_again) as first:
        second = elsewhere(lambda: make_check(poor, prompts=prompts(2)))
        until(waiting_sessions)

    assert first.result() == 2
    assert isinstance(second.exception(30), OverBudgetError)


def test_a_double_click_on_the_last_of_a_budget_makes_one_check(elsewhere, poor):
    order = make_order(prompts=prompts(3))

    def enqueue():
        return queue.enqueue(order, make_team(poor), poor, ESTIMATES)

    with held_open(elsewhere, enqueue) as first:
        second = elsewhere(enqueue)
        until(waiting_sessions)

    assert first.result()[0] == second.result(30)[0] == Check.objects.get()


def test_one_teams_check_does_not_wait_for_anothers(elsewhere, poor):
    with held_open(elsewhere, lambda: make_check(poor)):
        make_check()

    assert Check.objects.count() == 2


def test_an_answer_is_kept_while_its_teams_budget_is_being_looked_at(elsewhere, poor):
    """A charge points to the team: that must not need the team's lock."""
    job = make_job(user=poor)

    with held_open(elsewhere, lambda: make_check(poor)):
        complete_one(job)
        assert Charge.objects.count() == 1


def final_check() -> Check:
    """A check of which nothing is left but a place without an answer."""
    job = make_job()
    queue.cancel(CaptureJob.objects.all())
    return job.of_check


def places_of(check: Check) -> list[tuple[int, str, int]]:
    return list(check.captures.values_list("prompt_id", "provider", "sample"))


def test_two_people_ask_again_at_once_and_a_ticket_is_made_anew_once(elsewhere):
    check = final_check()
    check.jobs.all().delete()

    with held_open(elsewhere, lambda: queue.requeue_places(check, places_of(check), ESTIMATES)) as first:
        second = elsewhere(lambda: queue.requeue_places(check, places_of(check), ESTIMATES))
        until(waiting_sessions)

    assert (first.result(30), second.result(30)) == (1, 0)
    assert check.jobs.count() == 1


def test_a_check_that_is_asked_again_meanwhile_is_not_deleted(elsewhere):
    check = final_check()

    with held_open(elsewhere, lambda: queue.requeue(check.jobs.all())):
        deletion = elsewhere(lambda: queue.delete_check(check))
        until(waiting_sessions)

    with pytest.raises(queue.StillOpenError):
        deletion.result(30)
    assert Check.objects.exists()


def test_a_check_that_is_deleted_meanwhile_is_not_asked_again(elsewhere):
    check = final_check()

    with held_open(elsewhere, lambda: queue.delete_check(check)):
        again = elsewhere(lambda: queue.requeue_places(check, places_of(check), ESTIMATES))
        until(waiting_sessions)

    with pytest.raises(Check.DoesNotExist):
        again.result(30)
    assert not CaptureJob.objects.exists()


def test_an_answer_that_comes_while_its_check_is_deleted_stands_in_nobodys_way(elsewhere):
    job = make_job()
    ticket = claim_one(job)
    queue.fail(ticket, error())

    with held_open(elsewhere, lambda: queue.complete(ticket, answer())):
        deletion = elsewhere(lambda: queue.delete_check(job.of_check))
        until(waiting_sessions)

    deletion.result(30)
    assert not Check.objects.exists()
    assert Charge.objects.get().amount == Decimal("0.013")
