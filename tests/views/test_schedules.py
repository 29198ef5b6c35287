"""A check's page has it asked by itself, says when that is next or why not, and leads to its other runs."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone, translation
from django.utils.translation import trans_real

from capture import reports, schedules
from capture.models import Brand, Check, Schedule, Team
from capture.models.clock import database_now
from tests.factories import complete_one, make_check, make_job, make_user
from tests.test_schedules import due_of
from tests.views.conftest import path_of, said

DAILY = {"every": "daily", "hour": "7"}


@pytest.fixture
def check(ada) -> Check:
    check = make_check(ada)
    Team.objects.update(time_zone="Europe/Berlin")
    return check


def shown(browser, check: Check) -> str:
    return " ".join(browser.get(path_of(check)).content.decode().split())


class TestTheForm:
    def test_it_plans_and_says_when_the_next_is(self, browser, check):
        response = browser.post(path_of(check, "schedule"), DAILY, follow=True)

        schedule = Schedule.objects.get()
        assert response.redirect_chain == [(path_of(check), 302)]
        due = due_of(schedule).astimezone(schedule.team.zone)
        assert due.hour == 7
        assert f"next on {due:%a} {due.day} {due:%b %Y}, 07:00." in said(response)
        assert f'Asked daily, next: <time datetime="{due.isoformat()}">' in " ".join(response.content.decode().split())

    def test_it_shows_what_is_planned(self, browser, check):
        browser.post(path_of(check, "schedule"), {"every": "weekly", "hour": "7"})

        html = shown(browser, check)

        day = timezone.localtime(check.created_at, Team.objects.get().zone).strftime("%A")
        assert f'<option value="weekly" selected>Weekly, {day}</option>' in html
        assert '<option value="7" selected>07:00</option>' in html
        assert "Hour (Europe/Berlin)</label>" in html

    def test_its_button_stops_it_whatever_is_chosen_beside_it(self, browser, check):
        browser.post(path_of(check, "schedule"), DAILY)
        assert '<button name="every" value="off">' in shown(browser, check)

        response = browser.post(path_of(check, "schedule"), {"every": ["daily", "off"], "hour": "7"}, follow=True)

        assert said(response) == "This check is not asked by itself."
        assert Schedule.objects.get().next_due is None
        assert "Stop repeating" not in response.content.decode()

    @pytest.mark.parametrize(
        "typed",
        [{}, {"every": "hourly", "hour": "7"}, {"every": "daily", "hour": "24"}, {"every": "daily", "hour": "9" * 400}],
    )
    def test_what_it_does_not_offer_changes_nothing(self, browser, check, typed):
        response = browser.post(path_of(check, "schedule"), typed, follow=True)

        assert said(response) == "Nothing was changed: choose how often, and an hour from 0 to 23."
        assert not Schedule.objects.exists()

    def test_another_teams_check_is_not_there(self, client, check):
        client.force_login(make_user("eve"))

        assert client.post(path_of(check, "schedule"), DAILY).status_code == 404
        assert not Schedule.objects.exists()


class TestWhatThePageSays:
    @pytest.fixture
    def schedule(self, check) -> Schedule:
        schedule = schedules.plan(check, "daily", 6)
        assert schedule
        return schedule

    def test_what_stands_in_its_way_before_it_is_due(self, browser, check, schedule):
        Brand.objects.update(archived_at=timezone.now())

        html = shown(browser, check)

        assert '<strong>The repetition is paused.</strong> <span dir="auto">The brand is archived.</span>' in html
        assert "Due next: <time" in html

    def test_why_the_last_one_was_not_asked(self, browser, check, schedule):
        Schedule.objects.update(paused_because="This check would cost about $9.00; nothing of $1.00 is left.")

        assert "would cost about $9.00" in shown(browser, check)

    @pytest.mark.parametrize("workers", ["en-gb", "de"])
    def test_why_is_told_in_the_language_of_who_reads_it(self, monkeypatch, check, schedule, workers):
        words = trans_real.translation("de")._catalog._catalogs[0]  # type: ignore[attr-defined]
        monkeypatch.setitem(words, "The brand is archived.", "Die Marke ist archiviert.")
        Brand.objects.update(archived_at=timezone.now())
        with translation.override(workers):
            schedules.ask_due(due_of(schedule))
        Brand.objects.update(archived_at=None)

        series = reports.series_of(Check.objects.get())
        assert series.paused == "The brand is archived."
        with translation.override("de"):
            assert series.paused == "Die Marke ist archiviert."

    def test_nothing_can_be_asked_here(self, browser, check, schedule, settings):
        settings.SIMULATOR_URL = ""

        assert "None of its AI systems can be asked here now." in shown(browser, check)

    def test_some_systems_are_left_out(self, browser, ada, check, only_chatgpt):
        both = make_check(ada, providers=("chatgpt", "perplexity"))
        schedules.plan(both, "daily", 6)

        assert "Left out, since it cannot be asked here now: Perplexity." in shown(browser, both)

    def test_it_is_due_and_no_worker_has_come_for_it(self, browser, check, schedule):
        Schedule.objects.update(next_due=database_now() - timedelta(minutes=1))

        assert "Due, and asked once a worker is there for it:" in shown(browser, check)

    def test_runs_lead_to_each_other(self, browser, check, schedule):
        schedules.ask_due(due_of(schedule))
        (later,) = Check.objects.exclude(pk=check.pk)

        assert f'<a rel="next" href="{path_of(later)}">Later run:' in shown(browser, check)
        assert f'<a rel="prev" href="{path_of(check)}">Earlier run:' in shown(browser, later)
        assert f'<li><a href="{path_of(later)}" aria-current="page">' in shown(browser, later)

    def test_a_check_that_is_not_repeated_says_nothing_of_it(self, browser, check):
        html = shown(browser, check)

        assert '<option value="off" selected>Off</option>' in html
        assert [words for words in ("Asked daily", "is paused", "Stop repeating", "All runs") if words in html] == []

    def test_deleting_it_says_what_becomes_of_its_repetition(self, browser, ada):
        job = make_job(user=ada)
        complete_one(job)
        schedules.plan(job.of_check, "daily", 6)

        assert (
            "It is repeated by itself; that ends with it."
            in browser.get(path_of(job.of_check, "delete")).content.decode()
        )


def test_a_team_that_moves_takes_its_due_times_along(admin_client, ada, check):
    schedules.plan(check, "daily", 6)
    team = Team.objects.get(memberships__user=ada)
    forms = {"memberships-TOTAL_FORMS": 0, "memberships-INITIAL_FORMS": 0}

    response = admin_client.post(
        f"/admin/capture/team/{team.pk}/change/", {"name": team.name, "time_zone": "Asia/Tokyo", **forms}
    )

    assert response.status_code == 302
    team.refresh_from_db()
    assert due_of(Schedule.objects.get()).astimezone(team.zone).hour == 6
