"""Starting a check in the browser."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, expect

from capture.models import Check
from capture.reports import check_url
from tests.browser.visits import Visit
from tests.factories import make_check, make_user

CHECK_PAGE = re.compile(r"/checks/[0-9a-f-]{36}/$")
NEW = "/checks/new/"


def fill_in(page: Page, *, prompts: str = "Which espresso machine is best?\nWhich is cheapest?") -> None:
    page.get_by_label("Brand").fill("Northwind")
    page.get_by_label("Competitors").fill("Contoso")
    page.get_by_label("Questions", exact=True).fill(prompts)


def check_button(page: Page):
    return page.get_by_role("button", name="Check", exact=True)


def make_old(check: Check) -> None:
    """It was started a while ago."""
    Check.objects.filter(pk=check.pk).update(created_at=check.created_at - timedelta(minutes=5))


def test_the_sum_is_worked_out_while_one_types(visit):
    page = visit.go(NEW)
    total = page.locator("#sum")
    expect(total).to_contain_text("0 questions × 5 AI systems × 1 sample = 0 jobs")

    fill_in(page)
    expect(total).to_contain_text("2 questions × 5 AI systems × 1 sample = 10 jobs")
    expect(page.locator("#count-prompts")).to_have_text("2 of at most 100")

    page.get_by_label("Samples").fill("3")
    expect(total).to_contain_text("= 22 jobs (one sample of Copilot, Google AI)")

    page.get_by_label("Gemini").uncheck()
    expect(total).to_contain_text("2 questions × 4 AI systems × 3 samples = 16 jobs")
    assert not Check.objects.exists()


def test_typing_goes_on_undisturbed_while_the_sum_comes(visit):
    page = visit.go(NEW)
    field = page.get_by_label("Questions", exact=True)

    with page.expect_response("**/checks/new/draft/"):
        field.press_sequentially("Which is best?")
    field.press_sequentially(" And why?")

    expect(field).to_be_focused()
    expect(field).to_have_value("Which is best? And why?")


def test_a_double_click_makes_one_check(visit):
    page = visit.go(NEW)
    fill_in(page)

    check_button(page).dblclick()

    page.wait_for_url(CHECK_PAGE)
    assert Check.objects.count() == 1


def test_back_edit_check_makes_a_new_check_and_back_check_asks_first(visit, user):
    page = visit.go(NEW)
    fill_in(page)
    check_button(page).click()
    page.wait_for_url(CHECK_PAGE)
    first = Check.objects.get()
    make_old(first)

    page.go_back()
    expect(page.get_by_label("Brand")).to_have_value("Northwind")
    check_button(page).click()
    expect(page.get_by_role("heading", name="You have asked this already")).to_be_visible()
    assert Check.objects.count() == 1
    page.get_by_role("link", name="Show the check").click()
    assert page.url.endswith(check_url(first))

    page.go_back()
    page.get_by_role("button", name="Run it again").click()
    page.wait_for_url(CHECK_PAGE)
    assert not page.url.endswith(check_url(first))

    page.go_back()
    page.go_back()
    page.get_by_label("Questions", exact=True).fill("Something else?")
    check_button(page).click()
    page.wait_for_url(CHECK_PAGE)
    assert Check.objects.count() == 3


def test_an_earlier_brand_brings_its_competitors_and_questions(visit, user):
    make_check(user, competitors=("Contoso", "Fabrikam"), prompts=("Old one?", "Old two?"))
    page = visit.go(NEW)
    page.get_by_label("Questions", exact=True).fill("Mine?")

    page.get_by_role("button", name="Northwind").click()
    expect(page.get_by_label("Competitors")).to_have_value("Contoso\nFabrikam")
    expect(page.get_by_role("button", name="Northwind")).to_be_focused()

    page.get_by_text("2 questions asked before about Northwind").click()
    page.get_by_label("Old two?").check()
    page.get_by_role("button", name="Add the chosen ones").click()

    expect(page.get_by_label("Questions", exact=True)).to_have_value("Mine?\nOld two?")
    expect(page.locator("#sum")).to_contain_text("2 questions")
    expect(page.get_by_text("1 question asked before about Northwind")).to_be_visible()


def test_a_brand_that_is_typed_offers_its_earlier_questions(visit, user):
    make_check(user, prompts=("Old one?",))
    page = visit.go(NEW)

    page.get_by_label("Brand").fill("northwind")
    page.get_by_label("Brand").blur()

    expect(page.get_by_text("1 question asked before about northwind")).to_be_visible()


def test_questions_to_start_from_come_into_the_form(visit):
    page = visit.go(NEW)

    page.get_by_text("Questions to start from").click()
    page.get_by_label("What is it?").select_option("Software")
    page.get_by_role("button", name="Add the questions").click()
    expect(page.get_by_role("alert")).to_contain_text("Say first what it is")
    page.get_by_label("As people call several of it").fill("CRM systems")
    page.get_by_role("button", name="Add the questions").click()

    expect(page.get_by_label("Questions", exact=True)).to_have_value(re.compile("Which CRM systems are easiest to use"))


def test_errors_stand_beside_their_fields_and_nothing_is_lost(visit):
    page = visit.go(NEW)
    fill_in(page)
    page.get_by_label("Brand").fill("123")
    page.get_by_label("Country").select_option("Germany")

    check_button(page).click()

    expect(page.get_by_label("Brand")).to_have_accessible_description(
        "“123” has no letters; a name needs at least one."
    )
    expect(page.get_by_label("Questions", exact=True)).to_have_value(re.compile("cheapest"))
    expect(page.get_by_label("Country")).to_have_value("DE")


def test_a_session_that_ends_while_one_types_costs_nothing_of_it(visitor, site, user):
    visit: Visit = visitor(user)
    visit.complaints.forgive("401")
    visit.complaints.forgive("403")
    page = visit.go(NEW)
    fill_in(page)
    expect(page.locator("#sum")).to_contain_text("10 jobs")
    Session.objects.all().delete()

    page.get_by_label("Samples").fill("2")
    expect(page.get_by_text("Your session has ended. What you have typed stays here.")).to_be_visible()
    check_button(page).click()
    expect(page.get_by_role("alert")).to_contain_text("Your session has ended, and nothing was asked yet.")

    visit.log_in(user)
    check_button(page).click()
    page.wait_for_url(CHECK_PAGE)
    check = Check.objects.get()
    assert (check.samples, check.prompts.count(), check.names["brand"]["name"]) == (2, 2, "Northwind")


@pytest.mark.parametrize("javascript", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_enter_in_the_first_field_presses_check_and_no_other_button(visitor, user, javascript):
    make_check(user, brand="Earlier")
    page = visitor(user, javascript=javascript).go(NEW)
    fill_in(page)

    page.get_by_label("Brand").press("Enter")

    page.wait_for_url(CHECK_PAGE)
    assert Check.objects.latest("pk").names["brand"]["name"] == "Northwind"


@pytest.mark.parametrize("javascript", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_enter_in_the_field_of_a_starter_adds_its_questions(visitor, user, javascript):
    page = visitor(user, javascript=javascript).go(NEW)
    fill_in(page, prompts="Mine?")
    page.get_by_text("Questions to start from").click()
    page.get_by_label("As people call several of it").fill("espresso machines")

    page.get_by_label("As people call several of it").press("Enter")

    expect(page.get_by_label("Questions", exact=True)).to_have_value(re.compile(r"Mine\?\nWhich espresso machines"))
    expect(page.get_by_label("As people call several of it")).to_have_value("")
    assert not Check.objects.exists()


def test_enter_in_the_empty_field_of_a_starter_asks_what_it_is(visit):
    page = visit.go(NEW)
    fill_in(page)
    page.get_by_text("Questions to start from").click()

    page.get_by_label("As people call several of it").press("Enter")

    expect(page.get_by_role("alert")).to_contain_text("Say first what it is")
    assert not Check.objects.exists()


def test_going_back_works_the_sum_out_anew(visit):
    page = visit.go(NEW)
    fill_in(page)
    expect(page.locator("#sum")).to_contain_text("= 10 jobs")
    check_button(page).click()
    page.wait_for_url(CHECK_PAGE)

    page.go_back()

    expect(page.locator("#sum")).to_contain_text("= 10 jobs")
    expect(page.get_by_text("1 question asked before", exact=False)).to_have_count(0)


def test_dragging_at_a_field_writes_no_style_into_the_page(visit, user):
    make_check(user, brand="Earlier")
    page = visit.go(NEW)
    field = page.get_by_label("Questions", exact=True)
    box = field.bounding_box()
    assert box

    page.mouse.move(box["x"] + box["width"] - 4, box["y"] + box["height"] - 4)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 4, box["y"] + box["height"] + 80)
    page.mouse.up()
    page.get_by_role("button", name="Earlier").click()

    expect(page.get_by_label("Brand")).to_have_value("Earlier")
    assert field.get_attribute("style") is None


def test_what_is_put_right_is_not_called_wrong_any_more(visit):
    page = visit.go(NEW)
    fill_in(page, prompts="")
    page.get_by_label("Brand").fill("123")
    check_button(page).click()
    marked = page.get_by_text("Please look at what is marked below.")
    expect(marked).to_be_visible()
    expect(page.get_by_label("Brand")).to_be_focused()

    page.get_by_label("Brand").fill("Northwind")
    expect(page.get_by_text("has no letters")).to_have_count(0)
    expect(marked).to_be_visible()
    page.get_by_label("Questions", exact=True).fill("Which is best?")

    expect(marked).to_have_count(0)


def test_by_keyboard_only(visit):
    page = visit.go(NEW)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # skips the navigation

    for words in ("Northwind", "Contoso", "Which is best?"):
        page.keyboard.press("Tab")
        page.keyboard.type(words)
    for _ in range(2):  # past the questions to start from, to ChatGPT
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.get_by_label("ChatGPT")).not_to_be_checked()
    for _ in range(5):
        page.keyboard.press("Tab")
    page.keyboard.type("2")  # in place of what stands there, which Tab has selected
    for _ in range(3):
        page.keyboard.press("Tab")
    expect(check_button(page)).to_be_focused()
    page.keyboard.press("Enter")

    page.wait_for_url(CHECK_PAGE)
    check = Check.objects.get()
    assert check.providers == ["perplexity", "copilot", "gemini", "google_ai"]
    assert check.samples == 2


def test_without_javascript(visitor, user):
    make_check(user, brand="Earlier", competitors=("Fabrikam",), prompts=("Old one?",))
    page = visitor(user, javascript=False).go(NEW)
    fill_in(page)

    page.get_by_role("button", name="Earlier").click()
    expect(page.get_by_label("Competitors")).to_have_value("Contoso\nFabrikam")
    page.get_by_text("1 question asked before about Earlier").click()
    page.get_by_label("Old one?").check()
    page.get_by_role("button", name="Add the chosen ones").click()
    expect(page.get_by_label("Questions", exact=True)).to_have_value(re.compile("cheapest\\?\nOld one\\?"))
    page.get_by_role("button", name="Work this out").click()
    expect(page.locator("#sum")).to_contain_text("3 questions × 5 AI systems × 1 sample = 15 jobs")
    check_button(page).click()

    page.wait_for_url(CHECK_PAGE)
    expect(page.get_by_role("heading", name="Earlier")).to_be_visible()


def test_two_users_see_neither_each_others_checks_nor_their_brands(visitor, user):
    check = make_check(user, brand="Secret")
    other: Visit = visitor(make_user())
    other.complaints.forgive("status of 404")

    page = other.go(check_url(check))
    expect(page.get_by_text("Secret")).to_have_count(0)
    page = other.go(NEW)

    expect(page.get_by_text("Secret")).to_have_count(0)
    expect(page.get_by_text("Asked about before")).to_have_count(0)
