"""Questions to start from."""

from __future__ import annotations

import pytest

from capture import starters
from capture.forms.check import check_prompt


@pytest.mark.parametrize("category", starters.CATEGORIES)
def test_each_category_has_questions_that_name_the_thing_once_or_more_and_can_be_asked(category):
    questions = starters.questions(category, "blue  things")

    assert len(set(questions)) == len(questions) >= 4
    for question in questions:
        assert "blue things" in question
        assert "{" not in question
        check_prompt(question)


@pytest.mark.parametrize(
    ("category", "thing"), [("nonsense", "things"), ("", "things"), ("product", ""), ("product", " ")]
)
def test_without_a_category_or_a_thing_there_are_none(category, thing):
    assert starters.questions(category, thing) == []
