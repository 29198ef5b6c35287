"""A worker's row, and what its beats tell."""

from __future__ import annotations

import os
from datetime import timedelta

import pytest

from capture import heartbeat, processes, recovery
from capture.models import Worker
from capture.models.clock import ClockTimestamp
from capture.models.workers import LEASE
from tests.factories import stranger
from tests.lost_workers import fall_silent, make_worker

pytestmark = pytest.mark.django_db


def ago(seconds):
    return ClockTimestamp() - timedelta(seconds=seconds)


def test_a_worker_writes_down_who_it_is():
    worker = make_worker()

    row = Worker.objects.get(pk=worker)
    assert (row.pid, row.start_ticks) == (os.getpid(), processes.start_ticks(os.getpid()))
    assert processes.Place(row.boot_id, row.pid_namespace) == processes.here()


def test_fault_34_a_registration_whose_commit_was_not_heard_of_can_be_repeated():
    worker = make_worker()
    before = Worker.objects.values().get()

    heartbeat.register(worker, ["chatgpt"], 1)

    assert Worker.objects.values().get() == before


def test_a_beat_is_one_statement(django_assert_num_queries):
    worker = make_worker()

    with django_assert_num_queries(1):
        heartbeat.beat(worker, stuck=2)

    assert Worker.objects.get().stuck == 2


def test_a_worker_that_has_just_begun_is_not_steady():
    assert heartbeat.beat(make_worker()) == heartbeat.Pulse(lost=False, steady=False)


def test_a_worker_that_has_beaten_for_a_lease_is_steady():
    worker = make_worker(steady_since=ago(LEASE.total_seconds()))

    assert heartbeat.beat(worker).steady


def test_fault_36_a_gap_between_beats_ends_steadiness():
    worker = make_worker(steady_since=ago(3600), beat_at=ago(heartbeat.GAP + 1))

    assert not heartbeat.beat(worker).steady
    assert not heartbeat.beat(worker).steady


def test_a_gap_is_shorter_than_a_lease_and_longer_than_two_beats():
    assert 2 * heartbeat.INTERVAL < heartbeat.GAP < LEASE.total_seconds()


def test_fault_5_a_worker_that_was_given_up_hears_of_it_and_its_beats_count_no_more():
    worker = make_worker()
    fall_silent(worker)
    recovery.give_up_the_silent()
    silent_since = Worker.objects.get().beat_at

    assert heartbeat.beat(worker) == heartbeat.Pulse(lost=True, steady=False)

    assert Worker.objects.get().beat_at == silent_since


def test_a_worker_without_a_row_is_lost():
    assert heartbeat.beat(stranger()).lost


def test_a_worker_that_was_given_up_cannot_close_itself():
    worker = make_worker()
    fall_silent(worker)
    recovery.give_up_the_silent()

    heartbeat.close(worker)

    assert Worker.objects.get().stopped_at is None
