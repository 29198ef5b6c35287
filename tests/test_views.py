"""The pages, as a browser with and without JavaScript gets them."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from django.db import OperationalError
from django.templatetags.static import static
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from capture import queue, reports
from capture.models import Check, Team
from capture.providers.replies import Kind, Source
from tests.factories import (
    claim_one,
    complete_one,
    error,
    make_check,
    make_job,
    make_user,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]

HTMX = {"HX-Request": "true"}


@pytest.fixture
def user():
    return make_user("ada")


@pytest.fixture
def page(client: Client, user):
    """Gets a page as Ada; htmx=True asks as htmx does."""
    client.force_login(user)

    def get(path: str, *, htmx: bool = False, status: int = 200) -> str:
        response = client.get(path, headers=HTMX if htmx else {}, follow=path == "/checks/new/")
        assert response.status_code == status
        return response.content.decode()

    return get


def path_of(check: Check) -> str:
    return reports.check_url(check)


class Tags(HTMLParser):
    """The start tags of a page with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def of(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.found if tag == name]


class TestWhoMaySee:
    @pytest.mark.parametrize("name", ["checks", "new_check"])
    def test_a_stranger_is_sent_to_log_in(self, client, name):
        path = reverse(f"capture:{name}")

        response = client.get(path)

        assert response.status_code == 302
        assert response.url == f"/login/?next={path}"

    def test_a_check_is_there_for_its_own_team_only(self, page):
        check = make_check()

        page(path_of(check), status=404)
        page(f"{path_of(check)}status.json", status=404)
        page(path_of(check), htmx=True, status=404)

    def test_another_teams_check_looks_just_like_none(self, page):
        theirs = path_of(make_check())
        none = "/checks/00000000-0000-4000-8000-000000000000/"

        assert without_tokens(page(theirs, status=404)) == without_tokens(page(none, status=404))

    def test_a_list_holds_its_own_teams_checks_only(self, page, user):
        make_check(user, brand="Northwind")
        make_check(brand="Contoso")

        html = page("/")

        assert "Northwind" in html
        assert "Contoso" not in html

    @pytest.mark.parametrize("path", ["/", "/checks/00000000-0000-4000-8000-000000000000/"])
    def test_pages_that_are_read_are_not_posted_to(self, client, user, path):
        client.force_login(user)

        assert client.post(path).status_code == 405

    def test_logging_in_and_out(self, client, user):
        response = client.post("/login/?next=/checks/new/", {"username": "ada", "password": "secret"})
        assert response.url == "/checks/new/"
        assert client.get("/").status_code == 200

        client.post("/logout/")

        assert client.get("/").url.startswith("/login/")

    def test_a_wrong_password_keeps_the_name(self, client, user):
        html = client.post("/login/", {"username": "ada", "password": "wrong"}).content.decode()

        assert "Please enter a correct username and password." in html
        assert 'value="ada"' in html


class TestListOfChecks:
    def test_a_newcomer_is_told_what_to_do(self, page):
        html = page("/")

        assert "No check yet" in html
        assert 'href="/checks/new/"' in html

    def test_a_check_says_how_far_it_is(self, page, user):
        complete_one(make_job(user=user))
        make_check(user, brand="Second")

        html = page("/")

        assert "1 of 1 answered" in html
        assert "under way:" in html
        assert "0 of 1 answered" in html
        assert html.index("Second") < html.index("1 of 1 answered")

    def test_fifty_a_page(self, page, user):
        for number in range(51):
            make_check(user, brand=f"Brand{number:02}", prompts=("One?",))

        first, second = page("/"), page("/?page=2")

        assert first.count("<li>") == 50
        assert "Page 1 of 2" in first
        assert second.count("<li>") == 1
        assert "Brand00" in second

    @pytest.mark.parametrize("number", [1, 10])
    def test_a_constant_number_of_queries(self, client, user, number, django_assert_num_queries):
        for _ in range(number):
            make_check(user)
        client.force_login(user)

        with django_assert_num_queries(5):  # session, user, team, how many, and the page of them
            client.get("/")


