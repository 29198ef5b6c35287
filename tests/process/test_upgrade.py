"""An upgrade while work is under way: the tables are new already, and the workers are still the previous release's."""

from __future__ import annotations

import subprocess
import sys

import pytest

from capture import lanes
from capture.models import Attempt, Capture, CaptureJob, Status, Worker
from tests import previous_release
from tests.factories import make_check
from tests.process.running import environment, simulator, until, worker

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture(scope="module")
def previous(tmp_path_factory):
    folder = tmp_path_factory.mktemp("previous")
    if not previous_release.source(folder):
        pytest.skip("the history of the previous release is not here")
    return folder


def test_the_previous_releases_workers_work_on_the_new_tables(previous, tmp_path):
    lanes.make_missing()
    check = make_check(
        prompts=("a?", "b?", "c?"), providers=("chatgpt", "perplexity", "copilot", "gemini", "google_ai")
    )
    log = tmp_path / "log"

    with simulator("--speed", "1000") as system, log.open("wb") as output:
        command = [sys.executable, "manage.py", "runworkers", "--poll", "0.1", "--drain"]
        variables = environment(SIMULATOR_URL=system.url, PYTHONPATH=str(previous))
        code = subprocess.run(command, cwd=previous, env=variables, stdout=output, stderr=output, timeout=60).returncode
        starts = sum(each["total"] for each in system.counts()["starts"].values())

    assert code == 0, log.read_text()
    assert set(check.jobs.values_list("status", flat=True)) == {Status.DONE}
    assert Capture.objects.answered().count() == Attempt.objects.count() == starts == CaptureJob.objects.count() == 15


def test_both_releases_work_side_by_side(previous, tmp_path):
    lanes.make_missing()
    there = f"import os, sys; os.chdir({str(previous)!r}); sys.path.insert(0, ''); import manage; manage.main()"

    with simulator("--speed", "1000") as system:
        system.script({"call": "start", "times": None, "do": {"delay_s": 0.2}})  # so that none takes all
        options = {"SIMULATOR_URL": system.url}
        with (
            worker("--concurrency", "2", log=tmp_path / "new.log", **options),
            worker("--concurrency", "2", log=tmp_path / "old.log", program=(sys.executable, "-c", there), **options),
        ):
            until(lambda: Worker.objects.alive().count() == 2)
            make_check(prompts=tuple(f"{number}?" for number in range(20)))
            until(lambda: not CaptureJob.objects.open().exists())
        starts = sum(each["total"] for each in system.counts()["starts"].values())

    assert Capture.objects.answered().count() == Attempt.objects.count() == starts == 20
    assert Attempt.objects.values("worker").distinct().count() == 2
