"""Quick ways of reading find what the plain ones find that they stand for."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from capture.analysis.addresses import ADDRESS, candidates
from capture.analysis.flags import ANY_CUE, CLAUSE_ENDS, CUES, Flags
from capture.analysis.folding import BETWEEN, fold_cluster
from capture.analysis.names import Haystack

ADDRESSES = [
    "https://x.example/a_(b)?c=1&d#e",
    "HTTP://x",
    "mailto:",
    "tel:+1",
    "Tel:",
    "a.b@x.example",
    "monday.com",
    "www.a.com:80/x",
    "яндекс.рф",
    "用monday.com管理",
    "https://例え.jp/パス・語",
    "\u212a.\u212a",
    "e.g.",
    "3.5",
    "://",
    "a@",
]
SIGNS = [*" .,:;/@-_+()[]<>&?#*\n\t\u3000\x1f\u200b", "&nbsp;", "](", "\n\n", " \n"]
SAID = [
    "not", "not only", "n't", "don’t", "never", "nicht", "keine", "не", "find", "found it", "results", "recommend",
    "advise against", "avoid", "unaware of", "evitar", "рекомендую", "未找到", "찾을 수 없", "おすすめできません",
]  # fmt: skip
ENDS = [". ", ".", "!", "? ", "…\n", "。", ";", "\n", " but ", " but", " however ", " но "]

anything = st.text(st.characters(), max_size=20)
addressed = st.lists(st.one_of(st.sampled_from(ADDRESSES), st.sampled_from(SIGNS), anything)).map("".join)
clauses = st.lists(st.sampled_from([*SAID, *ENDS, *ENDS, " ", " ", " Acme", " it"])).map("".join)


@given(addressed)
@example("-a.com +b.com\n.c.com\n-d.com")
@example("a.com/x&nbsp; b.com/(x y")
@example("see mailto: or TEL:\nor x:")
def test_addresses_are_those_of_the_pattern_over_the_whole_text(text):
    assert [found.span() for found in candidates(text)] == [found.span() for found in ADDRESS.finditer(text)]


@given(clauses, st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), max_size=20))
def test_flags_are_those_of_every_clause_read_closely(text, steps):
    flags = Flags(text)
    start = 0
    for ahead, length in steps:
        start += ahead
        end = min(start + length, len(text))
        if start < end:
            assert flags.at(start, end) == _read_closely(text.lower(), start, end)


def _read_closely(text, start, end):
    ends = [found.start() for found in CLAUSE_ENDS.finditer(text)]
    places = list(pairwise((0, *ends, len(text))))
    touched = places[bisect_right(ends, start) : bisect_right(ends, end - 1) + 1]
    with_cue = [clause for clause in touched if ANY_CUE.search(text, *clause)]
    return {flag for flag, cue in CUES.items() if any(cue.search(text, *clause) for clause in with_cue)}


@given(st.text(st.sampled_from("abc é¹-.'&·\n\"!™"), max_size=60), st.booleans())
def test_letters_are_found_where_they_stand_whatever_is_left_out_between_them(text, keep_case):
    haystack = Haystack(text, keep_case=keep_case)

    for letter in set(haystack.text) - BETWEEN:
        there = [place for place, character in enumerate(haystack.text) if character == letter]
        assert list(haystack.places_of(letter)) == there


@pytest.mark.parametrize("keep_case", [False, True])
def test_every_character_of_ascii_folds_to_one(keep_case):
    assert all(len(fold_cluster(chr(code), keep_case=keep_case)) == 1 for code in range(128))
