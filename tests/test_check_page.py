"""The page of a check while it goes on: what it shows, and what an open page is sent."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from html import unescape

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags

from capture import heartbeat, lanes, queue, reports
from capture.models import CaptureJob, Lane, Team, Worker
from capture.providers import registry
from capture.providers.replies import Refused
from tests.factories import (
    WORKER,
    answer,
    claim,
    claim_one,
    complete_one,
    make_check,
    make_job,
    make_user,
    read_as,
)
from tests.test_views import Tags

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]

HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def _nothing_measured_yet():
    cache.clear()


@pytest.fixture
def user():
    lanes.make_missing()
    heartbeat.register(WORKER, list(registry.by_slug), 8)
    return make_user("ada")


@pytest.fixture
def ada(client: Client, user) -> Client:
    client.force_login(user)
    return client


@pytest.fixture
def page(ada):
    """Gets a check's page as Ada."""

    def get(check):
        response = ada.get(reports.check_url(check))
        assert response.status_code == 200
        return str(response.content.decode())

    return get


@pytest.fixture
def poll(ada):
    """Asks what is new, as a page that shows this does."""

    def get(check, html: str, *, status: int = 200):
        response = ada.get(reports.check_url(check), headers={**HTMX, "Shown": shown_on(html)})
        assert response.status_code == status
        return str(response.content.decode())

    return get


def progress_on(html: str) -> dict[str, str]:
    (progress,) = [tag for tag in Tags(html).of("section") if tag.get("id") == "progress"]
    return {name: (value or "").strip() for name, value in progress.items()}


def title_of(html: str) -> str:
    title: str
    (title,) = re.findall(r"<title>(.*?)</title>", html, re.DOTALL)
    return unescape(title.strip())


def shown_on(html: str) -> str:
    """What a page says that it shows."""
    return str(json.loads(progress_on(html)["hx-headers"])["Shown"])


def cells_in(html: str) -> dict[str, str]:
    """The words of each cell, by its place."""
    found = re.findall(r'<div class="cell" id="cell-([^"]+)"[^>]*>(.*?)</div>', html, re.DOTALL)
    return {place: " ".join(re.sub(r"<[^>]+>", " ", inner).split()) for place, inner in found}


def together_in(html: str) -> dict[str, str]:
    """What several samples say together, by their place."""
    return dict(re.findall(r'<small class="together" id="named-([^"]+)"[^>]*>(.*?)</small>', html))


class TestCells:
    def test_each_says_how_it_stands(self, page, user):
        check = make_check(user, prompts=("One?", "Two?", "Three?", "Four?"))
        first, second, third = claim(seats=3)
        queue.complete(first, answer())
        queue.complete(second, Refused("No."))
        queue.wait(third, "resp_1", after=5)

        cells = cells_in(page(check))

        assert cells == {
            "1-chatgpt-1": "answered simulated",
            "2-chatgpt-1": "refused simulated",
            "3-chatgpt-1": "working at the system for 0 s",
            "4-chatgpt-1": "waiting next in line",
        }

    def test_a_call_under_way_says_for_how_long(self, page, user):
        job = make_job(user=user)
        claim_one(job)
        CaptureJob.objects.update(asked_at=timezone.now() - timedelta(seconds=12.5))

        html = page(job.of_check)

        assert re.search(r'asking for <span class="since" data-seconds="12">12 s</span>', html)

    def test_several_samples_stand_side_by_side(self, page, user):
        check = make_check(user, samples=3)

        html = page(check)

        (group,) = re.findall(r'<div class="samples">(.*?)</td>', html, re.DOTALL)
        assert list(cells_in(group)) == ["1-chatgpt-1", "1-chatgpt-2", "1-chatgpt-3"]

    def test_why_it_waits_is_said_in_each_cell_and_once_above(self, page, user):
        Lane.objects.filter(name="openai").update(paused=True)
        check = make_check(user, prompts=("One?", "Two?"), providers=("chatgpt", "perplexity"))

        html = page(check)

        assert cells_in(html)["1-chatgpt-1"] == cells_in(html)["2-chatgpt-1"] == "waiting paused by staff"
        assert re.findall(r'<p class="hold">(.*?)</p>', html) == ["ChatGPT: paused by staff."]

    def test_nobody_at_work_is_said_once_for_all_systems(self, page, user):
        Worker.objects.all().delete()
        check = make_check(user, providers=("chatgpt", "perplexity"))

        assert re.findall(r'<p class="hold">(.*?)</p>', page(check)) == [
            "Nothing is being asked at the moment. Tell whoever runs AI Control."
        ]

    def test_an_answer_says_whether_it_names_the_brand(self, page, user):
        check = make_check(user, prompts=("One?", "Two?", "Three?"))
        for ticket in claim():
            queue.complete(ticket, answer())
        first, second, third = check.captures.order_by("prompt__position")
        read_as(first, "competitor:0", "brand")
        read_as(second, "competitor:0")
        third.matcher = 0
        third.save()

        assert cells_in(page(check)) == {
            "1-chatgpt-1": "answered simulated named, position 2",
            "2-chatgpt-1": "answered simulated not named",
            "3-chatgpt-1": "answered simulated",
        }

    def test_several_samples_say_together_how_many_name_the_brand(self, page, user):
        check = make_check(user, samples=3)
        for ticket in claim(seats=3):
            queue.complete(ticket, answer())
        for capture, keys in zip(check.captures.all(), (["brand"], [], ["brand"]), strict=True):
            read_as(capture, *keys)

        assert together_in(page(check)) == {"1-chatgpt": "2 of 3 samples named"}

    def test_a_link_leads_from_a_cell_to_what_came_of_it(self, page, user):
        job = make_job(user=user)
        complete_one(job)

        (link,) = [tag for tag in Tags(page(job.of_check)).of("a") if tag.get("id") == "open-1-chatgpt-1"]

        assert link["href"] == "answers/1/chatgpt/1/"


