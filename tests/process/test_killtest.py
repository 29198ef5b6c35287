"""The kill test itself: that it passes, and that it would tell if something was wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from capture.providers import registry
from tests.killtest import __main__ as program
from tests.killtest import ledgers, plan
from tests.killtest.arguments import Arguments
from tests.killtest.ledgers import Attempt, Books, Job
from tests.killtest.logs import Logs, Recovery, recovery
from tests.killtest.points import POINTS
from tests.process.running import ROOT, until

QUESTION = plan.question(1)
FIRST, SECOND = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"
DEAD = "00000000-0000-4000-8000-00000000000d"


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_fault_1_20_kills_and_a_database_crash_lose_nothing_and_double_nothing(tmp_path):
    command = [sys.executable, "-m", "tests.killtest", "--kills", "20", "--workers", "3", "--database-crashes", "1"]
    environment = os.environ | {"AICONTROL_DATA": str(tmp_path / "data"), "AICONTROL_FSYNC": "off"}

    process = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=280, check=False
    )

    said = process.stdout + process.stderr
    assert process.returncode == 0, said
    assert "| workers killed | 20, 3 at work at once |" in said
    assert "All is right." in said


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells a process that its parent is gone")
def test_a_kill_test_that_is_killed_leaves_no_process_behind(tmp_path):
    command = [sys.executable, "-m", "tests.killtest", "--kills", "1000", "--workers", "2"]
    environment = os.environ | {"AICONTROL_DATA": str(tmp_path), "AICONTROL_FSYNC": "off"}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            until(lambda: (tmp_path / "logs" / "worker-0003.log").exists())  # one of the first two was killed
            assert {"postgres", "simulator", "runworkers"} <= programs(tmp_path)
        finally:
            process.kill()

    until(lambda: programs(tmp_path) == set())


def programs(folder: Path) -> set[str]:
    """Which of the programs of a kill test run, that has its data in this folder."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            said = (process / "cmdline").read_text(errors="replace")
            if str(folder) in said + (process / "environ").read_text(errors="replace"):
                known = ("postgres", "simulator", "runworkers", "doomed", "caretaker")
                found.add(next((name for name in known if name in said), said))
    return found


# ---------------------------------------------------------------------------------------------------------- the plan


def test_a_plan_is_the_same_for_the_same_seed_and_another_for_another():
    arguments = Arguments(kills=30, workers=2, jobs=100, seed=7, crashes=2)

    assert plan.make(arguments, 5) == plan.make(arguments, 5)
    assert plan.make(arguments, 5) != plan.make(replace(arguments, seed=8), 5)


def test_20_kills_come_at_every_named_point():
    planned = plan.make(Arguments(kills=20, workers=2, jobs=100, seed=1, crashes=5), 5)

    assert {kill.point for kill in planned.kills} == {*POINTS, None}
    assert sum(each in plan.CRASHES for some in planned.interruptions.values() for each in some) == 5


def test_no_two_questions_are_alike():
    planned = plan.make(Arguments(kills=20, workers=2, jobs=1000, seed=1, crashes=0), 5)

    assert len(planned.questions) == len(set(planned.questions)) == 200


def test_as_many_systems_are_planned_for_as_there_are():
    assert len(registry.by_slug) == program.SYSTEMS


# ------------------------------------------------------------------------------------------------------- the ledgers


def tally(*runs: str, count: int | None = None) -> dict[str, Any]:
    count = len(runs) if count is None else count
    return {
        "total": count,
        "by_prompt": {QUESTION: count} if count else {},
        "by_run": {run: runs.count(run) for run in runs},
    }


def books(*attempts: Attempt, starts: Any = None, charges: int = 1, status: str = "done", captures: int = 1) -> Books:
    """One job with these attempts, all right unless something is said."""
    own = attempts or (Attempt(FIRST, "replied", remote_id="resp_1", charged=True),)
    job = Job(7, "chatgpt", QUESTION, status, own, captures)
    return Books(
        asked=[("chatgpt", QUESTION)],
        jobs=[job],
        counts={
            "starts": {"chatgpt": starts or tally(*(attempt.id for attempt in own))},
            "charges": {"chatgpt": tally(count=charges)},
        },
        logs=Logs(),
    )


def wrong(some: Books) -> dict[str, int]:
    return {finding.what: finding.count for finding in ledgers.compare(some) if finding.count}


def test_books_that_agree_are_right():
    assert wrong(books()) == {}


def test_a_start_after_an_unknown_outcome_is_explained():
    unknown, replied = Attempt(FIRST, "unknown", charged=True), Attempt(SECOND, "replied", charged=True)

    assert wrong(books(unknown, replied, charges=2)) == {}


