"""The text of a page is put together from its blocks, and what is no text of the answer is left out."""

from __future__ import annotations

from typing import Any

import pytest

from capture.providers.serpapi_blocks import Composition
from capture.providers.serpapi_markdown import plain


def composed(*blocks, footnotes=False, references=12, **more):
    page = {"text_blocks": list(blocks), "references": [{}] * references, **more}
    return Composition(page, footnotes=footnotes)


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ({"type": "paragraph", "snippet": "Acme."}, "Acme."),
        ({"type": "heading", "snippet": "Acme", "level": 3}, "Acme"),
        ({"snippet": "Acme"}, "Acme"),
        ({"type": "list", "list": [{"snippet": "a"}, {"snippet": "b"}]}, "a\nb"),
        ({"type": "list", "list": ["a", 7, None, {"snippet": "b", "list": [{"snippet": "c"}]}]}, "a\nb\nc"),
        ({"type": "list", "list": [{"title": "Acme:", "snippet": "good"}]}, "Acme: good"),
        ({"type": "list", "list": [{"title": "Acme:", "snippet": "Acme: good"}]}, "Acme: good"),
        ({"type": "list", "snippet": "These:", "list": [{"snippet": "a"}]}, "These:\na"),
        ({"type": "table", "table": [["a", "b"], ["c", {"snippet": "d"}, 7]]}, "a | b\nc | d | "),
        ({"type": "table", "headers": ["a", "b"], "table": [["c", "d"], 7, []]}, "a | b\nc | d"),
        ({"type": "expandable", "title": "More", "text_blocks": [{"type": "paragraph", "snippet": "a"}]}, "More\na"),
        (
            {
                "type": "comparison",
                "product_labels": ["X", "Y"],
                "comparison": [{"feature": "Price", "values": ["1", "2"]}],
            },
            " | X | Y\nPrice | 1 | 2",
        ),
        ({"type": "code_block", "language": "python", "code": "a\n  b"}, "a\n  b"),
        ({"type": "code", "snippet": "a"}, "a"),
        ({"type": "top_stories", "snippet": "News", "list": [{"snippet": "a"}]}, ""),
        ({"type": "something_new", "snippet": "a"}, ""),
        ({"type": "paragraph", "snippet": "  "}, ""),
        ({"type": "paragraph"}, ""),
        ({"type": "list", "list": 7, "table": "x", "text_blocks": {}}, ""),
    ],
)
def test_a_block_becomes_lines(block, text):
    assert composed(block).text == text


def test_the_leading_sentence_comes_first():
    assert composed({"type": "paragraph", "snippet": "b"}, header="a").text == "a\nb"


@pytest.mark.parametrize(
    ("snippet", "left"),
    [
        ("Smoother mixing 1 .", "Smoother mixing ."),
        ("Smoother mixing 12", "Smoother mixing"),
        ("मदद मिलती है 2 ।", "मदद मिलती है ।"),
        ("Costs 1 or 2 .", "Costs 1 or ."),
        ("The PlayStation 5.", "The PlayStation 5."),
        ("Founded in 1998 .", "Founded in 1998 ."),
        ("Windows 98", "Windows 98"),
        ("Ranked 0 .", "Ranked 0 ."),
        ("Intake HealthKart .", "Intake HealthKart ."),
        ("7", "7"),
    ],
)
def test_marks_of_footnotes_are_taken_out_and_other_numbers_are_not(snippet, left):
    marked = {"type": "paragraph", "snippet": snippet, "reference_indexes": [0]}

    assert composed(marked, footnotes=True).text == left
    assert composed(marked, footnotes=False).text == snippet
    assert composed(marked | {"reference_indexes": []}, footnotes=True).text == snippet


def test_marks_hold_the_text_of_their_block_or_item():
    composition = composed(
        {"type": "paragraph", "snippet": "👟 Intro.", "reference_indexes": [0]},
        {
            "type": "list",
            "list": [{"snippet": "Ж a", "reference_indexes": [1]}, {"snippet": "b"}],
            "reference_indexes": [2, True, "1", -1],
        },
        {"type": "table", "table": [["c", "d"]], "detailed": [[{"snippet": "c"}, {"reference_indexes": [3]}]]},
        {"type": "list", "list": [], "reference_indexes": [4]},
    )

    text = composition.text
    assert {index: [text[slice(*span)] for span in spans] for index, spans in composition.marks.items()} == {
        0: ["👟 Intro."],
        1: ["Ж a"],
        2: ["Ж a\nb"],
        -1: ["Ж a\nb"],
        3: ["c | d"],
    }


def test_blocks_that_nest_without_end_are_cut_off():
    block: dict[str, Any] = {"snippet": "deepest"}
    for _ in range(300):
        block = {"type": "list", "snippet": "x", "list": [block]}

    assert composed(block).text.count("x") == 13


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("", ""),
        ("Plain.", "Plain."),
        ("### References\n\n[0] x", ""),
        ("A. [0] [1]\nB [2].\n### References\n[0] x", "A.\nB [2]."),
        ("\\(1kg\\) \\- \\| a\\\\b \\n", "(1kg) - | a\\b \\n"),
        ("See [Acme](https://www.google.com/goto?url=CAES) now.", "See Acme now."),
        ("See [Acme](https://acme.example/) now.", "See [Acme](https://acme.example/) now."),
    ],
)
def test_markdown_becomes_plain_text(markdown, text):
    assert plain(markdown) == text


def test_long_markdown_is_read_in_no_time():
    assert plain("[" * 50_000 + "](https://google.com/" * 1_000)
