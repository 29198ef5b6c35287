"""Watching a check in the browser."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone
from playwright.sync_api import Page, expect

from capture import heartbeat, queue
from capture.models import CaptureJob, Check, Lane
from capture.providers import registry
from capture.providers.replies import Kind
from capture.reports import check_url
from tests.browser.site import Site
from tests.browser.test_start import CHECK_PAGE, NEW, check_button, fill_in
from tests.factories import WORKER, answer, claim, error, make_check
from tests.process.running import until

SOON = 30_000  # milliseconds, for what a worker has to do first

MANY = tuple(f"Which espresso machine is best for an office of {number} people?" for number in range(30))


def finished(page: Page) -> None:
    expect(page.locator("#progress .totals")).to_have_text(re.compile(r"Finished: \d+ of \d+ answered"), timeout=SOON)


def complete(number: int) -> None:
    """Answers come for so many jobs of ChatGPT."""
    for ticket in claim("openai", number):
        queue.complete(ticket, answer())


@pytest.fixture
def check(user) -> Check:
    """A check of thirty questions to ChatGPT. A worker is alive, and does what a test has it do."""
    heartbeat.register(WORKER, list(registry.by_slug), 8)
    return make_check(user, prompts=MANY)


def cell(page: Page, number: int):
    return page.locator(f"#cell-{number}-chatgpt-1")


class TestWholeWay:
    def test_a_check_is_started_and_watched_until_it_is_complete(self, visit, work):
        page = visit.go(NEW)
        fill_in(page)
        check_button(page).click()
        page.wait_for_url(CHECK_PAGE)
        expect(page).to_have_title("0 of 10 · Northwind · AI Control")
        expect(page.locator("#progress .hold")).to_have_text(
            "Nothing is being asked at the moment. Tell whoever runs AI Control."
        )

        work()

        finished(page)
        expect(page).to_have_title("Northwind · AI Control")
        expect(page.locator(".cell .answered")).to_have_count(10)
        expect(page.get_by_role("button", name="Pause updates")).to_be_hidden()
        assert page.locator("#progress").get_attribute("hx-trigger") == "look"

    def test_the_tab_is_closed_and_somebody_comes_back_in_another(self, visit, work):
        page = visit.go(NEW)
        fill_in(page)
        check_button(page).click()
        page.wait_for_url(CHECK_PAGE)
        address = page.url

        page.close()
        work()
        until(lambda: not CaptureJob.objects.open().exists())

        page = visit.context.new_page()
        page.goto(address)
        finished(page)

    def test_by_keyboard_only_an_answer_is_opened(self, visit, check):
        complete(1)
        page = visit.go(check_url(check))

        page.locator("#open-1-chatgpt-1").focus()
        page.keyboard.press("Enter")

        expect(page.locator("#opened h2")).to_be_focused()
        expect(page.locator("#opened")).to_contain_text("Northwind is liked by many.")

    def test_without_javascript_a_link_reloads_it(self, visitor, user, check):
        page = visitor(user, javascript=False).go(check_url(check))
        expect(page.get_by_role("button", name="Pause updates")).to_be_hidden()

        complete(1)
        page.get_by_role("link", name="Reload").click()

        expect(page.locator(".totals")).to_contain_text("1 of 30 finished")
        page.locator("#open-1-chatgpt-1").click()
        expect(page.locator(".answer")).to_contain_text("Northwind is liked by many.")


class TestRefresh:
    def test_only_changed_cells_are_put_in_and_nothing_else_moves(self, visit, check):
        complete(1)
        page = visit.go(check_url(check))
        page.set_viewport_size({"width": 1280, "height": 500})
        page.locator("#open-1-chatgpt-1").click()
        expect(page.locator("#opened")).to_contain_text("Northwind is liked by many.")
        opened = page.locator("#opened article").element_handle()
        last = cell(page, 30).element_handle()
        page.get_by_role("link", name="Plain text").focus()
        before = page.evaluate("() => scrollY")
        assert before > 0

        complete(2)

        expect(cell(page, 3)).to_contain_text("answered")
        assert page.evaluate("one => one.isConnected", last)
        assert page.evaluate("one => one.isConnected", opened)
        expect(page.get_by_role("link", name="Plain text")).to_be_focused()
        assert page.evaluate("() => scrollY") == pytest.approx(before, abs=2)

    def test_the_focus_stays_on_a_cell_that_is_changed(self, visit, check):
        complete(1)
        page = visit.go(check_url(check))
        page.locator("#open-1-chatgpt-1").focus()

        # Whatever it is that changes about it.
        check.captures.update(attempts=2)
        complete(1)

        expect(cell(page, 2)).to_contain_text("answered")
        expect(page.locator("#open-1-chatgpt-1")).to_be_focused()

    def test_updates_can_be_paused(self, visit, check):
        page = visit.go(check_url(check))
        pause = page.get_by_role("button", name="Pause updates")
        asked: list[str] = []

        pause.click()
        resume = page.get_by_role("button", name="Resume updates")
        expect(resume).to_have_attribute("aria-pressed", "true")
        expect(page.get_by_text("Updates are paused: this page stands still.")).to_be_visible()
        page.on("request", lambda request: asked.append(request.url))
        complete(1)
        page.wait_for_timeout(5_000)
        assert asked == []

        resume.click()
        expect(cell(page, 1)).to_contain_text("answered")
        expect(pause).to_have_attribute("aria-pressed", "false")
        expect(page.get_by_text("this page stands still")).to_be_hidden()

    def test_what_cannot_be_called_off_any_more_offers_no_button(self, visit, check):
        page = visit.go(check_url(check))
        button = page.get_by_role("button", name="Call off what was not asked yet")
        expect(button).to_be_visible()

        Lane.objects.update(limit=len(MANY))
        claim("openai", len(MANY))

        expect(button).to_be_hidden()

    def test_a_check_that_was_over_is_looked_at_when_its_page_is_seen_again(self, visit, check):
        queue.cancel(check.jobs.all())
        page = visit.go(check_url(check))
        expect(page.locator(".totals")).to_have_text("Finished: 0 of 30 answered, 30 called off")

        queue.requeue(check.jobs.all())
        page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")

        expect(page.locator(".totals")).to_contain_text("0 of 30 finished")
        expect(page.get_by_role("button", name="Pause updates")).to_be_visible()

    def test_at_320_pixels_there_is_a_list_for_each_question(self, visitor, user, check):
        page = visitor(user, width=320).go(check_url(check))

        question, place = page.locator(".grid tbody th").first.bounding_box(), cell(page, 1).bounding_box()
        assert question
        assert place
        assert place["y"] > question["y"] + question["height"] - 1
        expect(page.locator(".grid .column").first).to_be_visible()

        complete(1)
        expect(cell(page, 1)).to_contain_text("answered")

    def test_at_320_pixels_all_of_why_it_waits_is_read(self, visitor, user, check):
        now = timezone.now()
        cools = {"cooling_since": now, "cooling_until": now + timedelta(minutes=10)}
        Lane.objects.filter(name="openai").update(cooling_reason="rate_limit_exceeded", **cools)

        page = visitor(user, width=320).go(check_url(check))

        why = cell(page, 1).locator("small")
        expect(why).to_contain_text("too many questions at once for the ChatGPT account; next try at")
        assert why.evaluate("(why) => why.scrollWidth <= why.clientWidth && why.scrollHeight <= why.clientHeight")


MEASURE = """() => {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const shift of list.getEntries())
      shifts.push([shift.value, ...shift.sources.map(({node}) => node?.outerHTML?.slice(0, 80) ?? node?.nodeName)]);
  }).observe({type: "layout-shift", buffered: true});
}"""


@pytest.mark.parametrize("width", [320, 1280])
def test_nothing_moves_from_the_first_question_to_the_last_answer(visitor, user, width):
    visit = visitor(user, width=width)
    visit.complaints.forgive("401")
    check = make_check(user, prompts=MANY[:6], providers=("chatgpt", "perplexity", "gemini"))
    page = visit.go(check_url(check))
    page.evaluate(MEASURE)
    holds = page.locator(".hold")
    expect(holds).to_have_text("Nothing is being asked at the moment. Tell whoever runs AI Control.")

    heartbeat.register(WORKER, list(registry.by_slug), 8)
    expect(holds).to_have_count(0)
    Lane.objects.filter(name="perplexity").update(paused=True)
    now = timezone.now()
    cools = {"cooling_since": now, "cooling_until": now + timedelta(minutes=10)}
    Lane.objects.filter(name="gemini").update(cooling_reason="invalid_api_key", **cools)
    expect(holds).to_have_count(2)
    page.get_by_role("button", name="Pause updates").click()
    page.get_by_role("button", name="Resume updates").click()
    complete(3)
    (ticket,) = claim("openai", 1)
    queue.fail(ticket, error("invalid_api_key", kind=Kind.FATAL))
    expect(cell(page, 4)).to_contain_text("failed")
    Session.objects.all().delete()
    expect(page.get_by_role("status").get_by_role("link", name="Log in")).to_be_visible()
    visit.log_in(user)
    complete(2)
    expect(cell(page, 6)).to_contain_text("answered", timeout=SOON)
    Lane.objects.update(paused=False, cooling_since=None, cooling_until=None, cooling_reason="")
    expect(holds).to_have_count(0)
    queue.cancel(check.jobs.all())
    finished(page)
    expect(page.get_by_role("button", name="that were called off")).to_be_visible()

    shifts = page.evaluate("() => shifts")
    assert sum(shift[0] for shift in shifts) < 0.01, shifts


class TestTime:
    """With a clock that the test moves on."""

    @pytest.fixture
    def page(self, visit, check):
        claim("openai", 1)
        visit.page.clock.install()
        return visit.go(check_url(check))

    @pytest.fixture
    def asked(self, page):
        """Lets seconds pass, and says how often the page has asked meanwhile."""

        def pass_by(seconds: int) -> int:
            requests: list[str] = []
            page.on("request", lambda request: requests.append(request.url))
            for _ in range(seconds):
                page.clock.run_for(1_000)
                page.evaluate("() => fetch('/login/')")  # a round trip, in which an answer comes back
            return sum(url.endswith(page.url.split("/")[-2] + "/") for url in requests)

        return pass_by

    def test_seconds_are_counted_in_the_browser(self, page):
        expect(cell(page, 1)).to_contain_text("asking for 0 s")

        page.clock.run_for(12_000)
        expect(cell(page, 1)).to_contain_text(re.compile(r"asking for 1[2-4] s"))

        page.clock.run_for(60_000)
        expect(cell(page, 1)).to_contain_text("asking for 1 min")

    def test_it_asks_more_seldom_while_nothing_changes(self, page, asked):
        first = asked(10)
        later = asked(30)

        assert 2 <= first <= 5
        assert 2 <= later <= 4

    def test_it_asks_once_a_minute_while_nobody_looks_and_at_once_when_somebody_does(self, page, asked):
        page.evaluate("() => Object.defineProperty(document, 'hidden', {value: true, configurable: true})")
        asked(4)
        assert asked(50) <= 1

        page.evaluate("() => { delete document.hidden; document.dispatchEvent(new Event('visibilitychange')) }")
        assert asked(3) >= 1

    def test_totals_are_spoken_once_in_ten_seconds_at_most(self, page, asked):
        spoken = page.locator("#spoken")
        page.evaluate(
            """() => {
              window.spoken = 0;
              new MutationObserver(() => spoken++).observe(document.getElementById("spoken"), {childList: true});
            }"""
        )
        for _ in range(5):
            complete(1)
            asked(4)

        assert 1 <= page.evaluate("() => spoken") <= 2
        asked(10)
        expect(spoken).to_have_text(re.compile(r"5 of 30 finished"))


class TestTrouble:
    def test_a_server_that_is_killed_is_said_so_and_found_again(self, visitor, user, check, system, tmp_path):
        site = Site(tmp_path / "log", SIMULATOR_URL=system.url)
        site.start()
        try:
            visit = visitor(user, at=site)
            visit.complaints.forgive("ERR_CONNECTION")
            visit.complaints.forgive("htmx:")  # it tells the console of each question without an answer
            page = visit.go(check_url(check))
            trouble = page.get_by_text("AI Control can’t be reached.")
            expect(trouble).to_be_hidden()

            site.kill()
            expect(trouble).to_be_visible(timeout=SOON)
            complete(2)
            site.start()

            expect(trouble).to_be_hidden(timeout=SOON)
            expect(cell(page, 2)).to_contain_text("answered")
            visit.context.close()
        finally:
            site.stop()

    def test_a_session_that_ends_leaves_the_page_and_a_link_to_log_in(self, visit, user, check):
        visit.complaints.forgive("401")
        page = visit.go(check_url(check))
        Session.objects.all().delete()

        link = page.get_by_role("status").get_by_role("link", name="Log in")
        expect(link).to_be_visible()
        assert (link.get_attribute("href") or "").endswith(f"/login/?next={check_url(check)}")
        expect(cell(page, 1)).to_contain_text("waiting")
        expect(page.get_by_label("Password")).to_have_count(0)

        visit.log_in(user)
        complete(1)
        expect(cell(page, 1)).to_contain_text("answered", timeout=SOON)
        expect(link).to_be_hidden()

    def test_a_check_that_is_deleted_meanwhile_is_said_so(self, visit, check):
        visit.complaints.forgive("404")
        page = visit.go(check_url(check))

        check.delete()

        expect(page.get_by_text("This check is no longer there.")).to_be_visible()
