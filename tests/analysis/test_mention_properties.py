"""What holds for every text and every name."""

from __future__ import annotations

from hypothesis import assume, example, given
from hypothesis import strategies as st

from capture.analysis.folding import fold
from capture.analysis.mentions import Entity, find_mentions
from capture.analysis.names import names_of
from capture.analysis.text import visible
from tests.analysis.examples import OURS, load

CASES = load(OURS)
NAMES = sorted({case["name"] for case in CASES})
MARKUP = [
    "[",
    "](",
    ")",
    "](https://x.example/a)",
    "**",
    "`",
    "&amp;",
    "&#8203;",
    "<b>",
    "</b>",
    "\\",
    "™",
    "¹",
    "\u200b",
]

anything = st.text(st.characters(), max_size=60)
pieces_of_answers = st.one_of(st.sampled_from(NAMES), st.sampled_from(MARKUP), st.sampled_from(" .,-'\n"), anything)
answers = st.lists(pieces_of_answers, max_size=12).map("".join)
entities = st.builds(
    Entity,
    key=st.uuids().map(str),
    name=st.one_of(st.sampled_from(NAMES), anything),
    aliases=st.lists(anything, max_size=2).map(tuple),
    match_case=st.booleans(),
)
# Words without a sign that could be markup, and without the names' own letters: of no script that a name is in.
other_words = st.text(st.sampled_from("ჟღძწჭ ,;:\n"), max_size=40)


@given(answers, st.lists(entities, max_size=5))
@example("", [])
@example("\ud800Nike\x00", [Entity("one", "Nike")])
def test_hits_slice_to_what_was_found_in_order_and_apart(text, who):
    hits = find_mentions(text, who)

    reached = 0
    for hit in hits:
        assert hit.words == text[hit.start : hit.end]
        assert reached <= hit.start < hit.end
        reached = hit.end


@given(answers, entities)
def test_what_was_found_is_the_name_when_looked_for_by_itself(text, entity):
    for hit in find_mentions(text, [entity]):
        again = find_mentions(text, [Entity("again", hit.alias, match_case=entity.match_case)])

        assert (hit.start, hit.end) in {(each.start, each.end) for each in again} or entity.aliases


@given(st.sampled_from(CASES), other_words, other_words)
def test_adding_text_without_the_name_never_removes_a_hit(case, before, after):
    who = [Entity("one", case["name"], aliases=tuple(case["aliases"]), match_case=case["match_case"])]
    before, after = f"{before}\n\n", f"\n\n{after}"
    moved = {(hit.start + len(before), hit.end + len(before)) for hit in find_mentions(case["text"], who)}

    hits = find_mentions(before + case["text"] + after, who)

    assert moved <= {(hit.start, hit.end) for hit in hits}


@given(anything, st.sampled_from(NAMES))
def test_a_name_in_a_paragraph_of_its_own_is_found_whatever_stands_before_and_after(words, name):
    text = f"{words}\n\n{name}\n\n{words}"
    start, end = len(words) + 2, len(words) + 2 + len(name)

    hits = find_mentions(text, [Entity("one", name)])

    assert any(start <= hit.start < hit.end <= end for hit in hits)


@given(anything, st.booleans())
def test_folding_never_raises_and_folding_again_changes_nothing(text, keep_case):
    folded = fold(text, keep_case=keep_case).text

    assert fold(folded, keep_case=keep_case).text == folded


@given(answers, st.data())
def test_every_place_of_the_visible_and_the_folded_text_has_its_origin(text, data):
    seen = visible(text).seen
    folded = fold(seen.text)
    assume(folded.text)
    start = data.draw(st.integers(0, len(folded.text) - 1))
    end = data.draw(st.integers(start + 1, len(folded.text)))

    begins, stops = seen.origin(*folded.origin(start, end))

    assert 0 <= begins < stops <= len(text)


@given(anything, st.booleans())
def test_any_words_can_be_made_a_name(words, keep_case):
    assert all(name.anchors for name in names_of(words, keep_case=keep_case))
