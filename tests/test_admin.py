"""The admin: people's rows can be written, the machine's cannot, and jobs can be asked again."""

from __future__ import annotations

import re
from datetime import date, timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from capture import budgets, heartbeat, lanes, queue
from capture.models import (
    Attempt,
    Brand,
    Capture,
    CaptureJob,
    Charge,
    Check,
    Competitor,
    HistoryMark,
    Lane,
    Status,
    Team,
)
from capture.models.clock import database_now, database_today
from capture.providers import registry
from tests.factories import (
    WORKER,
    claim_one,
    complete_one,
    error,
    fresh,
    make_check,
    make_job,
    make_team,
    make_user,
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


def act(client: Client, action: str, jobs, **more: str) -> str:
    """Choose an action, and say yes to it; gives the page that follows."""
    sent = {"action": action, "_selected_action": [job.pk for job in jobs], **more}
    asked = client.post(list_of("capturejob"), sent, follow=True)
    return confirm(client, asked)


def confirm(client: Client, asked) -> str:
    found = re.search(r'action="(/admin/capture/staffaction/\d+/confirm/)"', asked.content.decode())
    assert found, asked.content.decode()
    return client.post(found[1], follow=True).content.decode()


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
        assert HistoryMark.objects.get().after["brand"]["aliases"] == ["NW", "North Wind"]

    @pytest.mark.parametrize("whose", [Brand, Competitor])
    def test_a_name_by_which_two_would_be_found_is_refused(self, admin_client, whose):
        brand, competitor = Brand.objects.get(), Competitor.objects.get()
        row, other = (brand, competitor) if whose is Brand else (competitor, brand)
        sent = {"name": row.name, "aliases": other.name, "domains": "", **no_inlines()}

        html = admin_client.post(page_of(row), sent).content.decode()

        assert f"“{other.name}” would be found as two" in html
        assert whose.objects.get(pk=row.pk).aliases == []

    def test_a_brand_stays_with_its_team_and_a_competitor_with_its_brand(self, admin_client):
        brand, competitor = Brand.objects.get(), Competitor.objects.get()
        other = Brand.objects.create(team=Team.objects.of(make_user()), name="Other")

        admin_client.post(
            page_of(brand), {"team": other.team_id, "name": "N", "aliases": "", "domains": "", **no_inlines()}
        )
        admin_client.post(page_of(competitor), {"brand": other.pk, "name": "C", "aliases": "", "domains": ""})

        assert Brand.objects.get(pk=brand.pk).team_id == brand.team_id
        assert Competitor.objects.get(pk=competitor.pk).brand_id == brand.pk

    def test_a_team_with_checks_is_not_deleted_by_a_click(self, admin_client):
        team = Team.objects.get()

        admin_client.post(reverse("admin:capture_team_delete", args=[team.pk]), {"post": "yes"})

        assert Team.objects.exists()


def no_inlines() -> dict[str, str]:
    return {"competitors-TOTAL_FORMS": "0", "competitors-INITIAL_FORMS": "0"}


class TestSpend:
    @pytest.fixture
    def charges(self):
        """A dollar an AI system, the next one two, and so on; the last one simulated, and one of another year."""
        team = make_team(make_user("Contoso"))
        for number, slug in enumerate(registry.by_slug):
            charge(team, slug, 2**number, simulated=slug == "google_ai")
        charge(team, "chatgpt", 100, day=date(2024, 2, 29), basis="estimated")
        return team

    def test_this_month_is_added_up_by_team_system_and_day(self, admin_client, charges):
        html = get(admin_client, list_of("charge"))

        assert "<strong>$15.00</strong> spent." in html
        assert "Simulated, and paid by nobody: $16.00." in html
        assert sums(html) == {
            "Contoso": ["15.0000", "0.0000", "16.0000"],
            "Gemini": ["8.0000", "0.0000", "0.0000"],
            "Copilot": ["4.0000", "0.0000", "0.0000"],
            "Perplexity": ["2.0000", "0.0000", "0.0000"],
            "ChatGPT": ["1.0000", "0.0000", "0.0000"],
            "Google AI": ["0.0000", "0.0000", "16.0000"],
            database_today().isoformat(): ["15.0000", "0.0000", "16.0000"],
        }

    @pytest.mark.parametrize(
        ("query", "total"),
        [
            ("month=2024-02", "$100.00</strong> spent, of which $100.00 is an estimate."),
            ("month=2024-01", "$0.00</strong> spent."),
            ("month=all", "$115.00</strong>"),
            ("provider=copilot", "$4.00</strong>"),
            ("provider=chatgpt&month=all", "$101.00</strong>"),
            ("simulated__exact=1", "$0.00</strong>"),
            ("basis__exact=estimated&month=all", "$100.00</strong>"),
            ("q=contoso", "$15.00</strong>"),
        ],
    )
    def test_the_sum_is_of_what_is_filtered(self, admin_client, charges, query, total):
        assert f"<strong>{total}" in get(admin_client, f"{list_of('charge')}?{query}")

    def test_it_can_be_filtered_by_team(self, admin_client, charges):
        charge(make_team(), "chatgpt", 50)

        html = get(admin_client, f"{list_of('charge')}?team__id__exact={charges.pk}")

        assert "<strong>$15.00</strong>" in html

    def test_the_sum_is_of_all_pages(self, admin_client):
        team = make_team()
        for _ in range(60):
            charge(team, "chatgpt", 1)

        assert "<strong>$60.00</strong>" in get(admin_client, f"{list_of('charge')}?p=2")

    def test_every_month_since_the_first_charge_can_be_chosen_and_this_one_is(self, admin_client, charges):
        html = get(admin_client, list_of("charge"))

        for words in ("February 2024", "March 2024", "December 2024", f"{database_today():%B %Y}", "All months"):
            assert words in html
        assert "January 2024" not in html
        (chosen,) = re.findall(r'class="selected">\s*<a href="\?month=([^"]+)"', html)
        assert chosen == f"{database_today():%Y-%m}"

    @pytest.mark.parametrize("value", ["2024-13", "x", "2024-02-01", "-1"])
    def test_a_month_that_is_none_is_left_out(self, admin_client, charges, value):
        response = admin_client.get(f"{list_of('charge')}?month={value}")

        assert response.url == f"{list_of('charge')}?e=1"

    def test_team_names_are_text(self, admin_client, charges):
        charges.name = "<script>alert(1)</script>"
        charges.save()

        assert "<script>alert" not in get(admin_client, list_of("charge"))


def charge(team, provider, amount, *, day=None, simulated=False, basis="reported"):
    Charge.objects.create(
        attempt=uuid4(),
        check_uuid=uuid4(),
        team=team,
        provider=provider,
        amount=amount,
        day=day or database_today(),
        simulated=simulated,
        basis=basis,
    )


def sums(html: str) -> dict[str, list[str]]:
    """The rows of the tables of sums, by their label."""
    rows = re.findall(r'<th scope="row">(.*?)</th>(.*?)</tr>', html, re.DOTALL)
    return {label: re.findall(r"<td>(.*?)</td>", cells) for label, cells in rows}


class TestBudgets:
    def test_a_teams_page_says_where_its_month_stands(self, admin_client, only_chatgpt):
        team = make_team()
        charge(team, "chatgpt", 5)

        html = get(admin_client, page_of(team))

        assert "$5.00 of $100.00 spent, and about $0.00 for open jobs</a>" in html
        assert f"{list_of('charge')}?team__id__exact={team.pk}" in html

    def test_a_team_can_be_given_a_budget_of_its_own(self, admin_client):
        team = make_team()
        inlines = {"memberships-TOTAL_FORMS": "0", "memberships-INITIAL_FORMS": "0"}
        sent = {"name": team.name, "time_zone": "UTC", "monthly_budget": "12.50", **inlines}

        assert admin_client.post(page_of(team), sent).status_code == 302

        assert budgets.room(team).budget == Decimal("12.50")
        assert LogEntry.objects.get().get_change_message() == "Changed Monthly budget: the usual one → $12.50."

    @pytest.mark.parametrize("model", PEOPLE)
    def test_of_a_row_that_is_yet_to_be_made_nothing_is_told(self, admin_client, model):
        html = get(admin_client, reverse(f"admin:capture_{model}_add"))

        assert "object at 0x" not in html
        assert "None" not in re.findall(r"class=\"readonly\">([^<]*)<", html)

    def test_a_new_team_has_no_month_yet(self, admin_client):
        get(admin_client, reverse("admin:capture_team_add"))


def rows_of(html: str) -> dict[str, str]:
    """What a page tells and nobody can change, by field."""
    found = re.findall(r'<div class="form-row field-(\w+)">(.*?)(?=<div class="form-row|</fieldset>)', html, re.DOTALL)
    words = {name: " ".join(re.sub(r"<[^>]+>", " ", row).split()) for name, row in found if 'class="readonly"' in row}
    return {name: text for name, text in words.items() if text}


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

        assert "Ensure this value is greater than or equal to 1." in response.content.decode()
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
        claim_one(make_job())
        now = database_now()
        Lane.objects.filter(name="openai").update(
            cooling_since=now, cooling_until=now + timedelta(minutes=15), cooling_reason="invalid_api_key"
        )

        html = get(admin_client, list_of("lane"))

        assert 'class="field-in_flight">1<' in html
        assert "cooling until " in html
        assert "the key was refused" in html
        assert "cooling until " in get(admin_client, page_of(Lane.objects.get(name="openai")))

    def test_it_shows_what_there_is_to_know_of_it_in_words(self, admin_client):
        lane = Lane.objects.get(name="openai")

        new = rows_of(get(admin_client, page_of(lane)))
        claim_one(make_job())
        Lane.objects.update(cooling_since=database_now(), cooling_until=database_now() + timedelta(minutes=15))
        cooling = rows_of(get(admin_client, page_of(lane)))
        Lane.objects.update(cooling_since=None, cooling_until=None, opened_at=database_now())
        open_again = rows_of(get(admin_client, page_of(lane)))

        assert "last_start_at" not in new  # it is not kept where starts are not spaced
        Lane.objects.update(least_seconds_between_starts=2)
        assert rows_of(get(admin_client, page_of(lane)))["last_start_at"] == "Last start at: none yet"
        assert set(cooling) - set(new) == {"cooling_since", "cooling_until"}
        assert set(open_again) - set(new) == {"opened_at"}
        for shown in (new, cooling, open_again):
            assert not [words for words in shown.values() if words.endswith((":", "-"))]
            assert "turn" not in shown

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
        assert told == {"openai": "Limit: 20 → 3", "gemini": "paused"}

    def test_staff_who_may_only_look_change_nothing(self, client):
        client.force_login(staff("view_lane"))
        lane = Lane.objects.get(name="openai")

        changed = client.post(page_of(lane), self.sent(limit="3"))
        paused = client.post(list_of("lane"), {"action": "pause", "_selected_action": ["openai"]})

        assert (changed.status_code, paused.status_code) == (403, 403)
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
        queue.fail(claim_one(failed), error())
        answered = make_job()
        complete_one(answered)

        html = act(admin_client, "requeue", [failed, answered])

        assert "Ask again: 1 of 1." in html
        assert fresh(failed).status == Status.PENDING
        assert fresh(answered).status == Status.DONE

    def test_jobs_that_were_not_asked_yet_are_cancelled(self, admin_client):
        started = make_job()
        claim_one(started)
        pending = make_job()

        html = act(admin_client, "cancel", [started, pending])

        assert "Cancel: 1 of 1." in html
        assert fresh(pending).status == Status.CANCELLED
        assert fresh(started).status == Status.RUNNING

    @pytest.mark.parametrize(("action", "cost"), [("settle_as_charged", "0.02"), ("settle_as_not_charged", "0")])
    def test_an_unknown_outcome_is_found_and_settled(self, admin_client, action, cost):
        job = make_job()
        queue.fail(claim_one(job), unknown_error())
        attempt = Attempt.objects.get()
        assert str(attempt.pk) in admin_client.get(list_of("attempt") + "?unsettled=yes").content.decode()

        sent = {"action": action, "_selected_action": [attempt.pk]}
        html = confirm(admin_client, admin_client.post(list_of("attempt"), sent, follow=True))

        assert "1 of 1." in html
        assert Charge.objects.get().amount == Decimal(cost)
        assert str(attempt.pk) not in admin_client.get(list_of("attempt") + "?unsettled=yes").content.decode()

    def test_all_jobs_of_a_search_can_be_chosen(self, admin_client):
        check = make_check(prompts=tuple(f"Question {number}?" for number in range(60)))
        sent = {
            "action": "cancel",
            "_selected_action": [check.jobs.values_list("pk", flat=True)[0]],
            "select_across": "1",
        }

        confirm(admin_client, admin_client.post(f"{list_of('capturejob')}?q={check.uuid}", sent, follow=True))

        assert check.jobs.filter(status=Status.CANCELLED).count() == 60

    def test_staff_who_may_only_look_have_no_actions(self, client):
        make_job()
        client.force_login(staff("view_capturejob"))

        html = get(client, list_of("capturejob"))

        assert 'value="cancel"' not in html

    def test_staff_who_may_act_on_jobs_have_the_actions_and_still_cannot_edit(self, client):
        job = make_job()
        client.force_login(staff("view_capturejob", "act_on_jobs"))

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
