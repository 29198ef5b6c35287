"""Who is lost, and what becomes of their jobs."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import OperationalError

from capture import heartbeat, ledger, processes, queue, recovery
from capture.models import Attempt, AttemptOutcome, Capture, CaptureJob, Charge, Lane, Outcome, Status, Worker
from capture.models.clock import ClockTimestamp
from capture.processes import Place
from capture.providers.replies import Basis
from capture.queue import forsaken
from capture.retry import Limits
from tests.factories import (
    answer,
    fresh,
    make_check,
    make_job,
    prompts,
    routes,
    stranger,
)
from tests.lost_workers import (
    LIMITS,
    claim,
    die,
    end_exchanges,
    fall_silent,
    lose,
    make_worker,
    only,
    only_claim,
    poll,
    statuses,
)

pytestmark = pytest.mark.django_db


# ------------------------------------------------------------------------------------------------------ who is lost


def test_a_worker_that_is_silent_for_a_lease_is_given_up():
    worker = make_worker()
    assert recovery.give_up_the_silent() == 0

    fall_silent(worker)

    assert recovery.give_up_the_silent() == 1
    assert Worker.objects.get().lost_at is not None
    assert not Worker.objects.get().proven_dead
    assert recovery.give_up_the_silent() == 0


def test_fault_36_who_has_not_beaten_for_a_whole_lease_may_not_judge_by_silence():
    judge, silent = make_worker(), make_worker()
    fall_silent(silent)
    job = make_job()
    poll(silent, job)

    recovery.recover(LIMITS, but=judge, steady=False)

    assert not Worker.objects.filter(lost_at__isnull=False).exists()
    assert fresh(job).status == Status.CLAIMED


def test_fault_36_after_an_outage_of_the_database_nobody_is_lost():
    workers = [make_worker(), make_worker()]
    Worker.objects.update(steady_since=ClockTimestamp() - timedelta(hours=1))
    jobs = list(make_check(prompts=prompts(2)).jobs.all())
    queue.claim("openai", workers[0], routes(["chatgpt"]), 2)
    fall_silent(*workers)

    for worker in workers:
        pulse = heartbeat.beat(worker)
        recovery.recover(LIMITS, but=worker, steady=pulse.steady)

    assert not Worker.objects.filter(lost_at__isnull=False).exists()
    assert statuses(jobs) == [Status.RUNNING] * 2


def test_a_steady_worker_takes_the_jobs_of_a_silent_one():
    judge, silent = make_worker(), make_worker()
    job = make_job()
    poll(silent, job)
    fall_silent(silent)

    assert recovery.recover(LIMITS, but=judge, steady=True) == 1

    assert fresh(job).status == Status.WAITING
    assert Worker.objects.get(pk=judge).lost_at is None


def test_nobody_judges_itself():
    worker = make_worker()
    job = make_job()
    claim(worker, job)
    fall_silent(worker)
    die(worker)

    recovery.recover(LIMITS, but=worker, steady=True)

    assert fresh(job).status == Status.RUNNING


def test_fault_2_the_age_of_a_job_proves_nothing():
    worker = make_worker()
    job = make_job()
    claim(worker, job)
    an_hour_ago = ClockTimestamp() - timedelta(hours=1)
    CaptureJob.objects.update(created_at=an_hour_ago, asked_at=an_hour_ago)
    Attempt.objects.update(started_at=an_hour_ago, deadline=an_hour_ago)

    assert recovery.recover(LIMITS, steady=True) == 0

    assert fresh(job).status == Status.RUNNING


def test_fault_4_a_worker_that_drains_still_beats_and_keeps_its_job():
    worker = make_worker()
    job = make_job()
    claim(worker, job)
    Worker.objects.update(beat_at=ClockTimestamp() - timedelta(seconds=29))

    heartbeat.beat(worker)
    recovery.recover(LIMITS, steady=True)

    assert fresh(job).status == Status.RUNNING
    assert Worker.objects.alive().count() == 1


def test_fault_5_a_worker_under_the_same_host_and_number_does_not_own_its_former_selfs_jobs():
    former = make_worker()
    die(former)
    job = make_job()
    claim(former, job)
    successor = make_worker()
    rows = Worker.objects.values_list("host", "pid", "boot_id")
    assert len(set(rows)) == 1

    assert queue.release_strays(successor, []) == 0
    recovery.recover(LIMITS, but=successor)

    assert fresh(job).status == Status.PENDING
    assert set(Worker.objects.filter(proven_dead=True).values_list("pk", flat=True)) == {former}


def test_a_dead_process_is_proven_only_where_its_number_means_something(monkeypatch):
    elsewhere = make_worker(boot_id="another-boot")
    container = make_worker(pid_namespace="pid:[1]")
    die(elsewhere)
    die(container)
    assert recovery.give_up_the_dead() == 0

    Worker.objects.update(boot_id="", pid_namespace="")
    monkeypatch.setattr(processes, "here", lambda: Place("", ""))

    assert recovery.give_up_the_dead() == 0


def test_a_worker_that_was_given_up_by_its_lease_may_yet_be_proven_dead():
    worker = make_worker()
    fall_silent(worker)
    recovery.give_up_the_silent()

    die(worker)

    assert recovery.give_up_the_dead() == 1
    assert Worker.objects.get().proven_dead


def test_a_worker_that_stopped_tidily_is_not_lost():
    worker = make_worker()
    heartbeat.close(worker)
    die(worker)
    fall_silent(worker)

    recovery.recover(LIMITS, steady=True)

    assert Worker.objects.get().lost_at is None


def test_a_job_of_a_worker_that_nobody_knows_is_taken_back():
    job = make_job()
    poll(stranger(), job)

    assert recovery.take_all_back(LIMITS) == 1

    assert fresh(job).status == Status.WAITING


# ----------------------------------------------------------------------------------------------- what becomes of jobs


def test_fault_1_what_was_only_claimed_goes_back_in_line():
    worker = make_worker()
    job = make_job()
    only_claim(worker, job)
    die(worker)

    recovery.recover(LIMITS)

    job = fresh(job)
    assert (job.status, job.attempts, job.unknowns, job.run_after) == (Status.PENDING, 0, 0, None)
    assert not Attempt.objects.exists()


def test_a_call_in_hand_is_due_to_be_looked_after():
    worker = make_worker()
    job = make_job()
    poll(worker, job)
    die(worker)

    recovery.recover(LIMITS)

    assert (fresh(job).status, fresh(job).remote_id) == (Status.WAITING, "resp_1")
    assert Attempt.objects.get().outcome == AttemptOutcome.OPEN
    assert claim(make_worker(), job).remote_id == "resp_1"


def test_a_call_that_waits_needs_no_worker():
    worker = make_worker()
    job = make_job()
    queue.wait(claim(worker, job), "resp_1", 60)
    before = CaptureJob.objects.values().get()
    die(worker)

    assert recovery.recover(LIMITS, steady=True) == 0

    assert CaptureJob.objects.values().get() == before


def test_a_start_of_a_dead_worker_has_an_unknown_outcome_at_once():
    worker = make_worker()
    job = make_job()
    claim(worker, job)
    die(worker)

    recovery.recover(LIMITS)

    job, attempt, charge = fresh(job), Attempt.objects.get(), Charge.objects.get()
    assert (job.status, job.reason, job.attempts, job.unknowns) == (Status.PENDING, "worker_lost", 1, 1)
    assert (attempt.outcome, attempt.reason) == (AttemptOutcome.UNKNOWN, "worker_lost")
    assert (charge.amount, charge.basis) == (job.estimate, Basis.ESTIMATED)


def test_a_start_of_a_silent_worker_waits_out_its_deadline_and_keeps_its_place_meanwhile():
    worker = make_worker()
    job = make_job()
    claim(worker, job)
    make_job()
    Lane.objects.update(limit=1)
    fall_silent(worker)

    assert recovery.recover(LIMITS, steady=True) == 0

    assert fresh(job).status == Status.RUNNING
    assert queue.claim("openai", make_worker(), routes(["chatgpt"]), 8) == []


def test_a_start_of_a_silent_worker_is_an_unknown_outcome_once_its_deadline_has_passed():
    worker = make_worker()
    job = make_job()
    claim(worker, job)
    fall_silent(worker)
    recovery.recover(LIMITS, steady=True)

    end_exchanges()

    assert recovery.recover(LIMITS) == 1
    assert (fresh(job).status, fresh(job).unknowns, fresh(job).crashes) == (Status.PENDING, 1, 0)


def test_a_start_of_a_worker_that_ended_untidily_has_an_unknown_outcome_at_once():
    worker = make_worker()
    job = make_job()
    claim(worker, job)

    heartbeat.close(worker)

    assert recovery.recover(LIMITS) == 1
    assert (fresh(job).status, fresh(job).crashes) == (Status.PENDING, 0)
    assert Attempt.objects.get().outcome == AttemptOutcome.UNKNOWN


def test_a_second_unknown_outcome_fails_the_job_and_says_so():
    job = make_job()
    for _ in range(2):
        worker = make_worker()
        claim(worker, job)
        heartbeat.close(worker)
        recovery.recover(LIMITS)

    capture = Capture.objects.get()
    assert (fresh(job).status, fresh(job).reason) == (Status.FAILED, "worker_lost")
    assert (capture.outcome, capture.reason, capture.unknowns) == (Outcome.FAILED, "worker_lost", 2)
    assert Charge.objects.count() == 2


def test_the_last_attempt_that_ends_unknown_fails_the_job():
    job = make_job()
    CaptureJob.objects.update(attempts=LIMITS.attempts - 1)
    worker = make_worker()
    claim(worker, job)
    heartbeat.close(worker)

    recovery.recover(LIMITS)

    assert fresh(job).status == Status.FAILED


def test_fault_6_all_orphans_are_found_in_bounded_batches(monkeypatch):
    monkeypatch.setattr(forsaken, "AT_ONCE", 3)
    monkeypatch.setattr(recovery, "AT_ONCE", 3)
    worker = make_worker()
    check = make_check(prompts=prompts(10))
    queue.claim("openai", worker, routes(["chatgpt"]), 10)
    die(worker)

    assert recovery.recover(LIMITS) == 10

    assert check.jobs.pending().count() == 10


def test_fault_6_a_page_of_unfit_rows_hides_no_orphan(monkeypatch):
    monkeypatch.setattr(forsaken, "AT_ONCE", 2)
    monkeypatch.setattr(recovery, "AT_ONCE", 2)
    check = make_check(prompts=prompts(12))
    alive, silent, dead = make_worker(), make_worker(), make_worker()
    queue.claim("openai", alive, routes(["chatgpt"]), 4)
    queue.claim("openai", silent, routes(["chatgpt"]), 4)
    orphans = queue.claim("openai", dead, routes(["chatgpt"]), 4)
    fall_silent(silent)
    die(dead)

    assert recovery.recover(LIMITS, steady=True) == 4

    assert set(check.jobs.pending().values_list("pk", flat=True)) == {ticket.job for ticket in orphans}


def test_a_recovery_that_is_rolled_back_says_nothing(monkeypatch, caplog):
    worker = make_worker()
    check = make_check(prompts=prompts(2))
    queue.claim("openai", worker, routes(["chatgpt"]), 2)
    die(worker)
    recovery.give_up_the_dead()
    calls = []

    def break_at_the_second_job(job):
        calls.append(job)
        if len(calls) == 2:
            raise OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(ledger, "open_attempt", break_at_the_second_job)
    with pytest.raises(OperationalError):
        queue.take_back(LIMITS)
    assert "taken back" not in caplog.text

    monkeypatch.undo()

    assert queue.take_back(LIMITS) == 2
    assert caplog.text.count("taken back") == check.jobs.pending().count() == 2


# -------------------------------------------------------------------------------------------------------- crashes


def crash(job, times=1, limits=LIMITS):
    """So many workers die with the job in their hands."""
    for _ in range(times):
        worker = make_worker()
        claim(worker, job)
        die(worker)
        recovery.recover(limits)


def test_a_crash_is_counted_apart_from_attempts():
    job = make_job()
    queue.wait(claim(make_worker(), job), "resp_1", 0)

    crash(job)

    assert (fresh(job).crashes, fresh(job).attempts) == (1, 1)


def test_a_worker_that_was_only_silent_has_not_crashed():
    worker = make_worker()
    job = make_job()
    claim(worker, job)

    lose(worker)

    assert (fresh(job).status, fresh(job).crashes) == (Status.PENDING, 0)


def test_fault_11_a_job_that_kills_its_worker_fails_the_third_time():
    job = make_job()

    limits = Limits(attempts=5, unknown_retries=5, remote_deadline=86_400)

    crash(job, 2, limits)
    assert fresh(job).status == Status.PENDING
    crash(job, 1, limits)

    assert (fresh(job).status, fresh(job).reason) == (Status.FAILED, "crashed")
    assert Capture.objects.get().outcome == Outcome.FAILED


def test_fault_11_a_call_whose_polls_kill_their_worker_keeps_its_id():
    job = make_job()
    queue.wait(claim(make_worker(), job), "resp_1", 0)

    crash(job, times=3)

    assert (fresh(job).status, fresh(job).remote_id) == (Status.FAILED, "resp_1")
    assert Charge.objects.get().basis == Basis.ESTIMATED
    queue.requeue(only(job))
    assert (fresh(job).status, fresh(job).crashes) == (Status.WAITING, 0)


def test_fault_37_a_worker_holds_one_job_that_has_crashed_before_at_most():
    check = make_check(prompts=prompts(6))
    CaptureJob.objects.filter(pk__in=check.jobs.order_by("pk").values("pk")[:3]).update(crashes=1)

    tickets = queue.claim("openai", make_worker(), routes(["chatgpt"]), 8)

    assert sorted(ticket.crashed for ticket in tickets) == [False, False, False, True]
    assert queue.claim("openai", make_worker(), routes(["chatgpt"]), 8, crashed=False) == []
    assert len(queue.claim("openai", make_worker(), routes(["chatgpt"]), 8)) == 1


def test_fault_37_a_poison_job_is_isolated_and_takes_no_neighbour_along():
    jobs = list(make_check(prompts=prompts(5)).jobs.order_by("pk"))
    poison = jobs[2]

    for _ in range(10):
        worker = make_worker()
        tickets = queue.claim("openai", worker, routes(["chatgpt"]), 8)
        if poison.pk in [ticket.job for ticket in tickets]:
            die(worker)
            recovery.recover(LIMITS)
            continue
        for ticket in tickets:
            queue.complete(ticket, answer())

    assert fresh(poison).status == Status.FAILED
    assert statuses([job for job in jobs if job != poison]) == [Status.DONE] * 4
