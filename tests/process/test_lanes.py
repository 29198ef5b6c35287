"""Limits, waits and refusals of an account, over several real workers."""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager

import pytest

from capture import cooling, lanes
from capture.models import Attempt, CaptureJob, Lane, Status
from capture.models.clock import database_now
from tests.factories import make_check
from tests.process.running import simulator, until, worker

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _lanes():
    lanes.make_missing()


@pytest.fixture
def system():
    with simulator("--speed", "20") as running:
        yield running


@contextmanager
def workers(system, tmp_path, count=2, seats=8):
    with ExitStack() as stack:
        for number in range(count):
            log = tmp_path / f"{number}.log"
            stack.enter_context(worker("--concurrency", str(seats), log=log, SIMULATOR_URL=system.url))
        yield


def prompts(count):
    return tuple(f"Which espresso machine is best for {number} people?" for number in range(1, count + 1))


def lane():
    return Lane.objects.get(name="openai")


def asked(system):
    counts = system.counts()
    return counts["starts"]["chatgpt"]["total"], counts["by_system"]["chatgpt"]["polls"]


def until_none_is_under_way():
    until(lambda: not CaptureJob.objects.held().filter(lane="openai").exists())


def until_done(provider="chatgpt"):
    until(lambda: not CaptureJob.objects.open().filter(provider=provider).exists())


def test_fault_20_four_workers_never_have_more_calls_in_hand_than_the_limit(system, tmp_path):
    Lane.objects.update(limit=3)
    make_check(prompts=prompts(20), providers=("chatgpt",))

    with workers(system, tmp_path, count=4):
        until_done()

    assert system.counts()["by_system"]["chatgpt"]["max_in_hand"] == 3


def test_fault_27_one_wait_holds_for_all_workers_and_costs_no_other_job_an_attempt(system, tmp_path):
    check = make_check(prompts=prompts(12), providers=("chatgpt", "perplexity"))
    told = {"shape": "rate_limit_header", "wait_s": 10}
    slow = {"delay_s": 1}
    system.script(
        {"system": "chatgpt", "call": "start", "times": 1, "do": told},
        {"system": "chatgpt", "call": "start", "after": 7, "times": 1, "do": slow},
    )

    with workers(system, tmp_path):
        until(lambda: lane().cooling_since)
        until_none_is_under_way()
        before = asked(system)
        until(lambda: (lane().cooling_until - database_now()).total_seconds() < 0.5)
        assert asked(system) == before
        assert Attempt.objects.filter(job__provider="perplexity").count() == 12

        until(lambda: CaptureJob.objects.held().filter(lane="openai").exists())
        assert CaptureJob.objects.held().filter(lane="openai").count() == 1
        until_done()

    assert sorted(check.jobs.values_list("attempts", flat=True)) == [1] * 23 + [2]
    assert lane().cooling_since is None


def test_fault_38_eight_waits_of_one_burst_count_once(system, tmp_path):
    make_check(prompts=prompts(12), providers=("chatgpt",))
    told = {"shape": "rate_limit_header", "wait_s": 1}
    system.script({"system": "chatgpt", "call": "start", "times": 8, "do": told})

    with workers(system, tmp_path):
        until_done()

    assert Attempt.objects.filter(reason__contains="rate_limit").count() == 8
    assert lane().cooling_repeats == 0


def test_fault_28_a_refused_key_leaves_the_jobs_pending_until_it_works(system, tmp_path):
    check = make_check(prompts=prompts(12), providers=("chatgpt", "perplexity"))
    system.script({"system": "chatgpt", "call": "start", "times": None, "do": {"shape": "bad_key"}})

    with workers(system, tmp_path):
        until(lambda: lane().cooling_since)
        until_done("perplexity")
        until_none_is_under_way()
        assert set(check.jobs.filter(provider="chatgpt").values_list("status", "attempts")) == {(Status.PENDING, 0)}

        system.clear_script()
        cooling.resume(["openai"])
        until_done()

    assert set(check.jobs.values_list("status", "attempts")) == {(Status.DONE, 1)}


def test_a_lane_full_of_slow_calls_leaves_the_seats_to_the_others(system, tmp_path):
    Lane.objects.filter(name="openai").update(limit=3)
    make_check(prompts=prompts(10), providers=("chatgpt",))
    system.script({"system": "chatgpt", "call": "start", "times": None, "do": {"delay_s": 30}})

    with workers(system, tmp_path, count=1, seats=4):
        until(lambda: CaptureJob.objects.filter(status=Status.RUNNING, lane="openai").count() == 3)
        make_check(prompts=prompts(10), providers=("perplexity",))
        until_done("perplexity")

    assert CaptureJob.objects.filter(lane="openai", status=Status.RUNNING).count() == 3


def test_spaced_starts_are_spaced_over_all_workers(system, tmp_path):
    Lane.objects.filter(name="openai").update(least_seconds_between_starts=0.5)
    make_check(prompts=prompts(5), providers=("chatgpt",))
    began = time.monotonic()

    with workers(system, tmp_path):
        until(lambda: Attempt.objects.count() == 5)

    assert time.monotonic() - began >= 2
