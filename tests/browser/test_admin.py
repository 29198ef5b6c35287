"""Django's admin in the browser: it works under the policy, and nothing leaves the site."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.db.models import Model
from django.urls import reverse
from playwright.sync_api import Page, expect

from capture.models import Brand, CaptureJob, Membership, Team
from tests.browser import axe
from tests.browser.conftest import HEIGHT, NARROW, WIDE
from tests.browser.pages import Scene
from tests.browser.test_looks import sticks_out
from tests.browser.visits import Visit
from tests.factories import make_user

MODELS = list(admin.site._registry)

# Django's own widgets in which axe finds barriers that are not ours to mend.
DJANGOS_OWN = (
    "#changelist-filter",  # links of 20 px
    "#searchbar",  # its label is a picture with a name
    ".breadcrumbs",  # links without a line under them
    ".inline-group",  # a table's fields have their label in the column's head only, and some heads are empty
    ".select2-container",  # a box to search in, without a name
    ".selector .help-tooltip",  # a label on what may have none
    ".vDateField, .vTimeField",  # the two halves of a time share one label
)


def address(model: type[Model], page: str, *arguments: object) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=arguments)


@pytest.fixture
def boss(transactional_db):
    return make_user("boss", is_staff=True, is_superuser=True)


@pytest.fixture
def visit(visitor, boss):
    Scene.make(boss)
    return visitor(boss)


def ours(page: Page, *, only: tuple[str, ...] = ()) -> list[str]:
    return axe.violations(page, without=DJANGOS_OWN, only=only)


def test_lists_keep_to_the_policy(visit):
    assert _wrong(visit, [address(model, "changelist") for model in MODELS]) == {}


def test_forms_keep_to_the_policy_in_the_dark(visit):
    rows = {model: row for model in MODELS if (row := model._base_manager.first())}
    assert len(rows) > len(MODELS) / 2
    _darken(visit)
    assert _wrong(visit, [address(model, "change", row.pk) for model, row in rows.items()]) == {}


def test_forms_of_what_is_added_keep_to_the_policy_in_the_dark(visit):
    page = _darken(visit)
    paths = page.locator(".addlink").evaluate_all("links => links.map(link => link.pathname)")
    assert address(Brand, "add") in paths
    assert _wrong(visit, paths) == {}


def _darken(visit: Visit) -> Page:
    """Choose Django's dark theme, which the browser then keeps for all pages."""
    page = visit.go(reverse("admin:index"))
    page.get_by_role("button", name="Toggle theme").first.click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    return page


def _wrong(visit: Visit, paths: list[str]) -> dict[str, list[str]]:
    """What is wrong with pages, by their paths. One visit sees them all; what breaks the policy, it says at its end."""
    return {path: found for path in paths if (found := ours(page := visit.go(path)) + _too_narrow(page))}


def _too_narrow(page: Page) -> list[str]:
    """The widths of windows that a page sticks out of; it is left as wide as it was."""
    stuck_out = []
    for width in (NARROW, 360, 800, WIDE):
        page.set_viewport_size({"width": width, "height": HEIGHT})
        stuck_out += [f"sticks out of {width} px"] if sticks_out(page) else []
    return stuck_out


def test_a_time_is_picked_by_calendar_and_clock(visit):
    brand = Brand.objects.create(team=Team.objects.get(), name="Wide World")
    page = visit.go(address(Brand, "change", brand.pk))

    page.locator(".field-archived_at .date-icon").first.click()
    page.locator(".calendarbox .calendar td a").first.click()
    page.locator(".field-archived_at .clock-icon").first.click()
    page.get_by_role("link", name="Noon").first.click()
    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.locator(".messagelist .success")).to_be_visible()
    brand.refresh_from_db()
    assert brand.archived_at
    assert brand.archived_at.hour == 12


def test_a_row_is_found_by_typing_and_another_made_in_a_popup(visit):
    make_user("grace")
    page = visit.go(address(Membership, "add"))

    page.locator(".field-user .select2-selection").click()
    page.locator(".select2-search__field").fill("gra")
    page.locator(".select2-results__option", has_text="grace").click()
    with page.expect_popup() as opened:
        page.locator("#add_id_team").click()
    opened.value.locator("#id_name").fill("Research")
    opened.value.get_by_role("button", name="Save").click()
    expect(page.locator(".field-team .select2-selection")).to_contain_text("Research")
    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.locator(".messagelist .success")).to_be_visible()
    assert Membership.objects.filter(user__username="grace", team__name="Research").exists()


def test_rows_are_chosen_filtered_acted_on_and_deleted(visit):
    page = visit.go(address(CaptureJob, "changelist") + "?status__exact=running")
    page.locator("#action-toggle").click()
    page.locator("select[name=action]").select_option("cancel")
    page.get_by_role("button", name="Go").click()
    expect(page.locator(".messagelist .warning")).to_contain_text("With none of them anything would be done:")

    team = Team.objects.create(name="Nobody's")
    page.goto(visit.site + address(Team, "delete", team.pk))
    page.get_by_role("button", name="Yes, I’m sure").click()

    expect(page.locator(".messagelist .success")).to_be_visible()
    assert not Team.objects.filter(pk=team.pk).exists()


def test_the_time_zone_of_a_team_is_one_that_there_is(visit):
    team = Team.objects.get()
    page = visit.go(address(Team, "change", team.pk))

    page.get_by_label("Time zone").select_option("Europe/Berlin")
    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.locator(".messagelist .success")).to_be_visible()
    assert visit.go("/").locator("time").first.inner_text().endswith(("CET", "CEST"))


@pytest.mark.parametrize("path", ["/admin/", "/admin/password_change/", "/admin/auth/user/invite/", "/admin/login/"])
def test_other_pages_keep_to_the_policy(visit, path):
    page = visit.go(path)

    assert ours(page) == []
