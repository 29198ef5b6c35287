"""The watchdog over what the loop says to the database, on connections that really hang."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from django.db import Error, connection, transaction

from capture import database
from capture.database import Watchdog
from capture.models import Lane
from tests.process.running import until

pytestmark = pytest.mark.django_db(transaction=True)

BOUND = 0.3  # seconds
OTHERS = "pid <> pg_backend_pid()"
SOON = 10.0  # seconds; far below what the blocked queries would take


@pytest.fixture
def watchdog():
    watchdog = Watchdog()
    yield watchdog
    watchdog.close()
    # A session that sleeps does not look whether anybody is still there.
    ask(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND " + OTHERS
    )


def ask(query, *parameters):
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
        return cursor.fetchone()[0]


def assert_cut_off(watchdog, query):
    """Its query ends within the bound, and the next one works."""
    began = time.monotonic()

    with pytest.raises(Error), watchdog.bounded(BOUND):
        query()

    assert BOUND <= time.monotonic() - began < SOON
    database.close()
    assert ask("SELECT 1") == 1


def test_a_query_that_takes_too_long_is_cut_off_and_the_next_one_works(watchdog):
    assert_cut_off(watchdog, lambda: ask("SELECT pg_sleep(600) IS NULL"))


def test_a_lock_that_somebody_holds_is_not_waited_for_for_ever(watchdog):
    lane = Lane.objects.create(name="somewhere", limit=1)

    with somebody_holds(lane):
        assert_cut_off(watchdog, lambda: Lane.objects.update(limit=2))


@contextmanager
def somebody_holds(lane):
    held, let_go = threading.Event(), threading.Event()

    def hold():
        with transaction.atomic():
            Lane.objects.select_for_update().get(pk=lane.pk)
            held.set()
            assert let_go.wait(30)
        connection.close()

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(hold)
        assert held.wait(30)
        try:
            yield
        finally:
            let_go.set()
            future.result(30)


def test_fault_8_a_server_that_has_frozen_is_not_waited_for_for_ever(watchdog):
    backend = ask("SELECT pg_backend_pid()")

    os.kill(backend, signal.SIGSTOP)
    try:
        assert_cut_off(watchdog, lambda: ask("SELECT 1"))
    finally:
        os.kill(backend, signal.SIGCONT)


def test_a_transaction_that_is_cut_off_leaves_nothing(watchdog):
    def write_and_hang():
        with transaction.atomic():
            Lane.objects.create(name="somewhere", limit=1)
            ask("SELECT pg_sleep(600) IS NULL")

    assert_cut_off(watchdog, write_and_hang)

    assert not Lane.objects.filter(name="somewhere").exists()


def test_what_is_done_in_time_is_left_alone(watchdog):
    for _ in range(3):
        with watchdog.bounded(60):
            backend = ask("SELECT pg_backend_pid()")

    assert ask("SELECT pg_backend_pid()") == backend


def test_the_connection_of_another_thread_is_left_alone(watchdog):
    def elsewhere():
        backend = ask("SELECT pg_backend_pid()")
        answers.append(cut.wait(30) and ask("SELECT pg_backend_pid()") == backend)
        connection.close()

    answers: list[bool] = []
    cut = threading.Event()
    other = threading.Thread(target=elsewhere)
    other.start()
    assert_cut_off(watchdog, lambda: ask("SELECT pg_sleep(600) IS NULL"))

    cut.set()
    other.join(30)

    assert answers == [True]


def test_nothing_is_cut_while_there_is_no_connection(watchdog):
    connection.close()

    database.cut(connection)

    assert ask("SELECT 1") == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("idle_in_transaction_session_timeout", "1min"),
        ("lock_timeout", "1min"),
        ("statement_timeout", "10min"),
        ("client_connection_check_interval", "5s"),
    ],
)
def test_fault_14_sessions_are_bounded_by_their_role_and_not_by_their_client(name, value):
    """A pooler passes no setting of a session; a host that is cut off sends none."""
    connection.close()

    assert ask(f"SHOW {name}") == value


def test_a_query_that_nobody_waits_for_any_more_is_ended_by_the_server(watchdog):
    lonely = "SELECT count(*) FROM pg_stat_activity WHERE starts_with(query, 'SELECT pg_sleep(601)')"

    assert_cut_off(watchdog, lambda: ask("SELECT pg_sleep(601) IS NULL"))

    until(lambda: ask(lonely) == 0)
