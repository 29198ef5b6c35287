"""What watches the pages sees what it should, so that its silence means something."""

from __future__ import annotations

import pytest

from tests.browser import axe
from tests.process.running import until


def test_a_visit_without_a_fault_has_no_complaint(visit):
    visit.go("/")

    assert visit.complaints.left() == []


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("console.error('broken')", "console: broken"),
        ("setTimeout(() => { throw new Error('thrown on purpose') })", "thrown: thrown on purpose"),
        ("fetch('http://elsewhere.example/').catch(() => 0)", "Content Security Policy"),
        ("document.body.setAttribute('style', 'color: red')", "Content Security Policy"),
        ("location = 'http://elsewhere.example/'", "left the site: http://elsewhere.example/"),
        ("fetch('/nothing-here/').then(() => 0)", "404"),
    ],
)
def test_a_fault_is_a_complaint(visit, script, words):
    page = visit.go("/")

    page.evaluate(f"() => {{ {script} }}")

    # What the browser tells is read while it is asked for something.
    until(lambda: page.title() and any(words in line for line in visit.complaints.left()))
    visit.complaints.forgive("")


def test_a_user_is_logged_in_and_a_stranger_is_not(visitor, user):
    known, stranger = visitor(user), visitor()

    assert known.go("/").get_by_role("button", name="Log out").is_visible()
    assert stranger.go("/").url.endswith("/login/?next=/")


def test_axe_finds_a_picture_without_a_text(visit):
    page = visit.go("/")
    page.evaluate("() => document.querySelector('main').append(new Image())")

    assert any(line.startswith("image-alt") for line in axe.violations(page))


def test_axe_finds_a_colour_that_is_hardly_seen_in_the_dark(visit):
    page = visit.go("/")
    page.emulate_media(color_scheme="dark")
    assert axe.violations(page, only=axe.COLOURS) == []

    page.evaluate("() => { document.querySelector('h1').style.color = '#333' }")

    assert any(line.startswith("color-contrast") for line in axe.violations(page, only=axe.COLOURS))
