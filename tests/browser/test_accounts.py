"""Accounts as people use them: log in and out, forget and change a password, be invited."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from playwright.sync_api import expect

from capture.models import Team
from tests.factories import make_user

GOOD = "quite a long sentence"


@pytest.fixture
def ada(transactional_db):
    return make_user("ada", email="ada@mail.example")


def log_in(page, name, password):
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()


def choose_password(page, password):
    page.get_by_label("New password", exact=True).fill(password)
    page.get_by_label("New password confirmation").fill(password)
    page.get_by_role("button", name="Set the password").click()


def link_in(mail):
    (link,) = re.findall(r"http\S+", mail.get_content())
    return link


@pytest.mark.parametrize("javascript", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_a_stranger_logs_in_lands_where_they_wanted_to_go_and_logs_out(visitor, ada, javascript):
    page = visitor(javascript=javascript).go("/password/")
    assert page.url.endswith("/login/?next=/password/")

    log_in(page, "ada", "wrong")
    expect(page.get_by_role("alert")).to_contain_text("Please enter a correct username and password.")
    expect(page.get_by_label("Username")).to_have_value("ada")
    log_in(page, "ada", "secret")

    expect(page.get_by_role("heading", name="Change your password")).to_be_visible()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


def test_somebody_whose_session_has_lapsed_logs_in_and_is_back_at_the_page(visitor, ada):
    page = visitor(ada).go("/")
    Session.objects.all().delete()

    page.get_by_role("link", name="Password").click()
    log_in(page, "ada", "secret")

    expect(page.get_by_role("heading", name="Change your password")).to_be_visible()


def test_a_forgotten_password_is_set_anew_by_a_link_that_works_once(visitor, site, ada):
    page = visitor().go("/login/")
    page.get_by_role("link", name="Forgot your password?").click()
    page.get_by_label("Email").fill("Ada@mail.example")
    page.get_by_role("button", name="Mail me a link").click()
    expect(page.get_by_role("heading", name="Look into your mail")).to_be_visible()
    mail = site.last_mail()
    assert mail["To"] == "ada@mail.example"

    page.goto(link_in(mail))
    choose_password(page, "12345")
    expect(page.locator(".error").last).to_contain_text("too short")
    choose_password(page, GOOD)

    expect(page.get_by_role("status")).to_have_text("Your password is set, and you are logged in.")
    page.goto(link_in(mail))
    expect(page.get_by_role("heading", name="This link works no more")).to_be_visible()


def test_a_password_is_changed_and_other_places_are_logged_out(visitor, ada):
    other = visitor(ada)
    page = visitor(ada).go("/password/")

    page.get_by_label("Old password").fill("secret")
    page.get_by_label("New password", exact=True).fill(GOOD)
    page.get_by_label("New password confirmation").fill(GOOD)
    page.get_by_role("button", name="Change the password").click()

    expect(page.get_by_role("status")).to_have_text("Your password is changed.")
    assert other.go("/").url.endswith("/login/?next=/")


def test_somebody_who_is_invited_chooses_a_password_and_begins(visitor, site, transactional_db):
    boss = make_user("boss", is_staff=True, is_superuser=True)
    page = visitor(boss).go("/")
    page.get_by_role("link", name="Admin").click()
    page.get_by_role("link", name="Users", exact=True).first.click()
    page.get_by_role("link", name="Invite somebody").click()
    page.get_by_label("Mail address").fill("New@mail.example")
    page.get_by_label("Name of the new team").fill("Marketing")
    page.get_by_role("button", name="Send the invitation").click()
    expect(page.get_by_text("An invitation went to new@mail.example.")).to_be_visible()

    page = visitor().page
    page.goto(link_in(site.last_mail()))
    expect(page.get_by_text("Your username is new@mail.example.")).to_be_visible()
    choose_password(page, GOOD)
    expect(page.get_by_role("heading", name="No check yet")).to_be_visible()
    page.get_by_role("button", name="Log out").click()
    log_in(page, "new@mail.example", GOOD)

    expect(page.get_by_role("heading", name="No check yet")).to_be_visible()
    assert Team.objects.of(User.objects.get(email="new@mail.example")).name == "Marketing"