def test_an_attempt_whose_outcome_is_unknown_may_never_have_been_sent():
    unknown, replied = Attempt(FIRST, "unknown", charged=True), Attempt(SECOND, "replied", charged=True)

    assert wrong(books(unknown, replied, starts=tally(SECOND))) == {}


def test_a_doubled_start_call_is_found():
    assert wrong(books(starts=tally(FIRST, FIRST))) == {"start calls unexplained": 1}


def test_a_doubled_start_call_is_found_where_a_system_takes_no_id_of_ours():
    assert wrong(books(starts=tally(count=2))) == {"start calls unexplained": 1}


def test_an_answer_that_was_bought_twice_is_found():
    twice = Attempt(FIRST, "replied", charged=True), Attempt(SECOND, "replied", charged=True)

    assert wrong(books(*twice, charges=2)) == {"start calls unexplained": 1}


def test_a_start_call_of_an_attempt_that_was_taken_back_is_found():
    assert wrong(books(Attempt(SECOND, "unknown", charged=True), starts=tally(FIRST)))["start calls unexplained"] == 1


def test_a_job_that_was_deleted_is_found():
    assert wrong(replace(books(), jobs=[]))["jobs lost"] == 1


def test_a_job_that_ended_without_a_capture_is_found():
    assert wrong(books(captures=0)) == {"jobs lost": 1}


def test_a_job_that_failed_too_early_is_found():
    assert wrong(books(Attempt(FIRST, "unknown", charged=True), status="failed")) == {"jobs failed too early": 1}


def test_a_job_that_failed_after_two_unknown_outcomes_is_right():
    twice = Attempt(FIRST, "unknown", charged=True), Attempt(SECOND, "unknown", charged=True)

    assert wrong(books(*twice, charges=2, status="failed")) == {}


def test_a_doubled_capture_is_found():
    assert wrong(books(captures=2)) == {"captures doubled": 1}


def test_a_job_that_was_done_twice_is_found():
    some = books()
    some.logs.read("worker-1.log", ["INFO capture.queue: job 7 chatgpt attempt 1: done: answered"] * 2)

    assert wrong(some) == {"captures doubled": 1}


def test_a_reply_that_nobody_gave_is_found():
    assert wrong(books(starts=tally(count=0), charges=0)) == {"replies without a start call": 1}


def test_a_charge_that_is_not_told_is_found():
    assert wrong(books(Attempt(FIRST, "error"))) == {"charges untold": 1}


@pytest.mark.parametrize("status", ledgers.OPEN)
def test_a_job_that_stays_open_is_found(status):
    assert wrong(books(status=status)) == {"jobs still open": 1}


@pytest.mark.parametrize("attempt", [Attempt(FIRST, "open", charged=True), Attempt(FIRST, "unknown", "r", live=True)])
def test_an_attempt_that_stays_open_is_found(attempt):
    assert wrong(books(attempt, charges=0)) == {"attempts still open": 1}


def test_a_remote_id_that_is_only_in_a_log_is_found():
    some = books(Attempt(FIRST, "error", charged=True))
    some.logs.read("worker-1.log", [f"INFO capture.calls: job 7 chatgpt: remote id resp_1 of attempt {FIRST}\n"])

    assert wrong(some) == {"remote ids forgotten": 1}


def test_an_error_of_our_own_is_found():
    some = books()
    some.logs.read("worker-1.log", ["Traceback (most recent call last):"])

    assert wrong(some) == {"errors of our own in the logs": 1}


def test_what_is_left_behind_is_found():
    assert wrong(replace(books(), connections=1, serving=2, untidy=["worker-1.log: 1"])) == {
        "connections left": 1,
        "dead workers thought to be serving": 2,
        "workers ended untidily or unasked": 1,
    }


@pytest.mark.parametrize(("slow", "found"), [(4, {}), (5, {"recovery p95 over 5 s": 1})])
def test_a_slow_recovery_is_found_when_5_of_100_are_slow(slow, found):
    times = Recovery(from_start=[1.0] * (100 - slow) + [6.0] * slow)

    assert wrong(replace(books(), recovery=times)) == found


def test_recovery_is_counted_to_the_last_of_a_workers_jobs():
    logs = Logs()
    serves = "1970-01-01 00:01:{},000 INFO capture.worker: worker {}: 4 seats for chatgpt"
    line = "1970-01-01 00:01:{},000 WARNING capture.queue: job {} chatgpt: taken back from worker {}: pending"
    logs.read("worker-1.log", [serves.format(30, DEAD), "killtest: dies at x: 100.5"])
    logs.read("worker-2.log", [serves.format(42, FIRST), line.format(42, 7, DEAD), line.format(43, 8, DEAD)])

    found = recovery(logs, [("worker-1.log", 101.0), ("worker-3.log", 100.0)])

    assert found == Recovery(from_death=[2.5], from_start=[1.0])
