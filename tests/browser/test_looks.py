"""Each page of ours, light and dark, wide and narrow: without barriers, and without anything that sticks out.

With PICTURES=folder in the environment, each is photographed as well, for people to look at.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import axe
from tests.browser.conftest import HEIGHT, NARROW, WIDE, WIDEST
from tests.browser.pages import PAGES, Scene, SomePage
from tests.factories import make_user


def open_page(some: SomePage, visitor, user, scheme):
    """A visit that stands at the page."""
    scene = Scene.make(user)
    viewer = None if some.stranger else make_user() if some.empty else user
    visit = visitor(viewer, scheme=scheme)
    visit.complaints.forgive(f"status of {some.status}")
    some.show(visit, scene)
    return visit


def photograph(page: Page, name: str) -> None:
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def sticks_out(page: Page) -> bool:
    """Whether the page is wider than the window."""
    return bool(page.evaluate("() => document.documentElement.scrollWidth > window.innerWidth"))


# What comes in parts may move while the page is loaded, by half of what counts as good at most (0.1, says
# https://web.dev/articles/cls): a slow machine paints the header before its last link is there.
MOST_JUMPED = 0.05

# How far things jumped while the page was loaded, as the browser counts it; 0 is not at all. What a press brings about
# is expected by whoever presses, and is counted apart.
JUMPS = """() => new Promise((resolve) => {
  let sum = 0;
  const unexpected = list => list.getEntries().filter(entry => !entry.hadRecentInput);
  new PerformanceObserver(list => unexpected(list).forEach(entry => { sum += entry.value; }))
    .observe({type: "layout-shift", buffered: true});
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => resolve(sum), 100)));
})"""

# The tables in sight whose columns are as wide as what is in them: a page that comes slowly jumps with each row.
UNSETTLED = """() => Array.from(document.querySelectorAll('table'))
  .filter(table => table.checkVisibility() && getComputedStyle(table).display === 'table')
  .filter(table => getComputedStyle(table).tableLayout !== 'fixed')
  .map(table => table.outerHTML.slice(0, 100))"""

# Nothing has jumped that was not painted before.
PAINTED = "() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))"


@pytest.mark.parametrize("some", PAGES, ids=[page.name for page in PAGES])
def test_a_page_has_no_barrier_and_fits(visitor, user, some):
    page = open_page(some, visitor, user, "light").page
    assert page.evaluate(JUMPS) <= MOST_JUMPED
    assert page.evaluate(UNSETTLED) == []

    for scheme, rules in (("light", ()), ("dark", axe.COLOURS)):
        page.emulate_media(color_scheme=scheme)
        for width in (WIDE, NARROW):
            page.set_viewport_size({"width": width, "height": HEIGHT})
            photograph(page, f"{some.name}-{scheme}-{width}")
            assert axe.violations(page, only=rules) == []
            assert not sticks_out(page)


def test_a_jump_is_counted(visit):
    page = visit.go("/")
    page.evaluate(PAINTED)

    page.evaluate("() => { document.querySelector('main').style.marginTop = '300px' }")

    assert page.evaluate(JUMPS) > MOST_JUMPED


def test_a_very_wide_window_is_filled_and_not_flooded(visitor, user):
    page = open_page(PAGES[0], visitor, user, "light").page

    page.set_viewport_size({"width": WIDEST, "height": HEIGHT})

    photograph(page, f"{PAGES[0].name}-light-{WIDEST}")
    box = page.locator(".heading").bounding_box()
    assert box
    assert 1200 <= box["width"] <= 1600


def test_on_a_phone_the_header_of_staff_has_two_rows(visitor):
    page = visitor(make_user(is_staff=True), width=NARROW).go("/")

    tops = {round(link.bounding_box()["y"]) for link in page.locator(".top a, .top button").all()}

    photograph(page, "checks-of-staff")
    assert max(tops) - min(tops) < 60
    heights = [link.bounding_box()["height"] for link in page.locator(".places a").all()]
    assert max(heights) < 40  # on one line
    assert not sticks_out(page)


@pytest.mark.parametrize("name", ["check-under-way", "check-done", "answer-failed", "checks", "brands"])
def test_nothing_that_is_pressed_is_printed(visitor, user, name):
    page = open_page(next(page for page in PAGES if page.name == name), visitor, user, "dark").page

    page.emulate_media(media="print")

    photograph(page, f"{name}-print")
    expect(page.locator("button, input, select, #controls, .doing, .button").filter(visible=True)).to_have_count(0)


def test_print_leaves_out_what_one_presses(visitor, user):
    page = open_page(PAGES[0], visitor, user, "dark").page

    page.emulate_media(media="print")

    photograph(page, f"{PAGES[0].name}-print")
    expect(page.get_by_role("heading", name="Checks")).to_be_visible()
    expect(page.get_by_role("navigation")).to_be_hidden()
    expect(page.get_by_role("button")).to_be_hidden()
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
