"""Everything that can be pressed is reached by Tab, one sees where one is, and Enter and Space press it."""

from __future__ import annotations

from itertools import groupby

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import PAGES, Scene, SomePage
from tests.factories import make_user

MOST = 300  # presses of Tab; no page has so many stops

# Marks each stop, and says whether it can be seen to have the focus.
STOP = """async () => {
  const here = document.activeElement;
  if (here === document.body) return {html: ""}; // past the last stop, before the first one
  if (here === window.lastStop) return {html: ""}; // another part of the same field, as of a date
  window.lastStop = here;
  if (here.dataset.reached) return null; // once round
  here.dataset.reached = "yes";
  const seen = () => {
    const {outlineStyle, outlineWidth} = getComputedStyle(here);
    const box = here.getBoundingClientRect();
    const inside = box.right > 0 && box.left < innerWidth && box.bottom > 0 && box.top < innerHeight;
    return outlineStyle !== "none" && parseFloat(outlineWidth) >= 2 && inside;
  };
  // The browser scrolls to what has the focus with its next pictures, not at once.
  for (let picture = 0; picture < 60 && !seen(); picture++) await new Promise(requestAnimationFrame);
  return {html: here.outerHTML.slice(0, 120), seen: seen()};
}"""

# A radio group is one stop.
NOT_REACHED = """() => [...document.querySelectorAll("a[href], button, input, select, textarea, summary")]
  .filter(one => one.checkVisibility({visibilityProperty: true}))
  .filter(one => !one.disabled && one.type !== "hidden" && one.type !== "radio")
  .filter(one => !one.closest("[aria-hidden=true]"))
  .filter(one => !one.dataset.reached).map(one => one.outerHTML.slice(0, 120))"""


@pytest.mark.timeout(300)
def test_tab_goes_everywhere_and_is_seen(visitor, user):
    """Of all pages in one test, since nothing here changes what there is to see."""
    scene = Scene.make(user)
    found: dict[str, list[str]] = {}
    for (stranger, empty, status), pages in groupby(sorted(PAGES, key=_seen_by), key=_seen_by):
        visit = visitor(None if stranger else make_user() if empty else user)
        visit.complaints.forgive(f"status of {status}")
        found |= {some.name: _wrong(some.show(visit, scene)) for some in pages}

    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def _seen_by(some: SomePage) -> tuple[bool, bool, int]:
    return some.stranger, some.empty, some.status


def _wrong(page: Page) -> list[str]:
    """The stops that cannot be seen to have the focus, and what Tab never reaches."""
    stops = []
    for _ in range(MOST):
        page.keyboard.press("Tab")
        if (stop := page.evaluate(STOP)) is None:
            break
        stops.append(stop)
    unseen = [stop["html"] for stop in stops if stop["html"] and not stop["seen"]]
    return [*unseen, *page.evaluate(NOT_REACHED)]


def test_the_first_stop_skips_the_navigation(visit):
    page = visit.go("/")

    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")

    expect(page.locator("main").get_by_role("link", name="New check")).to_be_focused()
