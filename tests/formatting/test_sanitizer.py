"""The last door: HTML that no formatter of ours would make does no harm either."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capture.formatting.sanitizer import safe
from tests.formatting.conftest import ATTRIBUTES, HARMLESS, Page

ATTACKS = [
    '<img src="https://evil.example/p.png">',
    "<script>alert(1)</script>",
    "<style>p{}</style>",
    '<p style="background:url(https://evil.example)">x</p>',
    '<p onclick="alert(1)">x</p>',
    '<a href="javascript:alert(1)">x</a>',
    '<a href="/logout/">x</a>',
    '<a href="//evil.example/">x</a>',
    '<a href="mailto:a@evil.example">x</a>',
    '<a href="https://a.example" ping="https://evil.example" target="main">x</a>',
    '<p id="main" class="banner">x</p>',
    '<svg><use href="https://evil.example#x"></svg>',
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>",
    '<form action="https://evil.example"><input autofocus onfocus=alert(1)></form>',
    '<object data="https://evil.example"></object><embed src="x"><link rel=stylesheet href=x><base href=x><meta>',
    '<div dir="rtl" role="alert" tabindex="5" hx-get="/x" data-hx-get="/x">x</div>',
]


@pytest.mark.parametrize("html", ATTACKS)
def test_nothing_comes_through_that_is_not_on_the_list(html):
    page = Page(safe(html))

    assert {tag for tag, _ in page.tags} <= HARMLESS
    assert {name for _, attributes in page.tags for name in attributes} <= ATTRIBUTES
    assert all("evil" not in str(value) for _, attributes in page.tags for value in attributes.values())
    assert not {"alert", "banner", "5", "rtl", "main"} & {
        value for _, attributes in page.tags for value in attributes.values()
    }


def test_a_link_that_leads_nowhere_good_keeps_its_words():
    assert safe('<a href="javascript:alert(1)">words</a>') == '<a rel="nofollow noopener noreferrer">words</a>'


@settings(deadline=None)
@given(st.lists(st.sampled_from([*ATTACKS, "<", ">", "</p>", "<table>", "<!--", '"', "'", "x", "\x00"])).map("".join))
def test_any_html_is_cleaned(html):
    page = Page(safe(html))

    assert {tag for tag, _ in page.tags} <= HARMLESS
    assert {name for _, attributes in page.tags for name in attributes} <= ATTRIBUTES
