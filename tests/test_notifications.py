"""What wakes the workers: once for a transaction, when it is committed."""

from __future__ import annotations

import pytest
from django.db import transaction
from django.urls import reverse

from capture import lanes, queue
from capture.models import CaptureJob, Lane
from tests.factories import claim as claim_all
from tests.factories import claim_one, error, make_check, make_job, make_user
from tests.hearing import an_ear
from tests.lost_workers import claim, lose, make_worker

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("simulated")]


@pytest.fixture(autouse=True)
def _lanes():
    """Emptying the tables after a test empties the lanes as well."""
    lanes.make_missing()


@pytest.fixture
def ear():
    with an_ear() as ear:
        yield ear


def test_fault_26_500_jobs_are_one_notification(ear):
    check = make_check(prompts=tuple(f"{number}?" for number in range(100)), samples=5)

    assert check.jobs.count() == 500
    assert ear.count() == 1


def test_the_same_form_sent_twice_wakes_once(ear):
    user = make_user()
    make_check(user, nonce="n")
    make_check(user, nonce="n")

    assert ear.count() == 1


def test_a_notification_goes_out_with_the_commit_and_not_before(ear):
    with transaction.atomic():
        make_job()
        assert ear.count() == 0

    assert ear.count() == 1


def test_what_is_rolled_back_wakes_nobody(ear):
    with transaction.atomic():
        make_job()
        transaction.set_rollback(True)

    assert ear.count() == 0


def test_fault_26_jobs_that_are_asked_again_by_hand_are_one_notification(ear):
    jobs = list(make_check(prompts=("a?", "b?", "c?")).jobs.all())
    for ticket in claim_all():
        queue.fail(ticket, error())
    ear.count()

    assert queue.requeue(CaptureJob.objects.filter(pk__in=[job.pk for job in jobs])) == 3

    assert ear.count() == 1


def test_asking_nothing_again_wakes_nobody(ear):
    job = make_job()
    ear.count()

    assert queue.requeue(CaptureJob.objects.filter(pk=job.pk)) == 0

    assert ear.count() == 0


def test_a_lane_that_is_resumed_wakes(ear, admin_client):
    lane = Lane.objects.get(name="openai")
    Lane.objects.filter(pk=lane.pk).update(paused=True)
    sent = {"enabled": "on", "limit": "20", "least_seconds_between_starts": "0"}

    admin_client.post(reverse("admin:capture_lane_change", args=[lane.pk]), sent)

    assert not Lane.objects.get(pk=lane.pk).paused
    assert ear.count() == 1


def test_a_call_that_is_adopted_wakes(ear):
    worker = make_worker()
    late = claim(worker, make_job())
    lose(worker)
    ear.count()

    queue.wait(late, "resp_1", 2)

    assert ear.count() == 1


def test_what_a_worker_does_with_a_job_in_its_hands_wakes_nobody(ear):
    ticket = claim_one(make_job())
    ear.count()

    queue.wait(ticket, "resp_1", 2)

    assert ear.count() == 0
