"""Workers behind a real PgBouncer in transaction mode, where a session's settings, locks and statements do not last."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import ExitStack

import pytest
from django.db import connection

from capture import lanes
from capture.models import Attempt, Capture, Status
from tests.factories import make_check
from tests.process.pooler import PROGRAM, pgbouncer
from tests.process.running import ROOT, environment, simulator, until, worker
from tests.process.test_wakeup import SOON, WITHOUT_BEATS, assert_two_are_picked_up

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(PROGRAM is None, reason="PgBouncer is not installed (Debian's package pgbouncer)"),
]

PROMPTS = tuple(f"Which espresso machine is best for {number} people?" for number in range(1, 31))


def _sessions():
    """How many there are beside the test's own; the server's own vacuuming is none."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        return cursor.fetchone()[0]


def test_fault_14_nothing_is_lost_or_doubled_by_kills_behind_a_pooler(tmp_path):
    with pgbouncer(tmp_path, size=10) as address:
        result = subprocess.run(
            [sys.executable, "-m", "tests.killtest", "--kills", "10"],
            cwd=ROOT,
            env=environment(DATABASE_URL=address, AICONTROL_DATA=str(tmp_path / "data")),
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )

    assert result.returncode == 0, result.stdout + result.stderr


def test_fault_14_a_worker_behind_a_pooler_says_that_listen_does_not_pass_it_and_polls(tmp_path):
    lanes.make_missing()
    log = tmp_path / "log"

    with ExitStack() as stack:
        system = stack.enter_context(simulator("--speed", "1000"))
        address = stack.enter_context(pgbouncer(tmp_path, size=2))
        stack.enter_context(worker(log=log, SIMULATOR_URL=system.url, DATABASE_URL=address))
        until(lambda: b"LISTEN does not pass a connection pooler" in log.read_bytes())
        check = make_check(prompts=PROMPTS[:2])

        until(lambda: Capture.objects.answered().filter(of_check=check).count() == 2)

    assert b"cannot be used" not in log.read_bytes()


def test_fault_14_a_worker_behind_a_pooler_is_woken_over_an_address_beside_it(tmp_path):
    lanes.make_missing()
    log = tmp_path / "log"
    beside = environment()["DATABASE_URL"]

    with ExitStack() as stack:
        system = stack.enter_context(simulator("--speed", "1000"))
        address = stack.enter_context(pgbouncer(tmp_path, size=2))
        variables = {"SIMULATOR_URL": system.url, "DATABASE_URL": address, "CAPTURE_LISTEN": beside}
        stack.enter_context(worker("--poll", "30", log=log, program=(sys.executable, "-c", WITHOUT_BEATS), **variables))
        until(lambda: b"listening for new jobs" in log.read_bytes())

        assert_two_are_picked_up(system, within=SOON)


def test_fault_14_workers_share_few_connections_through_a_pooler(tmp_path):
    lanes.make_missing()
    check = make_check(prompts=PROMPTS, providers=("chatgpt", "perplexity"))

    with ExitStack() as stack:
        system = stack.enter_context(simulator("--speed", "1000"))
        address = stack.enter_context(pgbouncer(tmp_path, size=2, lifetime=3600))
        logs = [tmp_path / name for name in ("a.log", "b.log", "c.log")]
        processes = [
            stack.enter_context(
                worker("--concurrency", "4", "--drain", log=log, SIMULATOR_URL=system.url, DATABASE_URL=address)
            )
            for log in logs
        ]
        most = until(_sessions)
        while any(process.poll() is None for process in processes):
            most = max(most, _sessions())
            time.sleep(0.01)
        codes = [process.wait(60) for process in processes]

    assert codes == [0, 0, 0]
    assert most <= 2
    assert set(check.jobs.values_list("status", flat=True)) == {Status.DONE}
    assert Capture.objects.answered().count() == Attempt.objects.count() == 60
    assert not any("cannot be used" in log.read_text() for log in logs)
