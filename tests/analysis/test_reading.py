"""What is read in an answer when it comes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from capture.analysis.mentions import MATCHER_VERSION, Entity
from capture.analysis.reading import MOST_CHARACTERS, Watch, named, read

THEN = (Entity("brand", "Northwind"), Entity("competitor:0", "Contoso"))
TODAY = (Entity("brand:7", "North Wind"), Entity("competitor:9", "Fabrikam"))


def test_each_is_told_once_in_the_order_in_which_they_are_first_named():
    text = "Contoso, then Northwind. Contoso again."

    found = named(text, THEN)

    assert [(each.key, each.hits, each.first.start) for each in found] == [("competitor:0", 2, 0), ("brand", 1, 14)]


def test_flags_of_all_its_places_count():
    (found,) = named("Contoso is fine. We would not recommend Contoso.", THEN)

    assert found.flags == ("not_recommended",)
    assert not found.first.flags


def test_names_of_then_and_of_today_are_read_apart():
    reading = read("Fabrikam beats Northwind.", Watch(THEN, TODAY, edition=4))

    assert [each.key for each in reading.asked] == ["brand"]
    assert [each.key for each in reading.today] == ["competitor:9", "brand:7"]
    assert (reading.watch.edition, reading.matcher) == (4, MATCHER_VERSION)


def test_what_goes_beyond_all_measure_is_not_read():
    text = "x " * (MOST_CHARACTERS // 2) + "Northwind"

    assert read(text, Watch(THEN, TODAY, edition=1)).asked == ()


@settings(deadline=None)
@given(st.text(st.sampled_from("Northwind Contoso*_[](){}<>&;.\n\x00\ud800\u200b"), max_size=200))
def test_places_are_where_the_words_stand(text):
    for found in named(text, THEN):
        assert text[found.first.start : found.first.end] == found.first.words
        assert found.hits >= 1
