"""Answers and what is done with them, in a real browser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from capture import queue
from capture.models import Check
from capture.providers.replies import Kind, Source
from capture.reports import check_url
from tests.factories import (
    answer,
    claim,
    claim_one,
    complete_one,
    error,
    make_check,
    make_job,
)

LINK = "([a.example](https://a.example/x))"
TEXT = f"**Northwind** is liked. {LINK}\n\n- One\n- Two"
SOURCES = (
    Source("https://a.example/x", "https://a.example/x", "Title A", cited=True, spans=((24, 24 + len(LINK)),)),
    Source("https://b.example/", "https://b.example/", "Title B"),
)


@pytest.fixture
def answered(user):
    """A check with one answer."""
    job = make_job(user=user)
    complete_one(job, TEXT, sources=SOURCES)
    return job.of_check


@pytest.fixture
def failed(user):
    """A check of which nothing came."""
    job = make_job(user=user)
    queue.fail(claim_one(job), error("invalid_api_key", kind=Kind.FATAL))
    return job.of_check


def cell(page, anchor: str = "1-chatgpt-1"):
    return page.locator(f"#cell-{anchor}")


class TestReading:
    def test_an_opened_answer_and_the_focus_in_it_stay_while_others_come(self, visit, user):
        check = make_check(user, prompts=("One?", "Two?"))
        first, second = claim("openai")
        queue.complete(first, answer(TEXT, sources=SOURCES))
        page = visit.go(check_url(check))

        cell(page).get_by_role("link", name="answered").click()
        opened = page.get_by_role("article")
        expect(opened.get_by_role("heading", name="One?")).to_be_focused()
        opened.get_by_role("link", name="Plain text").focus()
        before = opened.bounding_box()
        queue.complete(second, answer("The other one."))

        expect(cell(page, "2-chatgpt-1")).to_contain_text("answered")
        expect(page.get_by_role("link", name="Delete this check")).to_be_visible()
        expect(opened.get_by_role("link", name="Plain text")).to_be_focused()
        assert opened.bounding_box() == before  # of what somebody reads, no line has moved
        cell(page, "2-chatgpt-1").get_by_role("link", name="answered").click()
        expect(opened.get_by_role("heading", name="Two?")).to_be_focused()
        assert page.url == visit.site + check_url(check)

    def test_from_one_answer_to_the_next_and_back_to_the_table(self, visit, user):
        check = make_check(user, prompts=("One?", "Two?"))
        for ticket in claim("openai"):
            queue.complete(ticket, answer(f"Answer {ticket.job}."))
        page = visit.go(check_url(check))
        cell(page).get_by_role("link").click()
        opened = page.get_by_role("article")

        opened.get_by_role("link", name="Next").click()
        expect(opened.get_by_role("heading", name="Two?")).to_be_focused()
        opened.get_by_role("link", name="Previous").click()
        expect(opened.get_by_role("heading", name="One?")).to_be_focused()
        opened.get_by_role("link", name="Back to the table").click()

        expect(opened).to_be_visible()
        assert page.url.endswith("#cell-1-chatgpt-1")

    def test_a_reference_leads_to_its_source(self, visit, answered):
        page = visit.go(f"{check_url(answered)}answers/1/chatgpt/1/")

        page.get_by_role("link", name="[1]").click()

        source = page.locator("li:target")
        expect(source).to_contain_text("Title A")
        expect(source.get_by_role("link")).to_have_attribute("href", "https://a.example/x")

    def test_after_a_session_has_ended_a_cell_leads_to_the_login_and_back(self, visit, answered):
        page = visit.go(check_url(answered))
        visit.complaints.forgive("401")
        visit.context.clear_cookies()

        cell(page).get_by_role("link").click()

        page.wait_for_url(f"**/login/?next={check_url(answered)}answers/1/chatgpt/1/")


class TestCopy:
    def test_it_is_the_text_with_the_addresses_that_it_cites(self, visit, answered):
        visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = visit.go(f"{check_url(answered)}answers/1/chatgpt/1/")

        page.get_by_role("button", name="Copy").click()

        expect(page.get_by_text("Copied")).to_be_visible()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith("Northwind is liked.[1]")
        assert copied.endswith("\n[1] https://a.example/x")
        assert "b.example" not in copied

    def test_where_the_browser_does_not_let_us_it_is_selected(self, visit, answered):
        page = visit.go(f"{check_url(answered)}answers/1/chatgpt/1/")
        page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed')) }")

        page.get_by_role("button", name="Copy").click()

        expect(page.get_by_text("Selected: copy it with Ctrl+C")).to_be_visible()
        assert page.evaluate("getSelection().toString()").startswith("Northwind is liked.")

    def test_it_works_in_an_answer_that_was_opened_within_its_check(self, visit, answered):
        visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = visit.go(check_url(answered))
        cell(page).get_by_role("link").click()

        page.get_by_role("button", name="Copy").click()

        expect(page.get_by_text("Copied")).to_be_visible()


@pytest.mark.parametrize("javascript", [True, False])
class TestActions:
    def test_a_failed_cell_is_asked_again_and_answered(self, visitor, user, failed, work, javascript):
        page = visitor(user, javascript=javascript).go(check_url(failed))

        cell(page).get_by_role("link", name="failed").click()
        page.get_by_role("button", name="Ask again, free", exact=True).click()
        expect(page.get_by_text("1 question is asked again.")).to_be_visible()
        work()

        if javascript:
            expect(cell(page)).to_contain_text("answered", timeout=30_000)
        else:
            reload_until(page, lambda: "answered" in cell(page).inner_text())

    def test_what_was_not_asked_is_called_off(self, visitor, user, javascript):
        check = make_check(user, prompts=("One?", "Two?"))
        claim("openai", seats=1)
        page = visitor(user, javascript=javascript).go(check_url(check))

        page.get_by_role("button", name="Call off what was not asked yet").click()

        expect(
            page.get_by_text("1 question is called off. 1 was asked before; its answer still comes.")
        ).to_be_visible()
        expect(cell(page, "2-chatgpt-1")).to_contain_text("cancelled")
        expect(cell(page)).to_contain_text("asking")

    def test_a_check_is_asked_again_as_a_new_one(self, visitor, user, answered, javascript):
        page = visitor(user, javascript=javascript).go(check_url(answered))

        page.get_by_role("button", name="again as a new check, free").dblclick()

        expect(page.get_by_role("button", name="Call off what was not asked yet")).to_be_visible()
        assert Check.objects.count() == 2
        assert page.url != check_url(answered)

    def test_a_check_is_deleted_once_that_is_confirmed(self, visitor, user, answered, javascript):
        page = visitor(user, javascript=javascript).go(check_url(answered))

        page.get_by_role("link", name="Delete this check").click()
        page.get_by_role("button", name="Delete for good").click()

        expect(page.get_by_text("The check is deleted.")).to_be_visible()
        assert not Check.objects.exists()

    def test_answers_are_downloaded(self, visitor, user, answered, javascript):
        page = visitor(user, javascript=javascript).go(check_url(answered))

        with page.expect_download() as download:
            page.get_by_role("region", name="What you can do").get_by_role("link", name="Both (JSON)").click()

        assert download.value.suggested_filename.startswith("northwind-")
        (found,) = json.loads(Path(download.value.path()).read_text())["answers"]
        assert found["answer"] == TEXT


class TestWithoutJavaScript:
    def test_an_answer_is_a_page_with_nothing_that_does_not_work(self, visitor, user, answered):
        page = visitor(user, javascript=False).go(check_url(answered))

        cell(page).get_by_role("link", name="answered").click()

        expect(page.get_by_role("article")).to_contain_text("Northwind is liked.")
        expect(page.get_by_role("button", name="Copy")).to_be_hidden()
        page.get_by_role("link", name="Plain text").click()
        assert TEXT in page.inner_text("body")

    def test_checks_are_searched(self, visitor, user, answered):
        make_check(user, brand="Contoso")
        page = visitor(user, javascript=False).go("/")

        page.get_by_label("Brand or question").fill("northw")
        page.get_by_role("button", name="Search").click()

        expect(page.get_by_role("link", name="Northwind")).to_be_visible()
        expect(page.get_by_role("link", name="Contoso")).to_have_count(0)


def reload_until(page, true) -> None:
    """Reload a page, as somebody without JavaScript does, until it shows something."""
    for _ in range(100):
        page.reload()
        if true():
            return
    raise AssertionError("it did not happen")
