"""The listener's thread on real connections that are killed, swallowed, refused and closed."""

from __future__ import annotations

import logging
import socket
import threading
import time
from contextlib import contextmanager

import psycopg
import pytest
from django.db import connection

from capture import listener
from capture.listener import Listener
from capture.notifications import CHANNEL, listening_parameters, notify
from tests.proxy import proxy

pytestmark = pytest.mark.django_db(transaction=True)

SOON = 20.0  # seconds; only a failure waits for so long
NAME = "aicontrol worker listener"


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch):
    monkeypatch.setattr(listener, "SHORTEST_PAUSE", 0.05)


class Woken:
    """Counts the wake-ups of a loop that is not there."""

    def __init__(self):
        self.count = 0
        self._changed = threading.Condition()

    def __call__(self):
        with self._changed:
            self.count += 1
            self._changed.notify_all()

    def reaches(self, count):
        with self._changed:
            return self._changed.wait_for(lambda: self.count >= count, SOON)


@contextmanager
def listening(parameters=listening_parameters, **options):
    """A listener that has connected and said so."""
    woken = Woken()
    thread = Listener(parameters, CHANNEL, woken, **options)
    try:
        assert woken.reaches(1)
        yield woken
    finally:
        thread.close()


def ask(query, *parameters):
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
        return [row[0] for row in cursor.fetchall()]


def sessions():
    return ask("SELECT pid FROM pg_stat_activity WHERE application_name = %s", NAME)


def test_a_notification_wakes():
    with listening() as woken:
        notify()

        assert woken.reaches(2)


def test_what_was_said_before_it_listened_is_looked_for():
    """Waking once the channel is open leaves no moment in which a notification would be lost for good."""
    notify()

    with listening() as woken:
        assert woken.reaches(1)


def test_a_burst_of_notifications_wakes_a_few_times_only():
    with listening() as woken:
        began = time.monotonic()
        for _ in range(500):
            notify()
        assert woken.reaches(2)
        lasted = time.monotonic() - began

        assert woken.count <= 3 + lasted / listener.BREATH < 500


def test_fault_8_a_listener_whose_session_is_killed_comes_back():
    with listening() as woken:
        (killed,) = sessions()
        ask("SELECT pg_terminate_backend(%s)", killed)
        assert woken.reaches(2)

        notify()

        assert woken.reaches(3)
        assert sessions() != [killed]


def test_it_is_told_once_that_there_is_no_listening_and_when_there_is_again(caplog):
    caplog.set_level(logging.INFO, "capture.listener")
    failures = [psycopg.OperationalError("it is away")] * 3

    def parameters():
        if failures:
            raise failures.pop()
        return listening_parameters()

    with listening(parameters):
        pass

    assert [record.getMessage() for record in caplog.records] == [
        "new jobs are found by polling only: there is no listening now (it is away)",
        "listening for new jobs",
    ]


def test_fault_8_a_connection_that_only_seems_to_be_there_is_given_up_for_a_new_one():
    with proxy() as way:

        def through_it():
            return {**listening_parameters(), "host": "127.0.0.1", "port": way.port}

        with listening(through_it, quiet=0.3) as woken:
            way.swallow()
            notify()
            assert woken.reaches(2)
            notify()

            assert woken.reaches(3)
            assert way.connections == 2


def test_a_listener_that_hears_nothing_for_long_keeps_its_connection():
    with listening(quiet=0.05) as woken:
        (pid,) = sessions()
        until = time.monotonic() + 20 * 0.05
        while time.monotonic() < until:
            assert sessions() == [pid]

        assert woken.count == 1
        notify()
        assert woken.reaches(2)


def test_it_has_one_connection_and_closing_ends_it():
    with listening():
        assert len(sessions()) == 1

    deadline = time.monotonic() + SOON
    while sessions():
        assert time.monotonic() < deadline, "its session goes on"


def test_a_password_is_in_no_log(caplog, settings):
    caplog.set_level(logging.DEBUG)
    settings.CAPTURE_LISTEN = {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "name",
        "USER": "someone",
        "PASSWORD": "hidden",
        "HOST": "127.0.0.1",
        "PORT": "1",
        "OPTIONS": {},
    }
    said = threading.Event()
    handler = logging.Handler()
    handler.emit = lambda record: said.set()  # type: ignore[method-assign]
    logging.getLogger("capture.listener").addHandler(handler)
    thread = Listener(listening_parameters, CHANNEL, Woken())
    try:
        assert said.wait(SOON)
    finally:
        thread.close()
        logging.getLogger("capture.listener").removeHandler(handler)

    assert "there is no listening now" in caplog.text
    assert "hidden" not in caplog.text


def test_closing_does_not_wait_for_a_server_that_never_answers():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        thread = Listener(
            lambda: {"host": "127.0.0.1", "port": port, "dbname": "x", "user": "x", "connect_timeout": 60},
            CHANNEL,
            Woken(),
        )
        client, _ = silent.accept()
        began = time.monotonic()

        thread.close()

        assert time.monotonic() - began < SOON
        client.close()


def test_closing_does_not_wait_for_the_next_try(monkeypatch):
    monkeypatch.setattr(listener, "SHORTEST_PAUSE", 3_600.0)
    tried = threading.Event()

    def nowhere():
        tried.set()
        raise psycopg.OperationalError("away")

    thread = Listener(nowhere, CHANNEL, Woken())
    assert tried.wait(SOON)

    thread.close()

    assert not thread._thread.is_alive()


def test_a_listener_at_the_databases_own_address_says_who_it_is_and_notices_a_host_that_is_gone():
    parameters = listening_parameters()

    assert parameters["application_name"] == NAME
    assert parameters["dbname"] == connection.settings_dict["NAME"]
    assert {"connect_timeout", "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout"} <= set(
        parameters
    )
