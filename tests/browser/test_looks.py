"""Each page of ours, light and dark, wide and narrow: without barriers, and without anything that sticks out.

With PICTURES=folder in the environment, each is photographed as well, for people to look at.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser import axe
from tests.browser.conftest import HEIGHT, NARROW, WIDE
from tests.browser.pages import PAGES, Scene, SomePage
from tests.factories import make_user


def open_page(some: SomePage, visitor, user, scheme):
    """A visit that stands at the page."""
    scene = Scene.make(user)
    viewer = None if some.stranger else make_user() if some.empty else user
    visit = visitor(viewer, scheme=scheme)
    visit.complaints.forgive(f"status of {some.status}")
    visit.go(some.path(scene))
    if some.press:
        visit.page.get_by_role("button", name=some.press, exact=True).click()
    return visit


def photograph(page: Page, name: str) -> None:
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def sticks_out(page: Page) -> bool:
    """Whether the page is wider than the window."""
    return bool(page.evaluate("() => document.documentElement.scrollWidth > window.innerWidth"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("some", PAGES, ids=[page.name for page in PAGES])
def test_a_page_has_no_barrier_and_fits(visitor, user, some, scheme):
    page = open_page(some, visitor, user, scheme).page

    for width in (WIDE, NARROW):
        page.set_viewport_size({"width": width, "height": HEIGHT})
        photograph(page, f"{some.name}-{scheme}-{width}")
        assert axe.violations(page) == []
        assert not sticks_out(page)
