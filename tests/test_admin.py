"""The admin: people's rows can be written, the machine's cannot, and jobs can be asked again."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from capture import heartbeat, lanes, queue
from capture.models import Attempt, Brand, Capture, CaptureJob, Charge, Check, Lane, Status, Team
from capture.models.clock import database_now
from tests.factories import (
    WORKER,
    complete_one,
    error,
    fresh,
    make_check,
    make_job,
    make_team,
    make_user,
    start_one,
    unknown_error,
)
from tests.lost_workers import fall_silent, lose, make_worker

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]

MACHINE = ["check", "capturejob", "attempt", "capture", "charge", "worker"]
PEOPLE = ["team", "membership", "brand", "competitor"]


def list_of(model: str) -> str:
    return reverse(f"admin:capture_{model}_changelist")


def page_of(row) -> str:
    return reverse(f"admin:capture_{row._meta.model_name}_change", args=[row.pk])


def get(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return response.content.decode()


def act(client: Client, action: str, jobs) -> str:
    sent = {"action": action, "_selected_action": [job.pk for job in jobs]}
    return client.post(list_of("capturejob"), sent, follow=True).content.decode()


@pytest.fixture
def rows():
    """One of everything."""
    job = make_job()
    complete_one(job)
    heartbeat.register(WORKER, ["chatgpt"], 8)
    return job


@pytest.mark.usefixtures("rows")
class TestPages:
    @pytest.mark.parametrize("model", [*MACHINE, *PEOPLE, "lane"])
    def test_lists_can_be_read_and_searched(self, admin_client, model):
        get(admin_client, list_of(model))
        get(admin_client, f"{list_of(model)}?q=northwind")

    @pytest.mark.parametrize("model", [*MACHINE, *PEOPLE, "lane"])
    def test_lists_ask_as_often_for_many_rows_as_for_one(self, admin_client, model):
        def queries() -> int:
            with CaptureQueriesContext(connection) as captured:
                get(admin_client, list_of(model))
            return len(captured)

        queries()  # the first time some things are looked up that are kept
        few = queries()
        for _ in range(3):
            complete_one(make_job())

        assert queries() == few

    @pytest.mark.parametrize("model", MACHINE)
    def test_nobody_adds_what_is_the_machines(self, admin_client, model):
        assert admin_client.get(reverse(f"admin:capture_{model}_add")).status_code == 403

    @pytest.mark.parametrize("model", [Check, CaptureJob, Capture, Charge])
    def test_what_is_the_machines_can_be_read_and_neither_changed_nor_deleted(self, admin_client, model):
        row = model.objects.get()

        html = get(admin_client, page_of(row))

        assert 'name="_save"' not in html
        assert admin_client.post(page_of(row), {}).status_code == 403
        assert admin_client.post(f"{page_of(row)[: -len('change/')]}delete/", {"post": "yes"}).status_code == 403

    def test_job_check_and_capture_lead_to_each_other(self, admin_client, rows):
        capture = Capture.objects.get()

        job_page, capture_page = get(admin_client, page_of(rows)), get(admin_client, page_of(capture))
        check_page = get(admin_client, page_of(rows.of_check))

        assert page_of(rows.of_check) in job_page
        assert page_of(capture) in job_page
        assert page_of(rows) in capture_page
        assert page_of(rows.of_check) in capture_page
        for model in ("capturejob", "capture"):
            link = f"{list_of(model)}?of_check__id__exact={rows.of_check_id}"
            assert link in check_page
            assert "1 " in get(admin_client, link)

    def test_a_capture_is_found_when_its_job_is_cleaned_up(self, admin_client, rows):
        rows.delete()

        assert "Northwind is liked by many." in get(admin_client, page_of(Capture.objects.get()))

    def test_a_brand_can_be_changed(self, admin_client):
        brand = Brand.objects.get()
        sent = {"team": brand.team_id, "name": "Northwind", "aliases": "NW,North Wind", "domains": "", **no_inlines()}

        response = admin_client.post(page_of(brand), sent)

        assert response.status_code == 302
        brand.refresh_from_db()
        assert brand.aliases == ["NW", "North Wind"]

    def test_a_team_with_checks_is_not_deleted_by_a_click(self, admin_client):
        team = Team.objects.get()

        admin_client.post(reverse("admin:capture_team_delete", args=[team.pk]), {"post": "yes"})

        assert Team.objects.exists()


def no_inlines() -> dict[str, str]:
    return {"competitors-TOTAL_FORMS": "0", "competitors-INITIAL_FORMS": "0"}


class TestLanes:
    def sent(self, **fields):
        return {"enabled": "on", "limit": "20", "least_seconds_between_starts": "0", **fields}

    def test_limits_and_switches_can_be_changed(self, admin_client):
        lane = Lane.objects.get(name="openai")

        admin_client.post(page_of(lane), self.sent(limit="3", paused="on"))

        lane.refresh_from_db()
        assert (lane.limit, lane.paused, lane.enabled) == (3, True, True)

    def test_what_the_machine_wrote_meanwhile_is_kept(self, admin_client, monkeypatch):
        lane = Lane.objects.get(name="openai")
        change = lanes.change

        def change_later(*args, **fields):
            Lane.objects.update(turn=42)
            return change(*args, **fields)

        monkeypatch.setattr(lanes, "change", change_later)

        admin_client.post(page_of(lane), self.sent(limit="3"))

        lane.refresh_from_db()
        assert (lane.limit, lane.turn) == (3, 42)

    def test_a_lane_has_room_for_at_least_one(self, admin_client):
        lane = Lane.objects.get(name="openai")

        response = admin_client.post(page_of(lane), self.sent(limit="0"))

        assert response.status_code == 200
        lane.refresh_from_db()
        assert lane.limit == 20

    @pytest.mark.parametrize("spacing", ["-1", "3601", "nan", "inf"])
    def test_spacing_that_makes_no_sense_is_refused(self, admin_client, spacing):
        lane = Lane.objects.get(name="openai")

        response = admin_client.post(page_of(lane), self.sent(least_seconds_between_starts=spacing))

        assert response.status_code == 200
        lane.refresh_from_db()
        assert lane.least_seconds_between_starts == 0

    def test_it_shows_what_is_in_flight_and_until_when_it_cools_and_why(self, admin_client):
        start_one(make_job())
        now = database_now()
        Lane.objects.filter(name="openai").update(
            cooling_since=now, cooling_until=now + timedelta(minutes=15), cooling_reason="invalid_api_key"
        )

        html = get(admin_client, list_of("lane"))

        assert 'class="field-in_flight">1<' in html
        assert "cooling until " in html
        assert "the key was refused" in html
        assert "cooling until " in get(admin_client, page_of(Lane.objects.get(name="openai")))

    def test_it_is_paused_and_resumed_from_the_list(self, admin_client):
        chosen = {"_selected_action": ["openai", "gemini"]}

        admin_client.post(list_of("lane"), {"action": "pause", **chosen})
        paused = set(Lane.objects.filter(paused=True).values_list("name", flat=True))
        html = admin_client.post(list_of("lane"), {"action": "resume", **chosen}, follow=True).content.decode()

        assert paused == {"openai", "gemini"}
        assert not Lane.objects.filter(paused=True).exists()
        assert "Resumed: gemini, openai." in html

    def test_resuming_ends_cooling_and_touches_none_that_is_over(self, admin_client):
        now = database_now()
        Lane.objects.filter(name="openai").update(cooling_since=now, cooling_until=now + timedelta(minutes=15))
        before = now - timedelta(hours=1)
        Lane.objects.filter(name="gemini").update(cooling_since=before, cooling_until=before)

        chosen = {"_selected_action": ["openai", "gemini", "perplexity"]}
        admin_client.post(list_of("lane"), {"action": "resume", **chosen})

        assert Lane.objects.filter(name="openai", cooling_until__range=(now, database_now())).exists()
        assert Lane.objects.get(name="gemini").cooling_until == before
        assert Lane.objects.get(name="perplexity").cooling_until is None

    def test_what_staff_change_is_logged(self, admin_client):
        admin_client.post(page_of(Lane.objects.get(name="openai")), self.sent(limit="3"))
        admin_client.post(list_of("lane"), {"action": "pause", "_selected_action": ["gemini"]})

        told = {entry.object_id: entry.get_change_message() for entry in LogEntry.objects.all()}
        assert told == {"openai": "Changed Limit.", "gemini": "paused"}

    def test_staff_who_may_only_look_change_nothing(self, client):
        client.force_login(staff("view_lane"))
        lane = Lane.objects.get(name="openai")

        refused = client.post(page_of(lane), self.sent(limit="3"))
        client.post(list_of("lane"), {"action": "pause", "_selected_action": ["openai"]})

        assert refused.status_code == 403
        lane.refresh_from_db()
        assert (lane.limit, lane.paused) == (20, False)


class TestWaits:
    def test_the_list_and_the_page_of_jobs_say_why_they_wait(self, admin_client):
        heartbeat.register(WORKER, ["chatgpt"], 8)
        make_job()
        second = make_job()
        other = make_job(providers=("gemini",))

        html = get(admin_client, list_of("capturejob"))

        assert "next in line" in html
        assert "about 1 ahead" in html
        assert "no worker asks Gemini" in html
        assert "about 1 ahead" in get(admin_client, page_of(second))
        assert "no worker asks Gemini" in get(admin_client, page_of(other))

    def test_a_final_job_waits_for_nothing(self, admin_client):
        job = make_job()
        complete_one(job)

        assert '<td class="field-why">-</td>' in get(admin_client, list_of("capturejob"))

    def test_the_list_asks_as_often_for_many_open_jobs_as_for_one(self, admin_client):
        heartbeat.register(WORKER, ["chatgpt"], 8)

        def queries() -> int:
            with CaptureQueriesContext(connection) as captured:
                get(admin_client, list_of("capturejob"))
            return len(captured)

        make_job()
        queries()
        few = queries()
        make_check(prompts=("One?", "Two?", "Three?"))

        assert queries() == few

    def test_a_job_that_is_not_there_is_not_found(self, admin_client):
        assert admin_client.get(reverse("admin:capture_capturejob_change", args=[10**6])).status_code == 302


class TestWorkers:
    def test_the_list_says_how_each_is_and_when_it_was_last_heard_of(self, admin_client):
        alive, silent, stopped, lost = make_worker(), make_worker(), make_worker(), make_worker()
        lose(lost)
        heartbeat.close(stopped)
        fall_silent(silent)

        html = get(admin_client, list_of("worker"))

        rows = dict(re.findall(r'/worker/([0-9a-f-]+)/change/".*?class="field-health">(\w+)<', html, re.DOTALL))
        assert rows == {str(alive): "alive", str(silent): "silent", str(stopped): "stopped", str(lost): "lost"}
        assert html.count('<td class="field-last_beat">31 s ago</td>') == 2
        assert "0 s ago" in html


class TestActions:
    def test_jobs_without_an_answer_are_asked_again(self, admin_client):
        failed = make_job()
        queue.fail(start_one(failed), error())
        answered = make_job()
        complete_one(answered)

        html = act(admin_client, "requeue", [failed, answered])

        assert "1 of 2 jobs asked again. 1 left as they are: open, or have an answer." in html
        assert fresh(failed).status == Status.PENDING
        assert fresh(answered).status == Status.DONE

    def test_jobs_that_were_not_asked_yet_are_cancelled(self, admin_client):
        started = make_job()
        start_one(started)
        pending = make_job()

        html = act(admin_client, "cancel", [started, pending])

        assert "1 of 2 jobs cancelled. 1 left as they are: already asked, or final." in html
        assert fresh(pending).status == Status.CANCELLED
        assert fresh(started).status == Status.RUNNING

    @pytest.mark.parametrize(("action", "cost"), [("settle_as_charged", "0.02"), ("settle_as_not_charged", "0")])
    def test_an_unknown_outcome_is_found_and_settled(self, admin_client, action, cost):
        job = make_job()
        queue.fail(start_one(job), unknown_error())
        attempt = Attempt.objects.get()
        assert str(attempt.pk) in admin_client.get(list_of("attempt") + "?unsettled=yes").content.decode()

        sent = {"action": action, "_selected_action": [attempt.pk]}
        html = admin_client.post(list_of("attempt"), sent, follow=True).content.decode()

        assert "1 of 1 attempts settled." in html
        assert Charge.objects.get().amount == Decimal(cost)
        assert str(attempt.pk) not in admin_client.get(list_of("attempt") + "?unsettled=yes").content.decode()

    def test_all_jobs_of_a_search_can_be_chosen(self, admin_client):
        check = make_check(prompts=tuple(f"Question {number}?" for number in range(60)))
        sent = {
            "action": "cancel",
            "_selected_action": [check.jobs.values_list("pk", flat=True)[0]],
            "select_across": "1",
        }

        admin_client.post(f"{list_of('capturejob')}?q={check.uuid}", sent)

        assert check.jobs.filter(status=Status.CANCELLED).count() == 60

    def test_staff_who_may_only_look_have_no_actions(self, client):
        job = make_job()
        client.force_login(staff("view_capturejob"))

        html = act(client, "cancel", [job])

        assert 'value="cancel"' not in html
        assert fresh(job).status == Status.PENDING

    def test_staff_who_may_change_jobs_have_the_actions_and_still_cannot_edit(self, client):
        job = make_job()
        client.force_login(staff("view_capturejob", "change_capturejob"))

        act(client, "cancel", [job])

        assert fresh(job).status == Status.CANCELLED
        assert 'name="_save"' not in get(client, page_of(job))

    def test_users_who_are_not_staff_are_sent_to_log_in(self, client):
        client.force_login(make_user())
        make_team()

        assert client.get(list_of("capturejob")).status_code == 302


def staff(*permissions: str):
    user = make_user(is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    return user
