"""What is seen of a database that is away, and of a form that is too old."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser import axe
from tests.browser.site import Site
from tests.browser.test_looks import photograph


@pytest.fixture
def site_without_database(tmp_path):
    site = Site(tmp_path / "log", DATABASE_URL="postgres://nobody@127.0.0.1:1/nothing")
    try:
        site.start()
        yield site
    finally:
        site.stop()


def test_a_database_that_is_away_is_said_so_in_the_same_look(visitor, user, site_without_database):
    for scheme in ("light", "dark"):
        visit = visitor(user, at=site_without_database, scheme=scheme)
        visit.complaints.forgive("status of 503")

        page = visit.go("/")

        expect(page.get_by_role("heading", name="Not available at the moment")).to_be_visible()
        photograph(page, f"not-available-{scheme}-1280")
        assert axe.violations(page) == []


def test_a_form_that_is_too_old_is_said_so(visit):
    page = visit.go("/password/")
    visit.context.clear_cookies(name="csrftoken")
    visit.complaints.forgive("status of 403")

    page.get_by_role("button", name="Log out").click()

    expect(page.get_by_role("heading", name="Please send it again")).to_be_visible()
    photograph(page, "too-old-light-1280")
    assert axe.violations(page) == []
