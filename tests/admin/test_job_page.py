"""A job's page tells its whole story: attempts with their workers and charges, what came of it, what staff did."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from capture import heartbeat, queue
from capture.models import Attempt, Capture, CaptureJob, StaffAction, Status
from tests.admin.staff import JOBS, LOOK, get, say_yes, staff
from tests.factories import WORKER, answer, claim_one, complete_one, error, fresh, make_job, unknown_error

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]


def page(job: CaptureJob) -> str:
    return f"{JOBS}{job.pk}/change/"


def text(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_its_attempts_say_who_when_how_long_why_and_at_what_charge(admin_client):
    heartbeat.register(WORKER, ["chatgpt"], 8)
    job = make_job()
    ticket = claim_one(job)
    queue.wait(ticket, "resp_1", 0)
    assert queue.complete(claim_one(job), answer())
    Attempt.objects.update(ended_at=Attempt.objects.get().started_at + timedelta(seconds=75))

    html = get(admin_client, page(job))

    told = text(html)
    assert "75 s the system replied; simulated" in told
    assert "resp_1" in told
    assert "0.013000 (computed)" in told
    assert f"/admin/capture/worker/{WORKER}/change/" in html
    assert f"/admin/capture/capture/{Capture.objects.get().pk}/change/" in html


def test_a_worker_whose_row_is_gone_is_named_all_the_same(admin_client):
    job = make_job()
    queue.fail(claim_one(job), error("http_429"))

    told = text(get(admin_client, page(job)))

    assert "00000000…, whose row is gone" in told
    assert "too many questions at once for this account (http_429): something went wrong" in told


def test_what_staff_did_to_it_is_told_and_to_others_not(admin_client):
    job, other = make_job(), make_job(providers=("gemini",))

    say_yes(admin_client, press(admin_client, job, "cancel"))

    number = StaffAction.objects.get().pk
    assert f"admin Cancelled (staff action {number})" in text(get(admin_client, page(job)))
    assert "What staff have done Nothing." in text(get(admin_client, page(other)))


def press(client: Client, job: CaptureJob, kind: str) -> str:
    return client.post(f"{JOBS}{job.pk}/act/", {"kind": kind}, follow=True).content.decode()


class TestButtons:
    def offered(self, client, job: CaptureJob) -> list[str]:
        return re.findall(r'name="kind" value="(\w+)"', get(client, page(job)))

    def test_only_what_would_do_something_is_offered(self, admin_client):
        job, answered = make_job(), make_job(providers=("gemini",))
        complete_one(answered)

        pending = self.offered(admin_client, job)
        ticket = claim_one(job)
        running = self.offered(admin_client, job)
        queue.fail(ticket, unknown_error())
        unknown = self.offered(admin_client, job)

        assert pending == ["cancel", "fail"]
        assert running == ["fail"]
        assert unknown == ["requeue", "settle_charged", "settle_not_charged"]
        assert self.offered(admin_client, answered) == []

    def test_what_is_pressed_is_asked_first_and_leads_back(self, admin_client):
        job = make_job()

        asked = press(admin_client, job, "fail")

        assert fresh(job).status == Status.PENDING
        html = say_yes(admin_client, asked)
        assert fresh(job).status == Status.FAILED
        assert "Fail by hand: 1 of 1." in html
        assert f'action="{JOBS}{job.pk}/act/"' in html

    def test_an_unknown_outcome_is_settled(self, admin_client):
        job = make_job()
        queue.fail(claim_one(job), unknown_error())

        say_yes(admin_client, press(admin_client, job, "settle_not_charged"))

        assert Attempt.objects.get().settled is False
        assert Capture.objects.get().cost == Decimal(0)

    def test_what_would_do_nothing_is_said(self, admin_client):
        job = make_job()

        html = press(admin_client, job, "requeue")

        assert "With none of them anything would be done:" in html
        assert not StaffAction.objects.exists()

    def test_staff_who_may_only_look_see_none_and_are_refused(self, client):
        client.force_login(staff(*LOOK))
        job = make_job()

        assert self.offered(client, job) == []
        assert client.post(f"{JOBS}{job.pk}/act/", {"kind": "fail"}).status_code == 403
        assert fresh(job).status == Status.PENDING

    def test_hand_made_requests_are_refused(self, admin_client):
        job = make_job()

        assert admin_client.post(f"{JOBS}{job.pk}/act/", {"kind": "delete"}).status_code == 403
        assert admin_client.post(f"{JOBS}999999/act/", {"kind": "fail"}).status_code == 404
        assert admin_client.get(f"{JOBS}{job.pk}/act/").status_code == 405
        assert not LogEntry.objects.exists()
