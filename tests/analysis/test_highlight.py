"""Cutting a text where names stand in it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from capture.analysis.highlight import Piece, pieces, spans_by_entity
from capture.analysis.mentions import Entity, find_mentions

ENTITIES = [Entity("a", "Acme"), Entity("b", "Bolt")]


def test_names_are_cut_from_what_stands_between():
    text = "Acme and *Bolt*, Acme"

    found = list(pieces(text, find_mentions(text, ENTITIES)))

    assert found == [Piece("Acme", "a"), Piece(" and *"), Piece("Bolt", "b"), Piece("*, "), Piece("Acme", "a")]


def test_the_places_of_each_entity_are_listed():
    hits = find_mentions("Acme, Bolt, Acme", ENTITIES)

    assert spans_by_entity(hits) == {"a": [(0, 4), (12, 16)], "b": [(6, 10)]}


@given(st.lists(st.sampled_from(["Acme", "Bolt", " ", "**", "x", "&amp;"]), max_size=20).map("".join))
def test_the_pieces_together_are_the_text(text):
    assert "".join(piece.words for piece in pieces(text, find_mentions(text, ENTITIES))) == text
