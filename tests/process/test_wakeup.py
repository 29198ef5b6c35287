"""Real workers that would look into the queue only every half minute, and are woken; and what finds jobs otherwise.

A worker also looks at each of its beats, which would hide a wake-up that is lost: these workers do not beat.
"""

from __future__ import annotations

import socket
import sys
from contextlib import contextmanager

import pytest
from django.db import connection

from capture import lanes, queue
from capture.models import CaptureJob, Lane
from capture.models import Worker as WorkerRow
from tests.factories import make_job
from tests.process.running import PATIENCE, simulator, until, worker
from tests.proxy import proxy

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

SELDOM = ("--poll", "30")  # a look comes after 22 seconds at the soonest
SOON = 12.0  # seconds
WITHOUT_BEATS = """
import os
os.environ["DJANGO_SETTINGS_MODULE"] = "aicontrol.settings"
import django
django.setup()
from capture import heartbeat
heartbeat.INTERVAL = 3600
import manage
manage.main()
"""


@pytest.fixture(autouse=True)
def _lanes():
    """Emptying the tables after a test empties the lanes as well."""
    lanes.make_missing()


@pytest.fixture
def system():
    with simulator("--speed", "1000") as running:
        yield running


@contextmanager
def a_worker(system, tmp_path, *arguments, **variables):
    """A worker without beats that has looked into the queue and found nothing."""
    log = tmp_path / "log"
    program = (sys.executable, "-c", WITHOUT_BEATS)
    with worker(*arguments, log=log, program=program, SIMULATOR_URL=system.url, **variables) as process:
        until(WorkerRow.objects.exists)
        yield process, log


@contextmanager
def a_listening_worker(system, tmp_path, *arguments, **variables):
    with a_worker(system, tmp_path, *arguments, **variables) as (process, log):
        until(lambda: b"listening for new jobs" in log.read_bytes())
        yield process, log


def starts(system):
    return sum(each["total"] for each in system.counts()["starts"].values())


def assert_two_are_picked_up(system, *, within=PATIENCE):
    """One after the other: the first may be found by the look that a new connection of the listener asks for."""
    make_job()
    until(lambda: starts(system) == 1, within=within)
    make_job()
    until(lambda: starts(system) == 2, within=within)


def listeners():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_stat_activity WHERE application_name = 'aicontrol worker listener'")
        return [row[0] for row in cursor.fetchall()]


def end_session(pid):
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [pid])


def test_a_worker_is_woken_long_before_it_would_look(system, tmp_path):
    with a_listening_worker(system, tmp_path, *SELDOM):
        assert_two_are_picked_up(system, within=SOON)


def test_a_worker_is_woken_by_a_job_that_is_asked_again_and_by_a_lane_that_is_resumed(system, tmp_path, admin_client):
    Lane.objects.update(paused=True)
    with a_listening_worker(system, tmp_path, *SELDOM):
        job = make_job()
        queue.cancel(CaptureJob.objects.filter(pk=job.pk))
        lane = Lane.objects.get(name="openai")
        sent = {"enabled": "on", "limit": "20", "least_seconds_between_starts": "0"}
        make_job()

        admin_client.post(f"/admin/capture/lane/{lane.pk}/change/", sent)
        until(lambda: starts(system) == 1, within=SOON)

        queue.requeue(CaptureJob.objects.filter(pk=job.pk))
        until(lambda: starts(system) == 2, within=SOON)


def test_fault_9_a_listener_whose_session_is_killed_comes_back(system, tmp_path):
    with a_listening_worker(system, tmp_path, *SELDOM) as (_, log):
        (killed,) = listeners()
        end_session(killed)
        until(lambda: log.read_bytes().count(b"listening for new jobs") == 2)

        assert_two_are_picked_up(system, within=SOON)

    assert b"new jobs are found by polling only" in log.read_bytes()


def test_fault_7_a_job_whose_notification_is_lost_is_found_by_polling(system, tmp_path, monkeypatch):
    monkeypatch.setattr("capture.queue.entry.notify", lambda: None)
    with a_listening_worker(system, tmp_path, "--poll", "1"):
        assert_two_are_picked_up(system)


def test_fault_7_with_listening_off_jobs_are_found_by_polling(system, tmp_path):
    with a_worker(system, tmp_path, "--poll", "1", CAPTURE_LISTEN="off") as (_, log):
        assert_two_are_picked_up(system)

        assert listeners() == []

    assert b"listen" not in log.read_bytes()


def test_fault_8_polling_goes_on_while_the_listener_hangs_on_a_connection_that_is_half_open(system, tmp_path):
    with proxy() as way, a_listening_worker(system, tmp_path, "--poll", "1", CAPTURE_LISTEN=address(way.port)):
        way.swallow()

        assert_two_are_picked_up(system)
        assert way.connections == 1


def address(port):
    return f"postgres://aicontrol@127.0.0.1:{port}/{connection.settings_dict['NAME']}"


def test_a_worker_listens_at_an_address_of_its_own(system, tmp_path):
    with proxy() as way, a_listening_worker(system, tmp_path, *SELDOM, CAPTURE_LISTEN=address(way.port)):
        assert_two_are_picked_up(system, within=SOON)
        assert way.connections == 1


def test_a_worker_whose_listener_cannot_connect_works_and_stops_and_shows_no_password(system, tmp_path):
    """The listener's address takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        nowhere = address(silent.getsockname()[1]).replace("aicontrol@", "aicontrol:hidden@")
        with a_worker(system, tmp_path, "--poll", "1", CAPTURE_LISTEN=nowhere) as (process, log):
            client, _ = silent.accept()
            make_job()
            until(lambda: starts(system) == 1)
            client.close()
            until(lambda: b"new jobs are found by polling only" in log.read_bytes())
            process.terminate()

            assert process.wait(SOON) == 0

    assert b"hidden" not in log.read_bytes()


def test_a_worker_that_listens_stops_at_once(system, tmp_path):
    with a_listening_worker(system, tmp_path, *SELDOM) as (process, log):
        process.terminate()

        assert process.wait(SOON) == 0

    until(lambda: listeners() == [])
    assert b"polling only" not in log.read_bytes()
