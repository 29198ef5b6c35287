"""`manage.py cleanupjobs`: its arguments, what it says, and how it ends when it is told to."""

from __future__ import annotations

import signal
import subprocess
import sys
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from capture import queue
from capture.models import CaptureJob
from capture.models.clock import ClockTimestamp
from tests.conftest import CHECKOUT
from tests.factories import claim_one, make_check, make_job, unknown_error
from tests.lost_workers import make_worker
from tests.process.running import environment, until
from tests.test_cleanup import done_job
from tests.test_queue import _rows

KEPT = "0 old jobs stay, since a charge or a call is not settled."


def said(capsys, *arguments: str) -> str:
    call_command("cleanupjobs", *arguments)
    return str(capsys.readouterr().out)


@pytest.mark.django_db
class TestWhatItSays:
    @pytest.fixture(autouse=True)
    def _jobs(self, monkeypatch):
        monkeypatch.setattr("capture.cleanup.REST", 0)  # all of this is one transaction, which may not be idle for long
        done_job()
        queue.cancel(make_check(prompts=("One?", "Two?")).jobs.all())
        CaptureJob.objects.update(finished_at=ClockTimestamp() - timedelta(days=15))

    def test_one_line(self, capsys):
        assert said(capsys) == f"Deleted 3 jobs with 1 attempt, 0 workers, 0 sessions and 0 failed logins; {KEPT}\n"
        assert not CaptureJob.objects.exists()

    def test_dry_run_deletes_nothing(self, capsys):
        told = said(capsys, "--dry-run")

        assert told == f"Would delete 3 jobs with 1 attempt, 0 workers, 0 sessions and 0 failed logins; {KEPT}\n"
        assert CaptureJob.objects.count() == 3

    def test_one_is_one_and_not_many(self, capsys):
        long_ago = ClockTimestamp() - timedelta(days=31)
        make_worker(started_at=long_ago, beat_at=long_ago, stopped_at=long_ago)
        CaptureJob.objects.filter(status="cancelled").delete()
        stays = make_job()
        queue.fail(claim_one(stays), unknown_error())
        CaptureJob.objects.update(finished_at=long_ago)

        told = said(capsys, "--dry-run")

        assert told == (
            "Would delete 1 job with 1 attempt, 1 worker, 0 sessions and 0 failed logins; "
            "1 old job stays, since a charge or a call is not settled.\n"
        )

    def test_ages_are_in_days(self, capsys):
        assert said(capsys, "--days", "16").startswith("Deleted 0 jobs")
        assert said(capsys, "--days=0", "--batch=1").startswith("Deleted 3 jobs")

    def test_it_leaves_signals_as_they_were(self, capsys):
        before = signal.getsignal(signal.SIGTERM)

        said(capsys)

        assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize(
    "wrong", [["--days=-1"], ["--failed-days=x"], ["--batch=0"], ["--batch=10001"], ["--days=36501"], ["--days=1.5"]]
)
def test_wrong_arguments_are_refused(wrong):
    with pytest.raises(CommandError, match="argument --"):
        call_command("cleanupjobs", *wrong)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_sigterm_ends_it_tidily_after_the_batch_that_is_under_way():
    make_job()
    _rows(20_000, "done", status="'done'", turn="0", finished_at="clock_timestamp() - interval '20 days'")
    count = CaptureJob.objects.count()

    with subprocess.Popen(
        [sys.executable, "manage.py", "cleanupjobs", "--batch", "10"],
        cwd=CHECKOUT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        until(lambda: CaptureJob.objects.count() < count)
        process.send_signal(signal.SIGTERM)
        told, _ = process.communicate(timeout=60)

    deleted = count - CaptureJob.objects.count()
    assert process.returncode == 0
    assert told == (
        f"Deleted {deleted:,} jobs with 0 attempts, 0 workers, 0 sessions and 0 failed logins; {KEPT} "
        "Stopped before the end.\n"
    )
    assert 0 < deleted < count - 1
    assert deleted % 10 == 0
