"""Names marked in an answer, wherever its Markdown has them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capture.analysis.mentions import Entity, find_mentions
from capture.formatting import Citation, Name, shown, with_references
from tests.formatting.conftest import Page, assert_harmless

ENTITIES = (Entity("brand", "Northwind"), Entity("competitor:0", "Contoso", ("Contoso Labs",)))


def html_of(text: str, citations: tuple[Citation, ...] = (), *, marked: bool = True) -> str:
    names = [Name(hit.start, hit.end, hit.key == "brand") for hit in find_mentions(text, ENTITIES)]
    return str(shown(with_references(text, citations, names if marked else ()), {}).html)


def marks_of(html: str) -> list[tuple[str, str]]:
    return re.findall(r'<mark class="(own|rival)">(.*?)</mark>', html)


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("Northwind, then Contoso Labs.", [("own", "Northwind"), ("rival", "Contoso Labs")]),
        ("**Northwind** and _Contoso_", [("own", "Northwind"), ("rival", "Contoso")]),
        ("# Northwind\n\n- Contoso", [("own", "Northwind"), ("rival", "Contoso")]),
        ("| Northwind | Contoso |\n|---|---|\n| a | b |", [("own", "Northwind"), ("rival", "Contoso")]),
        ("[Northwind](https://shop.example/Contoso)", [("own", "Northwind")]),
        ("North**wind** leads", [("own", "North"), ("own", "wind")]),
        ("Contoso\nLabs", [("rival", "Contoso"), ("rival", "Labs")]),
        ("Nobody.", []),
    ],
)
def test_names_are_marked_where_they_are_seen(text, marks):
    html = html_of(text)

    assert marks_of(html) == marks
    assert_harmless(html)


def test_a_link_keeps_its_address():
    html = html_of("[Northwind](https://northwind.example/Northwind)")

    assert Page(html).of("a")[0]["href"] == "https://northwind.example/Northwind"


def test_a_reference_right_after_a_name_stays():
    text = "Contoso leads"
    marked = with_references(text, [Citation(1, [(0, 7)])], [Name(0, 7, own=False)])

    assert "[1]" not in marks_of(str(shown(marked, {}).html))[0][1]
    assert with_references(text, [Citation(1, [(0, 7)])]) in re.sub("[\ufdd2-\ufdd4]", "", marked)


def test_a_mark_that_a_system_sends_is_none():
    html = html_of("\ufdd2forged\ufdd4 Northwind")

    assert marks_of(html) == [("own", "Northwind")]


def test_a_name_at_which_the_formatted_part_ends_leaves_no_sign_behind():
    text = "x" * 29_998 + " Northwind " + "y" * 100

    result = shown(with_references(text, (), [Name(29_999, 30_008, own=True)]), {})

    assert not re.search("[\ufdd0-\ufdd4]", result.html + result.rest)


PIECES = [
    *("Northwind", "Contoso", "Labs", "x", " ", "\n", "\n\n", "**", "_", "*", "`", "~~", "[", "](https://a.example/)"),
    *("| ", "# ", "- ", "> ", "1. ", "&amp;", "<br>", "\\", "<", ">", "!"),
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_marks_change_nothing_that_is_read(text):
    html = html_of(text)

    assert Page(html).text == Page(html_of(text, marked=False)).text
    assert_harmless(html)
