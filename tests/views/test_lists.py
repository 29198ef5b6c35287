"""My checks and my brands."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from capture import reports
from capture.models import Brand, Check, Prompt, Team
from tests.factories import (
    answer,
    claim,
    complete_one,
    finish,
    make_check,
    make_job,
    make_user,
)
from tests.views.conftest import path_of


def listed(response) -> list[str]:
    """The brands of the lines of a list, in their order."""
    return [line.brand for line in response.context["lines"]]


def brands(response) -> list[str]:
    return [line.name for line in response.context["lines"]]


def words_of(response) -> str:
    return " ".join(response.content.decode().split())


class TestMyChecks:
    def test_a_line_says_what_was_asked_and_how_far_it_is(self, browser, ada):
        job = make_job(user=ada, prompts=("Which is best?",), country="DE", language="de")
        complete_one(job)
        make_check(ada, brand="Second", prompts=("One?", "Two?", "Three?"))

        html = words_of(browser.get("/"))

        assert "Which is best?" in html
        assert "· DE · de" in html
        assert "1 of 1 answered" in html
        assert "and 2 more questions" in html
        assert "<strong>under way:</strong> 0 of 3 answered" in html

    def test_a_system_that_takes_one_sample_counts_once(self, browser, ada):
        make_check(ada, providers=("chatgpt", "copilot"), samples=3)

        assert "0 of 4 answered" in words_of(browser.get("/"))

    @pytest.mark.parametrize(
        ("words", "found"),
        [
            ("north", ["Northwind"]),
            ("  ESPRESSO ", ["Northwind"]),
            ("espresso   machine", ["Northwind"]),
            ("wind", ["Southwind", "Northwind"]),
            ("%", []),
            ("_", []),
            ("", ["Southwind", "Northwind"]),
        ],
    )
    def test_a_search_looks_into_brands_and_questions(self, browser, ada, words, found):
        make_check(ada, brand="Northwind", prompts=("Which tea?", "Which espresso machine?"))
        make_check(ada, brand="Southwind", prompts=("Which tea?",))

        assert listed(browser.get("/", {"search": words})) == found

    def test_a_brand_is_found_under_its_old_and_its_new_name(self, browser, ada):
        make_check(ada, brand="Northwind")
        Brand.objects.update(name="Boreas")

        assert listed(browser.get("/?search=boreas")) == listed(browser.get("/?search=northwind")) == ["Northwind"]

    def test_it_finds_nothing_of_another_team(self, browser):
        make_check(brand="Northwind", prompts=("Which espresso machine?",))

        for words in ("northwind", "espresso"):
            response = browser.get("/", {"search": words})
            assert listed(response) == []
            assert f"No check has “{words}” in its brand or in a question." in response.content.decode()

    def test_the_search_is_kept_from_page_to_page(self, browser, ada):
        for number in range(51):
            make_check(ada, brand=f"Brand & {number:02}", prompts=("One?",))

        first = browser.get("/", {"search": "brand &"})
        second = browser.get("/?page=2&search=brand+%26")

        assert 'href="?page=2&amp;search=brand%20%26" rel="next"' in first.content.decode()
        assert listed(second) == ["Brand & 00"]
        assert "Page 2 of 2" in second.content.decode()

    @pytest.mark.parametrize("query", ["page=0", "page=99", "page=x", "search=" + "x" * 5_000, "search=%22%3E%3Cb%3E"])
    def test_whatever_the_address_asks_for_there_is_a_page(self, browser, ada, query):
        make_check(ada)

        response = browser.get(f"/?{query}")

        assert response.status_code == 200
        assert '"><b>' not in response.content.decode()

    @pytest.mark.parametrize("number", [1, 10])
    def test_a_constant_number_of_queries(self, browser, ada, number, django_assert_num_queries):
        for _ in range(number):
            make_check(ada)

        with django_assert_num_queries(5):  # session, user, team, which, and what of them
            browser.get("/?search=espresso")


class TestMyBrands:
    def test_a_newcomer_is_told_what_to_do(self, browser):
        html = browser.get("/brands/").content.decode()

        assert "No brand yet" in html
        assert "Start your first check" in html

    def test_the_one_that_was_checked_last_comes_first_with_its_newest_check(self, browser, ada):
        old = make_check(ada, brand="Northwind")
        Check.objects.update(created_at=timezone.now() - timedelta(days=2))
        make_check(ada, brand="Contoso")
        Check.objects.filter(brand__name="Contoso").update(created_at=timezone.now() - timedelta(days=1))
        new = make_check(ada, brand="Northwind", prompts=("One?", "Two?"))

        response = browser.get("/brands/")

        assert brands(response) == ["Northwind", "Contoso"]
        html = words_of(response)
        assert f'href="{path_of(new)}"' in html
        assert f'href="{path_of(old)}"' not in html
        assert "0 of 2 answered" in html
        assert "2 checks" in html

    def test_an_answer_counts(self, browser, ada):
        complete_one(make_job(user=ada))

        assert "1 of 1 answered" in words_of(browser.get("/brands/"))

    def test_in_how_many_answers_of_its_last_check_it_is_named(self, browser, ada):
        check = make_check(ada, prompts=("Which is best?", "Which is cheapest?", "Is Northwind good?"))
        for ticket in claim():
            finish(ticket, answer("Buy a Northwind." if ticket.question.text == "Which is best?" else "Buy none."))

        response = browser.get("/brands/")

        assert "Named in 1 of 2 answers" in words_of(response)
        assert f'href="/brands/{check.brand.uuid}/"' in words_of(response)

    def test_one_whose_checks_are_deleted_stays(self, browser, ada):
        make_check(ada)
        Check.objects.all().delete()

        assert "No check is kept." in browser.get("/brands/").content.decode()

    def test_one_that_is_archived_is_not_shown(self, browser, ada):
        make_check(ada)
        Brand.objects.update(archived_at=timezone.now())

        assert brands(browser.get("/brands/")) == []

    def test_search_and_pages(self, browser, ada):
        team = Team.objects.of(ada)
        Brand.objects.bulk_create(Brand(team=team, name=f"Brand {number:03}") for number in range(60))

        assert len(brands(browser.get("/brands/"))) == 50
        assert brands(browser.get("/brands/?page=2"))[-1] == "Brand 059"
        assert brands(browser.get("/brands/?search=d+03")) == [f"Brand {number:03}" for number in range(30, 40)]
        assert "No brand has “nowhere” in its name." in browser.get("/brands/?search=nowhere").content.decode()

    def test_another_teams_are_not_there(self, browser):
        make_check(brand="Northwind")

        assert brands(browser.get("/brands/")) == []

    @pytest.mark.parametrize("number", [1, 10])
    def test_a_constant_number_of_queries(self, browser, ada, number, django_assert_num_queries):
        for place in range(number):
            make_check(ada, brand=f"Brand {place}")

        # Session, user, team; which, what of them, and of their newest checks, and whom these name.
        with django_assert_num_queries(7):
            browser.get("/brands/")


class TestPlan:
    """With thousands of checks no list reads a table from end to end."""

    @pytest.fixture
    def team(self, ada):
        team = Team.objects.of(ada)
        for owner in (team, Team.objects.of(make_user())):
            brand = Brand.objects.create(team=owner, name="Northwind")
            checks = Check.objects.bulk_create(
                Check(
                    team=owner, brand=brand, names={"brand": {"name": "N"}}, providers=["chatgpt"], submit_token=number
                )
                for number in range(3_000)
            )
            Prompt.objects.bulk_create(
                Prompt(of_check=check, position=1, text="One?", key="", branded=False) for check in checks
            )
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE capture_check, capture_prompt, capture_capture, capture_capturejob")
        return team

    def test_which_checks_there_are_is_told_by_an_index_of_the_team(self, team):
        plan = reports.checks_of(team).values_list("pk").explain()

        assert "Index" in plan
        assert "Seq Scan" not in plan

    def test_what_stands_in_a_line_is_found_by_its_check(self, team):
        keys = list(reports.checks_of(team).values_list("pk", flat=True)[:50])

        plan = reports.checks._counted(keys).explain()

        assert "Seq Scan on capture_prompt" not in plan
        assert "Seq Scan on capture_check " not in plan
