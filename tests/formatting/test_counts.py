"""Numbers with what they count."""

from __future__ import annotations

import pytest

from capture.formatting.counts import counted


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 checks"), (1, "1 check"), (2, "2 checks"), (21, "21 checks"), (1_200, "1,200 checks")]
)
def test_only_one_is_one(number, words):
    assert counted(number, "check") == words


@pytest.mark.parametrize(("number", "words"), [(1, "1 question is out"), (3, "3 questions are out")])
def test_what_is_said_of_them_agrees(number, words):
    assert counted(number, "question is out", "questions are out") == words
