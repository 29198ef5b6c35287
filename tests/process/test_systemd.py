"""Real workers under a service manager: a real notification socket, and a watchdog of a few seconds."""

from __future__ import annotations

import signal
import sys
from contextlib import contextmanager

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from capture import lanes
from capture.models import CaptureJob, Status
from capture.models import Worker as WorkerRow
from tests.factories import make_job
from tests.process.running import MANAGE, environment, simulator, until, worker
from tests.proxy import Proxy, proxy
from tests.service_manager import notifications

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

WATCHDOG = 2.0  # seconds
PATIENT = 6.0  # where a try to connect takes two
NOT_WOKEN = {"CAPTURE_LISTEN": "off"}

# The loop's patience with the database is shorter, so that it is within this watchdog as it is within a unit's.
IMPATIENT = """
import os
os.environ["DJANGO_SETTINGS_MODULE"] = "aicontrol.settings"
import django
django.setup()
from capture import worker
worker.DATABASE_PATIENCE = worker.DATABASE_PAUSE = 0.4
import manage
manage.main()
"""

# Its loop hangs at the first turn after somebody has put a file there.
BLOCKED = """
import os, time
os.environ["DJANGO_SETTINGS_MODULE"] = "aicontrol.settings"
import django
django.setup()
from capture.worker import Worker
fill_seats = Worker.fill_seats
def hang(self):
    if os.path.exists(os.environ["HANG"]):
        os.rename(os.environ["HANG"], os.environ["HANG"] + ".now")
        time.sleep(600)
    return fill_seats(self)
Worker.fill_seats = hang
import manage
manage.main()
"""


@pytest.fixture(autouse=True)
def _lanes():
    lanes.make_missing()


@pytest.fixture
def system():
    with simulator("--speed", "1000") as running:
        yield running


@contextmanager
def watched(tmp_path, program=MANAGE, *, watchdog=WATCHDOG, **variables):
    """A worker as systemd starts it, and what it says."""
    address = tmp_path / "notify"
    told = {"NOTIFY_SOCKET": str(address), "WATCHDOG_USEC": str(int(watchdog * 1_000_000))}
    with (
        notifications(address) as heard,
        worker(log=tmp_path / "log", program=program, **told | variables) as process,
    ):
        yield process, heard


def written(script):
    return (sys.executable, "-c", script)


def test_a_worker_is_ready_feeds_the_watchdog_says_how_it_goes_and_that_it_stops(system, tmp_path):
    with watched(tmp_path, SIMULATOR_URL=system.url) as (process, heard):
        first = heard.next()
        assert WorkerRow.objects.count() == 1
        fed = [heard.next(within=WATCHDOG) for _ in range(2)]
        make_job()
        heard.until("STATUS", "0 of 8 seats busy, 0 stuck; 2 results recorded")  # the start's, and the look's
        process.send_signal(signal.SIGTERM)
        heard.until("STOPPING", "1")
        code = process.wait(20)

    assert (first["READY"], first["WATCHDOG"]) == ("1", "1")
    assert [("READY" in said, said["WATCHDOG"]) for said in fed] == [(False, "1")] * 2
    assert code == 0


def test_a_loop_that_hangs_is_not_taken_for_one_that_works(system, tmp_path):
    hang = tmp_path / "hang"

    with watched(tmp_path, written(BLOCKED), SIMULATOR_URL=system.url, HANG=str(hang)) as (process, heard):
        heard.until("READY")
        hang.touch()
        until((tmp_path / "hang.now").exists)
        heard.forget()

        with pytest.raises(TimeoutError):
            heard.next(within=WATCHDOG)
        assert process.poll() is None


@pytest.mark.parametrize(
    ("outage", "watchdog"),
    [(Proxy.close, WATCHDOG), (Proxy.swallow_all, PATIENT)],
    ids=["it refuses", "it says nothing"],
)
def test_a_database_that_is_away_is_waited_for_and_nobody_ends_the_worker_meanwhile(system, tmp_path, outage, watchdog):
    name = environment()["DATABASE_URL"].rpartition("/")[2]
    with proxy() as way:
        address = f"postgres://{connection.settings_dict['USER'] or 'aicontrol'}@127.0.0.1:{way.port}/{name}"
        variables = {"SIMULATOR_URL": system.url, "DATABASE_URL": f"{address}?connect_timeout=2", **NOT_WOKEN}
        with watched(tmp_path, written(IMPATIENT), watchdog=watchdog, **variables) as (process, heard):
            heard.until("READY")
            outage(way)
            heard.until("STATUS", "the database cannot be used now")

            fed = [heard.next(within=watchdog) for _ in range(2)]

            assert [said["WATCHDOG"] for said in fed] == ["1", "1"]
            assert process.poll() is None


def test_a_worker_that_starts_while_the_database_is_away_is_ready_and_waits(tmp_path):
    nowhere = "postgres://nobody@127.0.0.1:1/none"

    with watched(tmp_path, written(IMPATIENT), DATABASE_URL=nowhere, **NOT_WOKEN) as (_, heard):
        first = heard.next()

    assert first["READY"] == "1"
    assert "the database cannot be used now" in first["STATUS"]


def test_a_worker_refuses_a_database_that_lacks_migrations_and_is_never_ready(system, tmp_path):
    job = make_job()
    recorded = forget_the_last_migration()
    try:
        with watched(tmp_path, SIMULATOR_URL=system.url) as (process, heard):
            code = process.wait(30)
            said = heard.next()
    finally:
        recorded.save(force_insert=True)

    assert code == 1
    assert "READY" not in said
    log = (tmp_path / "log").read_text()
    assert f"the database lacks migrations, from capture.{recorded.name} on: run manage.py migrate" in log
    assert "Traceback" not in log
    assert CaptureJob.objects.get(pk=job.pk).status == Status.PENDING
    assert not WorkerRow.objects.exists()


def forget_the_last_migration():
    last = MigrationRecorder(connection).migration_qs.filter(app="capture").latest("name")
    kept = MigrationRecorder.Migration(pk=last.pk, app=last.app, name=last.name, applied=last.applied)
    last.delete()
    return kept
