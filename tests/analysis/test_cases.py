"""Every case says rightly whether a name is mentioned."""

from __future__ import annotations

import pytest

from tests.analysis.examples import OURS, SHARED, hits_of, load


def label(case):
    return f"{case['kind']}: {case['name']} in {case['text'][:40]}"


@pytest.mark.parametrize("case", load(OURS), ids=label)
def test_in_a_case_of_ours_the_right_words_are_found(case):
    words = [hit.words for hit in hits_of(case)]

    assert words == case.get("words", []), case["note"]
    assert bool(words) is case["mentioned"]


@pytest.mark.skipif(not SHARED.exists(), reason="../shared/cases is not there")
def test_all_shared_cases_are_right():
    cases = load(SHARED)

    wrong = [label(case) for case in cases if bool(hits_of(case)) is not case["mentioned"]]

    assert wrong == []
    assert len(cases) >= 35


def test_our_cases_say_yes_and_no_of_many_kinds():
    kinds: dict[str, set[bool]] = {}
    for case in load(OURS):
        kinds.setdefault(case["kind"], set()).add(case["mentioned"])

    both = [kind for kind, answers in kinds.items() if answers == {True, False}]
    assert len(both) >= 15
