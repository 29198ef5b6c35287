"""What happens after a reply or an error."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from capture.providers.replies import Answered, Kind, Pending, ProviderError, Scope
from capture.retry import AskAgain, Complete, GiveUp, Limits, PutBack, Situation, Wait, backoff, decide, poll_pace

LIMITS = Limits(attempts=5, unknown_retries=1, remote_deadline=86_400)


def situation(**fields):
    usual = {"attempts": 1, "unknowns": 0, "polls": 0, "remote_id": None, "age": 0.0}
    return Situation(**usual | fields)


def trouble(kind=Kind.TRANSIENT, **fields):
    return ProviderError(kind, "overloaded", "busy", **fields)


def decide_on(came, **fields):
    return decide(came, situation(**fields), LIMITS, Random(7))


def test_a_started_call_is_waited_for():
    decision = decide_on(Pending("resp_1"))

    assert isinstance(decision, Wait)
    assert decision.remote_id == "resp_1"
    assert 2 <= decision.after <= 2.2


def test_a_systems_own_pace_goes_before_ours():
    decision = decide_on(Pending("resp_1", after=30))

    assert isinstance(decision, Wait)
    assert 30 <= decision.after <= 33


def test_a_final_reply_completes():
    reply = Answered(text="yes")

    assert decide_on(reply) == Complete(reply)


def test_polls_come_ever_more_seldom():
    paces = [poll_pace(polls, age) for polls, age in [(0, 0), (1, 2), (2, 5), (3, 10), (4, 18), (9, 300), (99, 80_000)]]

    assert paces == [2, 3, 5, 8, 10, 30, 600]


def test_a_passing_error_on_a_start_asks_again():
    decision = decide_on(trouble(wait=48.0))

    assert isinstance(decision, AskAgain)
    assert 48 <= decision.after <= 54


def test_a_lasting_error_gives_up_at_once():
    for scope in (Scope.REQUEST, Scope.MODEL):
        error = trouble(Kind.FATAL, scope=scope)

        assert decide_on(error) == GiveUp(error)


@pytest.mark.parametrize("scope", [Scope.KEY, Scope.MONEY, Scope.REGION])
def test_fault_28_a_trouble_of_the_account_spends_no_attempt(scope):
    error = trouble(Kind.FATAL, scope=scope)

    assert decide_on(error, attempts=5) == PutBack(error)
    assert isinstance(decide_on(replace(error, ended=True), remote_id="resp_1", attempts=5), PutBack)


def test_a_job_that_its_account_singles_out_fails_by_it():
    error = trouble(Kind.FATAL, scope=Scope.KEY)

    assert decide_on(error, singled_out=True) == GiveUp(error)


def test_the_last_attempt_gives_up():
    error = trouble()

    assert isinstance(decide_on(error, attempts=4), AskAgain)
    assert decide_on(error, attempts=5) == GiveUp(error)


def test_fault_29_an_unknown_outcome_is_asked_again_once_only():
    error = trouble(maybe_charged=True)

    assert isinstance(decide_on(error), AskAgain)
    assert decide_on(error, attempts=2, unknowns=1) == GiveUp(error)


def test_fault_13_no_error_on_a_poll_gives_the_call_up():
    for error in (trouble(), trouble(Kind.FATAL), trouble(Kind.FATAL, scope=Scope.KEY), trouble(maybe_charged=True)):
        decision = decide_on(error, remote_id="resp_1", attempts=5, unknowns=1, polls=4, age=20)

        assert isinstance(decision, Wait)
        assert decision.remote_id == "resp_1"
        assert decision.reason == "overloaded"
        assert decision.after >= 10


def test_a_call_that_its_system_ended_spends_the_attempt():
    error = trouble(ended=True)

    assert isinstance(decide_on(error, remote_id="resp_1"), AskAgain)
    assert decide_on(error, remote_id="resp_1", attempts=5) == GiveUp(error)


def test_fault_30_a_live_call_is_given_up_after_a_day_and_stays_live():
    decision = decide_on(Pending("resp_1"), remote_id="resp_1", age=86_400.0, polls=300)

    assert isinstance(decision, GiveUp)
    assert decision.live
    assert decision.error.reason == "remote_deadline"


@pytest.mark.parametrize("attempts", [1, 2, 5, 50, 100_000])
def test_backoff_is_bounded_whatever_the_attempt(attempts):
    spread = min(120, 2 * 2 ** min(attempts - 1, 20))

    waits = [backoff(attempts, None, Random(seed)) for seed in range(200)]

    assert all(0 <= wait <= spread for wait in waits)
    assert max(waits) > spread * 0.8
    assert min(waits) < spread * 0.2


def test_a_system_cannot_ask_for_more_than_a_day():
    assert backoff(1, 1e9, Random(1)) <= 86_400 + 120


def test_a_poll_cannot_make_another_call_of_the_one_that_was_asked_after():
    decision = decide_on(Pending("resp_other"), remote_id="resp_1", polls=1)

    assert isinstance(decision, Wait)
    assert decision.remote_id == "resp_1"


@pytest.mark.parametrize("asked", [0, 0.001, -3])
def test_a_system_cannot_ask_to_be_polled_without_a_pause(asked):
    decision = decide_on(Pending("resp_1", after=asked), remote_id="resp_1", polls=1)

    assert isinstance(decision, Wait)
    assert decision.after >= 1
