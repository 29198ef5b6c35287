"""A cleanup of all that is final, again and again, beside real workers."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from django.core.management import call_command

from capture import lanes
from capture.models import Attempt, Capture, CaptureJob, Charge, Lane
from tests.factories import make_check
from tests.process.running import simulator, until, worker

JOBS = 200


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_fault_23_beside_workers_a_cleanup_takes_what_is_over_and_nothing_else(tmp_path, capsys):
    lanes.make_missing()
    Lane.objects.update(limit=1000)
    make_check(prompts=tuple(f"{number}?" for number in range(JOBS // 2)), providers=("chatgpt", "perplexity"))
    logs = [tmp_path / f"{name}.log" for name in "ab"]

    with simulator("--speed", "200") as system, ExitStack() as stack:
        for log in logs:
            stack.enter_context(worker("--concurrency", "4", log=log, SIMULATOR_URL=system.url))
        until(lambda: cleaned() and Capture.objects.count() == JOBS)
        starts = system.counts()["starts"]

    call_command("cleanupjobs", "--days=0", "--failed-days=0")
    told = capsys.readouterr().out
    assert Capture.objects.answered().count() == Charge.objects.count() == JOBS
    assert sum(each["total"] for each in starts.values()) == JOBS
    assert not CaptureJob.objects.exists()
    assert not Attempt.objects.exists()
    assert told.count("Deleted") - told.count("Deleted 0 jobs") > 1  # it was at it while they worked
    assert [
        line for log in logs for line in log.read_text().splitlines() if "deadlock" in line or "ERROR" in line
    ] == []


def cleaned() -> bool:
    call_command("cleanupjobs", "--days=0", "--failed-days=0", "--batch=7")
    return True