class TestCheckPage:
    def test_simulated_answers_are_marked_everywhere(self, page, user):
        job = make_job(user=user)
        complete_one(job)

        html = page(path_of(job.of_check))

        assert '<p class="banner">' in html
        # At the cell, and at each table of figures.
        assert html.count('<span class="tag">simulated</span>') == 1 + html.count('<table class="figures"')
        assert "simulated" in page(f"{path_of(job.of_check)}answers/1/chatgpt/1/")
        assert "simulated" in page("/")

    @pytest.mark.usefixtures("only_chatgpt")
    def test_a_real_check_is_not_marked(self, page, user):
        html = page(path_of(make_check(user)))

        assert "simulated" not in html

    def test_a_check_is_shown_when_all_its_jobs_are_cleaned_up(self, page, user):
        job = make_job(user=user)
        complete_one(job)
        before = page(path_of(job.of_check))

        job.delete()

        assert without_tokens(page(path_of(job.of_check))) == without_tokens(before)

    def test_it_is_not_kept_by_the_browser(self, client, user):
        client.force_login(user)

        response = client.get(path_of(make_check(user)))

        assert "no-store" in response.headers["Cache-Control"]
        assert "HX-Request" in response.headers["Vary"]


def without_tokens(html: str) -> str:
    return re.sub(r'(csrfmiddlewaretoken|nonce)" value="[\w-]+"', "", html)


class TestStatusJson:
    def test_it_is_what_reports_say(self, client, user):
        client.force_login(user)
        check = make_check(user)

        response = client.get(f"{path_of(check)}status.json")

        assert response.json() == reports.check_status(check)


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>[x](javascript:alert(1))\"'</div></details>"


class TestHostileText:
    @pytest.fixture
    def html(self, page, user):
        sources = (
            Source("javascript:alert(1)", "javascript:alert(1)", HOSTILE),
            Source('https://a.example/"><script>alert(1)</script>', "https://a.example/", HOSTILE, cited=True),
        )
        job = make_job(user=user, prompts=(HOSTILE,), brand=HOSTILE[:90], competitors=(HOSTILE[:80],))
        complete_one(job, HOSTILE, sources=sources, model=HOSTILE)
        return page(path_of(job.of_check))

    def test_it_is_shown_as_text(self, html):
        assert escape(HOSTILE) in html
        assert HOSTILE not in html

    def test_it_makes_no_tag_and_no_attribute(self, html):
        tags = Tags(html)

        assert [tag.get("src") for tag in tags.of("img")] == [static("capture/favicon.svg")]  # of the frame
        assert all("/static/" in (tag.get("src") or "") for tag in tags.of("script"))
        assert not [name for _, attributes in tags.found for name in attributes if name.startswith("on")]

    def test_no_link_leads_into_a_script(self, html):
        targets = [tag.get("href") or "" for tag in Tags(html).of("a")]

        assert not [target for target in targets if "javascript" in target.lower().split("?")[0][:20]]

    def test_the_parts_of_the_page_stay_balanced(self, html):
        assert html.count("<details") == html.count("</details>")
        assert html.count("<div") == html.count("</div>")

    def test_a_failures_words_are_text_as_well(self, page, user):
        job = make_job(user=user)
        queue.fail(claim_one(job), error(HOSTILE[:60], kind=Kind.FATAL))

        assert "<script>alert" not in page(path_of(job.of_check))


class TestPolicy:
    @pytest.mark.parametrize("path", ["/", "/checks/new/", "/nowhere/", "check"])
    def test_no_page_has_a_style_or_script_of_its_own(self, page, user, path):
        job = make_job(user=user)
        complete_one(job)
        html = page(path_of(job.of_check) if path == "check" else path, status=404 if path == "/nowhere/" else 200)

        tags = Tags(html)
        assert "<style" not in html
        assert not [tag for tag, attributes in tags.found if "style" in attributes]
        assert all(attributes.get("src") for attributes in tags.of("script"))


