"""Places in bytes become places in characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.providers.utf8_places import Utf8Places

# One byte, two, three and four.
MIXED = "aЖ€👟b"
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.parametrize(
    ("start", "end", "meant"),
    [
        (0, 1, "a"),
        (1, 3, "Ж"),
        (3, 6, "€"),
        (6, 10, "👟"),
        (10, 11, "b"),
        (0, 11, MIXED),
        # In the middle of a character, the whole of it is meant.
        (2, 3, "Ж"),
        (1, 2, "Ж"),
        (4, 5, "€"),
        (7, 9, "👟"),
        (2, 8, "Ж€👟"),
        (9, 11, "👟b"),
    ],
)
def test_places_in_bytes_are_found(start, end, meant):
    place = Utf8Places(MIXED).span(start, end)

    assert place is not None
    assert MIXED[slice(*place)] == meant


@pytest.mark.parametrize("text", [MIXED, "plain words"])
@pytest.mark.parametrize(
    ("start", "end"), [(0, 12), (-1, 3), (3, 3), (4, 3), (None, 3), (0, None), (True, 3), (0.0, 3), ("0", 3), (11, 12)]
)
def test_what_is_no_place_is_none(text, start, end):
    assert Utf8Places(text).span(start, end) is None


@given(TEXTS, st.integers(0, 40), st.integers(0, 40))
def test_every_piece_of_any_text_is_found_by_its_bytes(text, start, end):
    before, piece = text[:start], text[start:end]

    place = Utf8Places(text).span(len(before.encode()), len((before + piece).encode()))

    assert (text[slice(*place)] if place else "") == piece


@given(TEXTS, st.integers(-5, 60))
def test_a_place_is_between_characters_when_the_bytes_before_it_are_whole(text, place):
    data = text.encode()
    whole = 0 <= place <= len(data) and data[:place].decode("utf-8", "replace").encode() == data[:place]

    assert Utf8Places(text).between_characters(place) is whole
