"""What staff see and press in the admin: the queue's state, a job's story, an action on many jobs, a check to read."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from playwright.sync_api import Locator, Page, expect

from capture import queue, staff_actions
from capture.models import CaptureJob, Check, StaffAction, Status
from capture.models.clock import database_now
from tests.browser import axe
from tests.browser.conftest import HEIGHT, NARROW, WIDE
from tests.browser.pages import Scene
from tests.browser.test_admin import ours
from tests.browser.test_looks import photograph, sticks_out
from tests.factories import FOR_MONEY, claim_one, make_check, make_job, make_user, prompts, unknown_error

JOBS = "/admin/capture/capturejob/"
PHONE = 360


@pytest.fixture
def boss(transactional_db):
    return make_user("boss", is_staff=True, is_superuser=True)


@pytest.fixture
def scene(boss) -> Scene:
    from capture import lanes

    lanes.make_missing()
    return Scene.make(boss)


@pytest.fixture
def unknown(scene) -> CaptureJob:
    CaptureJob.objects.pending().update(run_after=database_now())  # nobody else's is claimed
    job = make_job()
    queue.fail(claim_one(job, FOR_MONEY), unknown_error())
    return job


PAGES = {
    "front": lambda job, check, action: "/admin/",
    "jobs": lambda job, check, action: f"{JOBS}?state=failed",
    "job": lambda job, check, action: f"{JOBS}{job.pk}/change/",
    "asked": lambda job, check, action: f"/admin/capture/staffaction/{action.pk}/change/",
    "log": lambda job, check, action: "/admin/admin/logentry/",
    "opened-check": lambda job, check, action: f"/admin/capture/check/{check.uuid}/open/",
    "opened-answer": lambda job, check, action: f"/admin/capture/check/{check.uuid}/open/answers/1/chatgpt/1/",
}


@pytest.mark.timeout(240)
def test_pages_of_staff_have_no_barrier(visitor, boss, scene, unknown):
    action = staff_actions.propose(
        boss, "requeue", staff_actions.targets_of("requeue", CaptureJob.objects.all()), f"{JOBS}?state=failed"
    )
    visit = visitor(boss)

    for name, path in PAGES.items():
        page = visit.go(path(unknown, scene.checks["mixed"], action))
        for scheme, rules in (("light", ()), ("dark", axe.COLOURS)):
            page.emulate_media(color_scheme=scheme)
            for width in (WIDE, NARROW):
                page.set_viewport_size({"width": width, "height": HEIGHT})
                photograph(page, f"staff-{name}-{scheme}-{width}")
                assert ours(page, only=rules) == [], (name, scheme, width)
                assert not sticks_out(page), (name, width)


LONG = "Which espresso machine is the best for an office of twelve who drink milk coffee, and where is it sold? " * 3


def test_a_long_question_takes_some_lines_of_a_list_and_is_whole_where_it_is_pointed_at(visitor, boss, scene):
    job = make_job(prompts=(LONG.strip(),))
    page = visitor(boss).go(JOBS)
    row = page.locator("#result_list tbody tr").first
    cell = row.locator(".field-question")

    for width in (WIDE, PHONE):
        page.set_viewport_size({"width": width, "height": HEIGHT})
        photograph(page, f"staff-long-question-{width}")
        assert _height(row) < 90  # pixels
        assert not sticks_out(page)
    page.set_viewport_size({"width": WIDE, "height": HEIGHT})
    box, list_box = cell.bounding_box(), page.locator("#changelist-form .results").bounding_box()
    assert box
    assert list_box
    assert box["x"] + box["width"] < list_box["x"] + list_box["width"]  # it is seen without scrolling
    assert cell.locator("span").get_attribute("title") == LONG.strip()
    page.goto(page.url + f"{job.pk}/change/")
    expect(page.locator(".field-whole_question .readonly")).to_have_text(LONG.strip())


def _height(row: Locator) -> float:
    box = row.bounding_box()
    assert box
    return box["height"]


def test_the_log_of_a_job_scrolls_by_itself(visitor, boss, scene, unknown):
    LogEntry.objects.log_actions(boss.pk, [unknown], CHANGE, "unbroken" * 60)
    page = visitor(boss, width=PHONE)

    for path in (f"{JOBS}{unknown.pk}/change/", f"{JOBS}{unknown.pk}/history/", "/admin/admin/logentry/"):
        assert not sticks_out(page.go(path))


def test_many_jobs_are_cancelled_while_a_page_shows_how_far_it_is(visitor, boss, scene):
    make_check(boss, prompts=prompts(450))
    page = visitor(boss).go(f"{JOBS}?state=pending")

    page.locator("#action-toggle").click()
    page.get_by_role("button", name="Select all").click()
    page.locator("select[name=action]").select_option("cancel")
    page.get_by_role("button", name="Go").click()
    expect(page.locator("#content-main")).to_contain_text("all that were found on")
    page.get_by_role("button", name="Yes: cancel").click()

    expect(page.locator(".messagelist .success")).to_contain_text("Cancel: ")
    assert not CaptureJob.objects.pending().exists()


def test_an_action_goes_on_by_itself_while_its_page_is_open(visitor, boss, scene):
    check = make_check(boss, prompts=prompts(5))
    action = _confirmed(boss, check)
    page = visitor(boss).go(f"/admin/capture/staffaction/{action.pk}/change/")

    expect(page.locator("#action-progress")).to_contain_text("5 of 5 gone through")
    expect(page.get_by_role("button", name="Go on now")).to_have_count(0)

    assert check.jobs.filter(status=Status.CANCELLED).count() == 5


def test_without_javascript_it_goes_on_by_a_button(visitor, boss, scene):
    check = make_check(boss, prompts=prompts(5))
    action = _confirmed(boss, check)
    page = visitor(boss, javascript=False).go(f"/admin/capture/staffaction/{action.pk}/change/")
    expect(page.locator("#action-progress")).to_contain_text("0 of 5 gone through")

    page.get_by_role("button", name="Go on now").click()

    expect(page.locator("#action-progress")).to_contain_text("5 of 5 gone through")


def _confirmed(boss, check: Check) -> StaffAction:
    action = staff_actions.propose(boss, "cancel", staff_actions.targets_of("cancel", check.jobs.all()), JOBS)
    assert action
    staff_actions.confirm(action)
    return action


def test_a_job_is_failed_by_its_button(visitor, boss, scene):
    job = make_job()
    page = visitor(boss).go(f"{JOBS}{job.pk}/change/")

    page.get_by_role("button", name="Fail by hand").click()
    page.get_by_role("button", name="Yes: fail by hand").click()

    expect(page.locator("#log")).to_contain_text("Failed by hand")
    expect(page.locator(".fieldBox.field-status")).to_contain_text("Failed")


def test_in_an_opened_check_links_lead_on_and_back_and_nothing_is_asked_again(visitor, boss, scene):
    visit = visitor(boss)
    requests: list[str] = []
    visit.context.on("request", lambda request: requests.append(request.method))
    page = visit.go(f"/admin/capture/check/{scene.checks['mixed'].uuid}/open/")

    page.locator("table.grid a.state").first.click()
    expect(page.get_by_text("Read only.")).to_be_visible()
    page.get_by_role("link", name="Next").click()
    page.get_by_role("link", name="The whole check").click()

    expect(page.locator("table.grid")).to_be_visible()
    _has_nothing_to_press(page)
    assert set(requests) == {"GET"}


def _has_nothing_to_press(page: Page) -> None:
    expect(page.locator("form, button, input, select")).to_have_count(0)