class TestStatusForPrograms:
    def test_who_is_not_logged_in_gets_401_and_no_login_page(self, client):
        response = client.get(f"{path_of(make_check())}status.json")

        assert response.status_code == 401
        assert "error" in response.json()

    def test_another_teams_check_is_not_there(self, client):
        client.force_login(make_user())

        response = client.get(f"{path_of(make_check())}status.json")

        assert response.status_code == 404
        assert "error" in response.json()


class TestTrouble:
    def test_a_database_that_is_away_is_a_page_that_says_so(self, client, user, monkeypatch):
        client.force_login(user)
        client.raise_request_exception = False

        def away(*_):
            raise OperationalError("connection refused\nIs the server running?")

        monkeypatch.setattr(reports, "checks_of", away)

        response = client.get("/")

        assert response.status_code == 503
        assert response.headers["Retry-After"] == "5"
        assert "The database cannot be reached." in response.content.decode()

    @pytest.mark.parametrize("path", ["/", "/no-such-page/", "/admin/", "/login/"])
    def test_it_does_not_matter_where_the_database_is_missed(self, client, user, monkeypatch, path):
        client.force_login(user)
        client.raise_request_exception = False

        def away(*_):
            raise OperationalError("connection refused")

        monkeypatch.setattr("django.contrib.sessions.backends.db.SessionStore.load", away)

        response = client.get(path)

        assert response.status_code == 503

    @pytest.mark.parametrize("path", ["/?page=%00", "/admin/capture/capturejob/?status=%00", "/admin/%00/"])
    def test_an_address_with_nul_is_a_bad_request(self, client, user, path):
        client.force_login(user)

        response = client.get(path)

        assert response.status_code == 400
        assert "no page of ours sends" in response.content.decode()
        assert "form" not in response.content.decode().partition("<main")[2]

    def test_an_address_with_nul_is_one_line_of_the_log(self, client, caplog):
        client.get("/?search=%00")

        warnings = [record for record in caplog.records if record.levelname != "INFO"]
        assert [(record.levelname, record.exc_info) for record in warnings] == [("WARNING", None)]

    @pytest.mark.parametrize("path", ["/", "/checks/new/draft/", "/logout/", "/brands/"])
    def test_a_method_that_an_address_does_not_take_is_refused_with_a_page(self, client, user, path):
        client.force_login(user)

        response = client.put(path)

        assert response.status_code == 405
        assert response.headers["Allow"]
        assert "Nothing was done" in response.content.decode()

    @pytest.mark.parametrize("path", ["/", "/checks/new/?form=x", "/login/"])
    def test_head_is_answered_as_get_is(self, client, user, path):
        assert client.head(path).status_code == client.get(path).status_code

    def test_other_errors_are_errors(self, client, user, monkeypatch):
        client.force_login(user)
        client.raise_request_exception = False

        def broken(*_):
            raise ZeroDivisionError

        monkeypatch.setattr(reports, "checks_of", broken)

        response = client.get("/")

        assert response.status_code == 500
        assert "Something went wrong" in response.content.decode()

    def test_a_form_that_is_too_large_is_told_so(self, client, user, settings):
        settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
        client.force_login(user)

        response = client.post("/checks/new/", "prompts=" + "x" * 200, content_type="application/x-www-form-urlencoded")

        assert response.status_code == 413
        assert "That was too much at once" in response.content.decode()


class TestTimes:
    @pytest.mark.parametrize(
        ("zone", "shown"),
        [
            ("Europe/Berlin", ("CET", "CEST")),
            ("Asia/Kolkata", ("IST",)),
            ("Not/AZone", ("UTC",)),
            ("../../etc", ("UTC",)),
        ],
    )
    def test_they_are_in_the_teams_zone_which_stands_beside_them(self, page, user, zone, shown):
        check = make_check(user)
        Team.objects.filter(memberships__user=user).update(time_zone=zone)

        for path in ("/", path_of(check)):
            (time,) = re.findall(r"<time [^>]*>([^<]*)</time>", page(path))
            assert time.split()[-1] in shown

    def test_a_zone_lasts_for_its_request_only(self, page, user):
        make_check(user)
        Team.objects.filter(memberships__user=user).update(time_zone="Asia/Kolkata")

        page("/")

        assert timezone.get_current_timezone_name() == "UTC"
