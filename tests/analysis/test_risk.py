"""Names that will be found where nobody is meant."""

from __future__ import annotations

import pytest

from capture.analysis.risk import Risk, risks_of


@pytest.mark.parametrize(
    ("name", "risks"),
    [
        ("Northwind", set()),
        ("Coca-Cola", set()),
        ("Notion", {Risk.WORD}),
        ("Apple", {Risk.WORD}),
        ("LINEAR", {Risk.WORD}),
        ("Target!", {Risk.WORD}),
        ("Gap", {Risk.SHORT, Risk.WORD}),
        ("3M", {Risk.SHORT}),
        ("E.ON", {Risk.SHORT}),
        ("か", {Risk.SHORT}),
        ("小米", set()),
        ("!!!", {Risk.NOTHING_TO_FIND}),
        ("", {Risk.NOTHING_TO_FIND}),
    ],
)
def test_short_names_and_common_words_are_risky(name, risks):
    assert risks_of(name) == risks


def test_a_word_is_one_of_the_languages_that_are_asked_in():
    assert risks_of("Лента", ["ru"]) == {Risk.WORD}
    assert risks_of("Лента", ["en"]) == set()


def test_of_a_language_without_a_list_nothing_is_said():
    assert risks_of("Notion", ["xx"]) == set()
