"""What staff decide about many jobs: frozen when it is proposed, and carried out a batch at a time by anybody."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.db import IntegrityError, OperationalError, connection

from capture import lanes, queue, staff_actions, worker
from capture.models import Attempt, Capture, CaptureJob, Charge, Lane, StaffAction, Status
from capture.staff_actions import Kind, targets_of, to_settle
from tests.factories import (
    FOR_MONEY,
    claim_one,
    complete_one,
    error,
    fresh,
    make_check,
    make_job,
    make_user,
    prompts,
    unknown_error,
)
from tests.test_races import elsewhere, held_open

pytestmark = pytest.mark.django_db

__all__ = ["elsewhere"]


@pytest.fixture(autouse=True)
def _lanes(simulated):
    lanes.make_missing()


@pytest.fixture
def user():
    return make_user("ada", is_staff=True)


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(staff_actions, "BATCH", 2)


def propose(user, kind) -> Any:
    return staff_actions.propose(user, kind, targets_of(kind, CaptureJob.objects.all()), "/admin/")


def confirmed(user, kind) -> Any:
    action = propose(user, kind)
    assert staff_actions.confirm(action)
    return action


def carry_out(user, kind) -> Any:
    action = confirmed(user, kind)
    staff_actions.carry_on(60)
    action.refresh_from_db()
    return action


def failed(**fields) -> CaptureJob:
    job = make_job(**fields)
    queue.fail(claim_one(job), error())
    return job


def unsettled() -> CaptureJob:
    job = make_job()
    queue.fail(claim_one(job, FOR_MONEY), unknown_error())
    return job


class TestProposed:
    def test_only_that_with_which_something_would_be_done(self, user):
        complete_one(make_job())
        lost = failed()
        pending = make_job()

        targets = {kind: list(targets_of(kind, CaptureJob.objects.all())) for kind in ("requeue", "cancel", "fail")}

        assert targets == {"requeue": [lost.pk], "cancel": [pending.pk], "fail": [pending.pk]}
        assert propose(user, Kind.SETTLE_CHARGED) is None

    def test_what_comes_later_is_none_of_it(self, user):
        first = make_job()
        action = confirmed(user, Kind.CANCEL)
        later = make_job()

        staff_actions.carry_on(60)

        action.refresh_from_db()
        assert (action.count, action.done, action.changed) == (1, 1, 1)
        assert (fresh(first).status, fresh(later).status) == (Status.CANCELLED, Status.PENDING)

    def test_asking_again_says_what_it_will_probably_cost(self, user, only_chatgpt):
        for _ in range(3):
            failed()

        assert propose(user, Kind.REQUEUE).cost == Decimal("0.06")

    def test_asking_again_where_it_is_simulated_costs_nothing(self, user):
        failed()

        assert propose(user, Kind.REQUEUE).cost == 0

    def test_settling_says_what_it_counts_at(self, user):
        unsettled()

        assert propose(user, Kind.SETTLE_NOT_CHARGED).cost == Decimal("0.02")

    def test_somebodys_earlier_proposal_is_dropped_and_nobody_elses(self, user):
        make_job()
        other = propose(make_user(), Kind.CANCEL)
        propose(user, Kind.CANCEL)

        last = propose(user, Kind.FAIL)

        assert set(StaffAction.objects.all()) == {other, last}

    def test_more_than_the_most_is_left_for_another_time(self, user, monkeypatch):
        monkeypatch.setattr(staff_actions, "MOST", 2)
        make_check(prompts=prompts(3))

        assert propose(user, Kind.CANCEL).count == 2

    def test_nothing_is_done_before_somebody_has_said_yes(self, user):
        job = make_job()
        action = propose(user, Kind.CANCEL)

        staff_actions.carry_on(60)
        staff_actions.carry_on(60, action.pk)

        assert fresh(job).status == Status.PENDING
        with pytest.raises(IntegrityError):
            StaffAction.objects.update(done=1)

    def test_yes_said_twice_is_said_once(self, user):
        make_job()
        action = propose(user, Kind.CANCEL)

        assert [staff_actions.confirm(action), staff_actions.confirm(action)] == [True, False]

        entry = LogEntry.objects.get()
        assert entry.user == user
        assert entry.get_change_message() == "Confirmed: cancel, targets: 1, chosen at /admin/"


class TestCarriedOut:
    def test_jobs_are_asked_again(self, user):
        job = failed()

        action = carry_out(user, Kind.REQUEUE)

        assert (action.done, action.changed, action.is_under_way, action.targets) == (1, 1, False, [])
        assert (fresh(job).status, fresh(job).attempts) == (Status.PENDING, 0)

    def test_one_that_somebody_waits_for_goes_next(self, user):
        job = failed()
        make_check(job.of_check.created_by, prompts=prompts(5))
        Lane.objects.filter(name="openai").update(turn=3)

        carry_out(user, Kind.REQUEUE)

        assert fresh(job).turn == 3

    def test_open_jobs_are_failed_by_hand(self, user):
        job = make_job()
        claim_one(job)

        carry_out(user, Kind.FAIL)

        assert fresh(job).reason == "by_hand"

    @pytest.mark.parametrize(
        ("kind", "amount", "settled"), [(Kind.SETTLE_CHARGED, "0.02", True), (Kind.SETTLE_NOT_CHARGED, "0", False)]
    )
    def test_unknown_outcomes_are_settled(self, user, kind, amount, settled):
        unsettled()

        carry_out(user, kind)

        assert Attempt.objects.get().settled is settled
        assert Charge.objects.get().amount == Decimal(amount)
        assert (Capture.objects.get().unknowns, Capture.objects.get().cost) == (0, Decimal(amount))

    def test_one_attempt_of_a_job_can_be_settled_and_the_other_not(self, user):
        job = make_job()
        queue.ask_again(claim_one(job), unknown_error(), 0)
        CaptureJob.objects.update(run_after=None)
        queue.fail(claim_one(job), unknown_error())
        first, second = Attempt.objects.order_by("number")

        targets = to_settle(Attempt.objects.filter(pk=first.pk))
        action = staff_actions.propose(user, Kind.SETTLE_CHARGED, targets, "/admin/")
        assert action
        staff_actions.confirm(action)
        staff_actions.carry_on(60)

        first.refresh_from_db()
        second.refresh_from_db()
        assert (first.settled, second.settled) == (True, None)

    def test_each_job_that_was_changed_is_in_the_log_and_no_other(self, user):
        pending, called_off = make_check(prompts=prompts(2)).jobs.order_by("pk")
        action = confirmed(user, Kind.CANCEL)
        queue.cancel(CaptureJob.objects.filter(pk=called_off.pk))

        staff_actions.carry_on(60)

        told = LogEntry.objects.filter(content_type__model="capturejob")
        assert [(entry.user, entry.object_id, entry.get_change_message()) for entry in told] == [
            (user, str(pending.pk), f"Cancelled (staff action {action.pk})")
        ]
        action.refresh_from_db()
        assert (action.changed, action.unchanged) == (1, 1)

    def test_a_job_that_is_gone_is_left_out(self, user):
        job = failed()
        action = confirmed(user, Kind.REQUEUE)
        job.delete()

        staff_actions.carry_on(60)

        action.refresh_from_db()
        assert (action.done, action.changed) == (1, 0)


class TestInBatches:
    def test_each_is_bounded_and_it_ends_with_the_last(self, user, small_batches):
        make_check(prompts=prompts(5))
        action = confirmed(user, Kind.CANCEL)

        came = []
        for _ in range(4):
            staff_actions.carry_on(0)
            action.refresh_from_db()
            came.append((action.done, CaptureJob.objects.filter(status=Status.CANCELLED).count(), action.is_under_way))

        assert came == [(2, 2, True), (4, 4, True), (5, 5, False), (5, 5, False)]

    def test_an_error_of_ours_ends_it_and_what_was_done_before_stays(self, user, small_batches, monkeypatch):
        make_check(prompts=prompts(4))
        action = confirmed(user, Kind.CANCEL)
        staff_actions.carry_on(0)
        monkeypatch.setitem(staff_actions.MOVES, Kind.CANCEL, cancel_and_break)

        staff_actions.carry_on(60)

        action.refresh_from_db()
        assert (action.done, action.changed, action.trouble, action.is_under_way) == (2, 2, "ZeroDivisionError", False)
        assert CaptureJob.objects.filter(status=Status.CANCELLED).count() == 2

    def test_while_the_database_is_away_it_waits(self, user, monkeypatch):
        job = make_job()
        action = confirmed(user, Kind.CANCEL)

        with monkeypatch.context() as patch:
            patch.setitem(staff_actions.MOVES, Kind.CANCEL, away)
            with pytest.raises(OperationalError):
                staff_actions.carry_on(60)
        staff_actions.carry_on(60)

        action.refresh_from_db()
        assert (action.trouble, action.changed, fresh(job).status) == ("", 1, Status.CANCELLED)

    def test_a_worker_carries_it_on_at_its_beats(self, user):
        job = make_job()
        confirmed(user, Kind.CANCEL)

        worker.upkeep.send(sender=worker.Worker)

        assert fresh(job).status == Status.CANCELLED

    def test_nobody_reads_more_of_the_targets_than_a_batch(self, user, small_batches):
        make_check(prompts=prompts(4))
        action = confirmed(user, Kind.CANCEL)

        assert StaffAction.objects.batch(action.pk, 1, 2) == action.targets[1:3]
        assert StaffAction.objects.under_way().get().get_deferred_fields() == {"targets"}


def cancel_and_break(batch):
    queue.cancel_these([int(number) for number in batch])
    return 1 // 0


def away(batch):
    raise OperationalError("the database is away")


@pytest.mark.django_db(transaction=True)
def test_one_that_somebody_is_at_is_passed_over(user, elsewhere):
    make_job()
    action = confirmed(user, Kind.CANCEL)

    with held_open(elsewhere, lambda: StaffAction.objects.select_for_update().get()):
        staff_actions.carry_on(60)

        action.refresh_from_db()
        assert action.done == 0
    staff_actions.carry_on(60)

    action.refresh_from_db()
    assert action.changed == 1


@pytest.mark.slow
def test_many_jobs_are_cancelled_in_batches(user, monkeypatch):
    monkeypatch.setattr(staff_actions, "BATCH", 50)
    make_check(prompts=prompts(10))
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO capture_capturejob (team_id, of_check_id, prompt_id, provider, lane, sample, polls, attempts,
                unknowns, crashes, reason, estimate, status, turn)
            SELECT team_id, of_check_id, prompt_id, provider, lane, 1 + n, 0, 0, 0, 0, '', 0.02, 'pending', n
            FROM capture_capturejob, generate_series(1, 99) n
            """
        )
    action = confirmed(user, Kind.CANCEL)
    assert action.count == 1_000

    steps = 0
    while action.is_under_way or not action.confirmed_at:
        staff_actions.carry_on(0)
        action.refresh_from_db()
        steps += 1

    assert steps == 1_000 / staff_actions.BATCH
    assert CaptureJob.objects.filter(status=Status.CANCELLED).count() == 1_000
    assert LogEntry.objects.filter(content_type__model="capturejob").count() == 1_000
