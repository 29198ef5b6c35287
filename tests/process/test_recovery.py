"""Recovery among real processes: who may take a worker's jobs away, and who may not; and a database that goes away."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import contextmanager

import psycopg
import pytest
from django.db import connection
from django.db.models import F

from capture import lanes
from capture.models import Attempt, AttemptOutcome, Capture, CaptureJob, Outcome, Status
from capture.models import Worker as WorkerRow
from tests.factories import make_check, make_job
from tests.process.running import ROOT, environment, simulator, until, worker

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

NEVER = {"pending_for_s": None}
SLOW = {"delay_s": 20}


@pytest.fixture(autouse=True)
def _lanes():
    lanes.make_missing()


@pytest.fixture
def system():
    with simulator("--speed", "1000") as running:
        yield running


def manage(*arguments, **variables):
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment(**variables), input="", capture_output=True, text=True, timeout=60
    )


def run_tests():
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_heartbeat.py"]
    return subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, timeout=60).returncode


@contextmanager
def web_server(url):
    command = [sys.executable, "manage.py", "runserver", "--noreload", "127.0.0.1:0"]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment(SIMULATOR_URL=url), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            output = process.stdout
            assert output
            until(lambda: b"Quit" in output.readline())
            yield
        finally:
            process.kill()


def running():
    return list(
        CaptureJob.objects.filter(status=Status.RUNNING).order_by("pk").values_list("pk", "claim_token", "worker")
    )


def second_start():
    return WorkerRow.objects.latest("started_at").started_at


def test_fault_2_nothing_that_starts_beside_a_worker_takes_its_jobs_away(system, tmp_path):
    """A second worker, a web server, migrate, shell, check and a test run: none of them is proof that a worker died."""
    system.script({"system": "chatgpt", "call": "start", "times": None, "do": {"delay_s": 40}})  # an exchange has 45 s
    make_check(prompts=("a?", "b?", "c?"))

    with worker(log=tmp_path / "first.log", SIMULATOR_URL=system.url):
        held = until(lambda: len(running()) == 3 and running())
        for command in (["migrate"], ["shell", "-c", "pass"], ["check"]):
            assert manage(*command, SIMULATOR_URL=system.url).returncode == 0
        assert run_tests() == 0
        with web_server(system.url), worker(log=tmp_path / "second.log", SIMULATOR_URL=system.url):
            until(lambda: WorkerRow.objects.count() == 2)
            # Its first beat comes after its first recovery.
            until(lambda: WorkerRow.objects.filter(started_at=second_start(), beat_at__gt=F("started_at")).exists())

            assert running() == held

    assert Attempt.objects.count() == 3


def test_fault_1_what_a_killed_worker_had_is_back_as_soon_as_another_starts_here(system, tmp_path):
    system.script({"system": "chatgpt", "call": "start", "times": 1, "do": SLOW})
    job = make_job()
    with worker(log=tmp_path / "first.log", SIMULATOR_URL=system.url) as process:
        until(lambda: system.counts()["starts"].get("chatgpt", {}).get("total"))
        process.kill()
        process.wait(20)

    with worker("--drain", log=tmp_path / "second.log", SIMULATOR_URL=system.url) as process:
        assert process.wait(60) == 0

    job = CaptureJob.objects.get(pk=job.pk)
    outcomes = list(Attempt.objects.order_by("number").values_list("outcome", flat=True))
    assert (job.status, job.crashes, job.unknowns) == (Status.DONE, 1, 1)
    assert outcomes == [AttemptOutcome.UNKNOWN, AttemptOutcome.REPLIED]
    assert WorkerRow.objects.filter(proven_dead=True).count() == 1


def test_a_worker_that_freezes_and_is_given_up_registers_anew_and_brings_its_answer_home(system, tmp_path):
    system.script({"system": "chatgpt", "call": "start", "times": 1, "do": {"delay_s": 3}})
    make_job()
    with worker(log=tmp_path / "log", SIMULATOR_URL=system.url) as process:
        until(running)
        process.send_signal(signal.SIGSTOP)
        WorkerRow.objects.update(lost_at="2026-01-01T00:00Z")
        process.send_signal(signal.SIGCONT)

        until(lambda: Capture.objects.filter(outcome=Outcome.ANSWERED).exists())
        until(lambda: WorkerRow.objects.filter(lost_at__isnull=True).exists())

    assert WorkerRow.objects.count() == 2
    assert b"registers anew" in (tmp_path / "log").read_bytes()
    assert system.counts()["starts"]["chatgpt"]["total"] == 1


# ------------------------------------------------------------------------------------------ the database goes away


@contextmanager
def administrator():
    """A session with another database, which stays usable whatever happens to this one."""
    parameters = connection.get_connection_params()
    wanted = {name: parameters[name] for name in ("host", "user", "port") if parameters.get(name)}
    with psycopg.connect(**wanted, dbname="postgres", autocommit=True) as session:
        yield session


def kill_sessions(session):
    session.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'aicontrol worker%'"
    )


def alter(session, change):
    session.execute(f'ALTER DATABASE "{connection.settings_dict["NAME"]}" {change}')


def says_that_it_waits(log):
    return b"the database cannot be used now" in log.read_bytes()


def test_fault_9_a_worker_whose_sessions_are_killed_goes_on_in_full(system, tmp_path):
    log = tmp_path / "log"
    with worker(log=log, SIMULATOR_URL=system.url) as process, administrator() as session:
        until(lambda: WorkerRow.objects.exists())

        kill_sessions(session)
        until(lambda: says_that_it_waits(log))
        make_check(prompts=("a?", "b?"))

        until(lambda: Capture.objects.answered().count() == 2)
        assert process.poll() is None

    assert b"Traceback" not in log.read_bytes()


def test_fault_9_a_worker_waits_while_the_database_is_read_only_and_then_goes_on(system, tmp_path):
    """As after a failover to a standby, while results of exchanges come back."""
    log = tmp_path / "log"
    make_check(prompts=("a?", "b?"))
    system.script({"system": "chatgpt", "call": "start", "times": None, "do": {"delay_s": 1}})
    with administrator() as session, worker(log=log, SIMULATOR_URL=system.url) as process:
        until(running)
        try:
            alter(session, "SET default_transaction_read_only = on")
            kill_sessions(session)
            until(lambda: says_that_it_waits(log))
        finally:
            alter(session, "RESET default_transaction_read_only")

        until(lambda: Capture.objects.answered().count() == 2)
        assert process.poll() is None

    assert system.counts()["starts"]["chatgpt"]["total"] == 2
    assert b"Traceback" not in log.read_bytes()


def test_fault_9_too_many_connections_are_waited_out(system, tmp_path):
    """A worker cannot connect while what it has in its seats comes back."""
    log = tmp_path / "log"
    make_job()
    with administrator() as session:
        session.execute("CREATE ROLE crowded LOGIN SUPERUSER")
    try:
        _wait_out_a_crowd(log, system)
    finally:
        with administrator() as session:
            session.execute("DROP ROLE crowded")


def _wait_out_a_crowd(log, system):
    url = environment()["DATABASE_URL"].replace("postgres://aicontrol@", "postgres://crowded@")
    system.script({"system": "chatgpt", "call": "start", "times": None, "do": {"delay_s": 1}})
    with administrator() as session, worker(log=log, SIMULATOR_URL=system.url, DATABASE_URL=url):
        until(running)
        session.execute("ALTER ROLE crowded NOSUPERUSER CONNECTION LIMIT 0")
        kill_sessions(session)
        until(lambda: b"too many connections" in log.read_bytes())
        session.execute("ALTER ROLE crowded SUPERUSER CONNECTION LIMIT -1")

        until(lambda: Capture.objects.answered().count() == 1)
    assert system.counts()["starts"]["chatgpt"]["total"] == 1