class TestPage:
    def test_an_unfinished_check_asks_what_is_new_and_can_be_reloaded(self, page, user):
        check = make_check(user)

        html = page(check)

        progress = progress_on(html)
        assert progress["hx-get"] == reports.check_url(check)
        assert progress["hx-trigger"] == "every 2s"
        assert f'<a href="{reports.check_url(check)}">Reload</a>' in html
        assert title_of(html) == "0 of 1 · Northwind · AI Control"
        assert "http-equiv" not in html  # no reload by itself: it could not be paused

    def test_a_finished_check_asks_nothing(self, page, user):
        job = make_job(user=user)
        complete_one(job)

        html = page(job.of_check)

        assert progress_on(html)["hx-trigger"] == "look"
        assert "Pause updates" not in html
        assert title_of(html) == "Northwind · AI Control"
        assert "Finished: 1 of 1 answered" in html

    def test_it_leads_staff_and_nobody_else_to_its_jobs_in_the_admin(self, ada, page, user):
        check, other = make_check(user), make_job()
        link = f"{reverse('admin:capture_capturejob_changelist')}?of_check__id__exact={check.pk}"
        assert "in the admin" not in page(check)

        user.is_staff = user.is_superuser = True
        user.save()

        assert f'<a href="{link}">Its jobs in the admin</a>' in page(check)
        jobs = ada.get(link).content.decode()
        assert f"/{check.jobs.get().pk}/change/" in jobs
        assert f"/{other.pk}/change/" not in jobs

    def test_staff_who_may_not_see_jobs_are_not_led_there(self, page, user):
        user.is_staff = True
        user.save()

        assert "in the admin" not in page(make_check(user))

    def test_the_rest_of_the_time_is_estimated_once_calls_were_measured(self, page, user):
        check = make_check(user, prompts=("One?", "Two?"))
        assert "left" not in progress_on(page(check))["data-spoken"]
        (ticket,) = claim(seats=1)
        queue.complete(ticket, answer())
        check.captures.update(seconds=240)
        cache.clear()

        html = page(check)

        assert progress_on(html)["data-spoken"] == "1 of 2 finished, about 4 minutes left"
        assert title_of(html) == "1 of 2, about 4 minutes left · Northwind · AI Control"

    @pytest.mark.parametrize("prompts", [10, 30])
    def test_a_constant_number_of_queries(self, ada, user, prompts, django_assert_num_queries):
        check = make_check(user, prompts=tuple(f"Question {number}?" for number in range(prompts)))
        for ticket in claim():
            queue.complete(ticket, answer())

        # Session, user, the glance; prompts, jobs, captures; how long calls take; the money; the figures, of two.
        with django_assert_num_queries(10):
            ada.get(reports.check_url(check))

    def test_times_are_of_the_teams_zone(self, page, user):
        check = make_check(user)
        Team.objects.update(time_zone="Asia/Tokyo")

        assert "JST</time>" in page(check)


class TestNothingNew:
    def test_it_is_no_content(self, page, poll, user):
        check = make_check(user)

        assert poll(check, page(check), status=204) == ""

    @pytest.mark.parametrize("jobs", [1, 60])
    def test_it_takes_session_user_and_one_query(self, ada, page, user, jobs, django_assert_num_queries):
        check = make_check(user, prompts=tuple(f"Question {number}?" for number in range(jobs)))
        shown = shown_on(page(check))

        with django_assert_num_queries(3):
            response = ada.get(reports.check_url(check), headers={**HTMX, "Shown": shown})

        assert response.status_code == 204


