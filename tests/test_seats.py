"""Seats that are watched: what hangs is given up, and its seat is counted."""

from __future__ import annotations

import threading

import pytest

from capture import seats as seats_module
from capture.models import Attempt, AttemptOutcome, CaptureJob, Status
from capture.models import Worker as WorkerRow
from capture.providers.replies import Pending
from tests.factories import answer, fresh, make_check, make_job
from tests.test_worker import Scripted, _one_connection, let_it_work, make_worker

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_one_connection")]

__all__ = ["_one_connection"]


@pytest.fixture
def hanging(monkeypatch):
    """A worker of 8 seats whose exchanges are overdue as soon as they begin, and hang until the gate opens."""
    monkeypatch.setattr(seats_module, "OVERDUE", 0.0)
    script = Scripted()
    script.gate.clear()
    worker = make_worker(script=script, exchange=0.0)
    yield worker, script
    script.gate.set()
    worker.seats.close(wait=True)


def give_up(worker):
    """Begin what can be begun, and give up what hangs."""
    worker.fill_seats()
    assert worker.watch_seats()
    worker.record()


def come_back(worker, script):
    """Let the threads go on, and wait until all of them have."""
    script.gate.set()
    while worker.seats.stuck:
        worker.wait()
    worker.record()


def test_fault_35_an_exchange_that_hangs_is_given_up_and_its_seat_counted(hanging):
    worker, _ = hanging
    job = make_job()

    give_up(worker)

    assert (fresh(job).status, fresh(job).reason) == (Status.PENDING, "stuck")
    assert Attempt.objects.get().outcome == AttemptOutcome.UNKNOWN
    assert (worker.seats.stuck, worker.seats.free, worker.in_hand()) == (1, 7, 0)
    assert not worker.stopping


def test_a_stuck_seat_shows_in_the_workers_row(hanging):
    worker, _ = hanging
    worker.register()
    make_job()
    give_up(worker)

    worker.beat()

    assert WorkerRow.objects.get().stuck == 1


def test_a_thread_that_comes_back_frees_its_seat_and_its_answer_is_kept(hanging):
    worker, script = hanging
    job = make_job()
    give_up(worker)

    come_back(worker, script)

    assert worker.seats.free == 8
    assert fresh(job).status == Status.DONE


def test_a_thread_that_comes_back_with_an_id_has_its_call_looked_after(hanging):
    worker, script = hanging
    job = make_job()
    script.replies.append(Pending("resp_1"))
    give_up(worker)

    come_back(worker, script)

    assert (fresh(job).status, fresh(job).remote_id, fresh(job).unknowns) == (Status.WAITING, "resp_1", 0)
    assert Attempt.objects.get().outcome == AttemptOutcome.OPEN


def test_a_poll_that_hangs_is_simply_looked_after_later(monkeypatch):
    monkeypatch.setattr(seats_module, "OVERDUE", 0.0)
    script = Scripted(Pending("resp_1"))
    worker = make_worker(script=script, exchange=0.0)
    job = make_job()
    let_it_work(worker)
    script.gate.clear()
    CaptureJob.objects.update(run_after="2000-01-01T00:00Z")

    give_up(worker)

    assert (fresh(job).status, fresh(job).remote_id, fresh(job).reason) == (Status.WAITING, "resp_1", "stuck")
    assert (Attempt.objects.get().outcome, fresh(job).attempts) == (AttemptOutcome.OPEN, 1)
    script.gate.set()
    worker.seats.close(wait=True)


def test_fault_35_a_worker_with_half_of_its_seats_stuck_ends_untidily(hanging):
    worker, _ = hanging
    make_check(prompts=("a?", "b?", "c?", "d?"))

    assert not worker.run()

    assert worker.stopping
    assert worker.seats.stuck == 4
    assert not CaptureJob.objects.held().exists()
    assert WorkerRow.objects.get().stopped_at is not None


def test_a_worker_with_fewer_seats_stuck_goes_on(hanging):
    worker, _ = hanging
    make_check(prompts=("a?", "b?", "c?"))

    give_up(worker)

    assert worker.seats.stuck == 3
    assert not worker.stopping


def test_a_result_that_arrives_in_time_is_given_up_by_nobody():
    job = make_job()
    worker = make_worker(answer())
    worker.fill_seats()

    assert not worker.watch_seats()

    let_it_work(worker)
    assert fresh(job).status == Status.DONE
    assert worker.seats.stuck == 0


def test_a_result_that_waits_for_the_database_is_no_exchange_that_hangs(monkeypatch):
    monkeypatch.setattr(seats_module, "OVERDUE", 0.0)
    job = make_job()
    worker = make_worker(answer(), exchange=0.0)
    worker.fill_seats()
    while not worker.arrived():
        worker.wait()

    assert not worker.watch_seats()

    worker.record()
    assert fresh(job).status == Status.DONE
    assert (worker.seats.stuck, worker.seats.free) == (0, 8)


def test_all_threads_are_there_before_anything_is_claimed():
    seats = seats_module.Seats(5)

    names = [thread.name for thread in threading.enumerate() if thread in seats._pool._threads]

    assert len(names) == 5
    assert (seats.free, seats.taken, seats.next_deadline()) == (5, [], None)
    seats.close(wait=True)


def test_what_an_errand_brings_arrives_in_the_mailbox():
    seats = seats_module.Seats(1)

    seats.send_on_errand(lambda: "here")

    assert next(seats.messages(30)) == "here"
    seats.close(wait=True)


def test_a_result_is_of_one_claim_and_not_of_another_of_the_same_job(hanging):
    """A job whose start hung is claimed again while the first thread still hangs: both seats are counted."""
    worker, script = hanging
    job = make_job()
    give_up(worker)
    CaptureJob.objects.update(run_after=None, unknowns=0)
    worker.fill_seats()

    assert (worker.seats.stuck, worker.in_hand(), worker.seats.free) == (1, 1, 6)

    script.gate.set()
    while worker.arrived() < 2:  # of both threads, in any order
        worker.wait()
    worker.record()
    assert worker.seats.free == 8
    assert fresh(job).status == Status.DONE
