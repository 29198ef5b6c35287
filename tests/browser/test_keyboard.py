"""Everything that can be pressed is reached by Tab, one sees where one is, and Enter and Space press it."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.pages import PAGES
from tests.browser.test_looks import open_page

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


@pytest.mark.parametrize("some", PAGES, ids=[page.name for page in PAGES])
def test_tab_goes_everywhere_and_is_seen(visitor, user, some):
    page = open_page(some, visitor, user, "light").page

    stops = []
    for _ in range(MOST):
        page.keyboard.press("Tab")
        if (stop := page.evaluate(STOP)) is None:
            break
        stops.append(stop)

    assert [stop["html"] for stop in stops if stop["html"] and not stop["seen"]] == []
    assert page.evaluate(NOT_REACHED) == []


def test_the_first_stop_skips_the_navigation(visit):
    page = visit.go("/")

    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")

    expect(page.locator("main").get_by_role("link", name="New check")).to_be_focused()