class TestNews:
    def test_only_the_cells_that_have_changed_are_sent(self, page, poll, user):
        check = make_check(user, prompts=tuple(f"Question {number}?" for number in range(40)))
        html = page(check)
        claim(seats=2)
        changed = {place for place, words in cells_in(page(check)).items() if words != cells_in(html)[place]}

        news = poll(check, html)

        assert set(cells_in(news)) == changed
        assert {"1-chatgpt-1", "2-chatgpt-1"} <= changed < set(cells_in(html))
        assert news.count('hx-swap-oob="true"') == len(changed)
        assert title_of(news) == "0 of 40 · Northwind · AI Control"
        assert "<html" not in news

    def test_a_page_that_has_put_them_in_shows_what_a_new_page_shows(self, page, poll, user):
        check = make_check(user, prompts=tuple(f"Question {number}?" for number in range(40)))
        html = page(check)
        cells = cells_in(html)
        for ticket in claim(seats=5):
            queue.complete(ticket, answer())

        news = poll(check, html)

        assert {**cells, **cells_in(news)} == cells_in(page(check))
        assert poll(check, news, status=204) == ""

    def test_with_one_of_several_samples_comes_what_they_say_together(self, page, poll, user):
        check = make_check(user, samples=3, prompts=("One?", "Two?"))
        html = page(check)
        assert together_in(html) == {"1-chatgpt": "", "2-chatgpt": ""}
        (ticket,) = claim(seats=1)
        queue.complete(ticket, answer())
        capture = check.captures.get()
        read_as(capture, "brand")

        news = poll(check, html)

        place = f"{capture.prompt.position}-chatgpt"
        assert together_in(news)[place] == "1 of 1 sample named"
        assert f'id="named-{place}" hx-swap-oob="true"' in news

    def test_the_figures_come_when_it_ends_and_not_before(self, page, poll, user):
        check = make_check(user, prompts=("One?", "Two?"))
        html = page(check)
        first, last = claim(seats=2)
        queue.complete(first, answer())
        news = poll(check, html)
        assert 'id="summary"' not in news
        queue.complete(last, answer())
        for capture in check.captures.all():
            read_as(capture, "brand")

        last_news = poll(check, news)

        assert (
            '<section class="summary" id="summary" aria-labelledby="summary-heading" hx-swap-oob="true">' in last_news
        )
        assert "2 of 2 · 100 % (34–100)" in strip_tags(last_news)

    def test_a_page_that_says_nothing_it_shows_is_sent_all_cells(self, ada, user):
        check = make_check(user, prompts=("One?", "Two?"))

        response = ada.get(reports.check_url(check), headers=HTMX)

        assert len(cells_in(response.content.decode())) == 2

    @pytest.mark.parametrize(
        "shown", ["x", "0" * 32, f"{'0' * 32} abc", f"{'0' * 32} AAAA", f"{'0' * 32} \xff\xff\xff\xff"]
    )
    def test_what_is_not_understood_is_sent_all_cells(self, ada, user, shown):
        check = make_check(user, prompts=("One?", "Two?"))

        response = ada.get(reports.check_url(check), headers={**HTMX, "Shown": shown})

        assert len(cells_in(response.content.decode())) == 2

    def test_a_page_of_a_check_that_was_over_is_loaded_anew_once_it_is_not(self, ada, page, user):
        job = make_job(user=user)
        queue.cancel(CaptureJob.objects.all())
        headers = {**HTMX, "Over": "yes", "Shown": shown_on(page(job.of_check))}
        before = ada.get(reports.check_url(job.of_check), headers=headers)

        queue.requeue(CaptureJob.objects.all())
        after = ada.get(reports.check_url(job.of_check), headers=headers)

        assert (before.status_code, after.status_code) == (204, 200)
        assert after.headers["HX-Refresh"] == "true"

    def test_the_last_news_end_the_questions(self, page, poll, user):
        job = make_job(user=user)
        html = page(job.of_check)
        complete_one(job)

        news = poll(job.of_check, html)

        assert progress_on(news)["hx-trigger"] == "look"
        assert '<div id="controls" hx-swap-oob="true">' in news
        assert '<div class="running gone">' in news  # its place is kept
        assert progress_on(news)["data-spoken"] == "Finished: 1 of 1 answered"

    def test_at_most_six_queries_for_twenty_changed_cells_of_hundreds(self, ada, page, user, django_assert_num_queries):
        check = make_check(user, prompts=tuple(f"Question {number}?" for number in range(200)))
        Lane.objects.update(limit=100)
        html = page(check)
        for ticket in claim(seats=20):
            queue.complete(ticket, answer())

        # Session, user, the glance; prompts, jobs, captures. How long calls take was measured a moment ago.
        with django_assert_num_queries(6):
            response = ada.get(reports.check_url(check), headers={**HTMX, "Shown": shown_on(html)})

        assert response.status_code == 200


class TestWhoMayAsk:
    def test_a_lapsed_session_is_401_with_a_link_to_log_in_and_no_login_page(self, client, user):
        path = reports.check_url(make_check(user))

        response = client.get(path, headers={**HTMX, "HX-Current-URL": f"http://testserver{path}"})

        assert response.status_code == 401
        assert response.content.decode().strip() == (
            f'Your session has ended. <a href="/login/?next={path}">Log in</a>'
        )

    @pytest.mark.parametrize("headers", [{}, HTMX])
    def test_another_teams_check_is_not_there(self, ada, headers):
        assert ada.get(reports.check_url(make_check()), headers=headers).status_code == 404

    def test_somebody_without_a_team_yet_has_no_check(self, client):
        client.force_login(make_user())

        assert client.get(reports.check_url(make_check())).status_code == 404
