"""Citations, as five systems tell them, become numbered references."""

from __future__ import annotations

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from capture.formatting.citations import MOST_AT_ONE_PLACE, MOST_PLACES, Citation, with_references
from capture.formatting.references import REFERENCE, reference, without_references


def span(text: str, words: str) -> list[int]:
    start = text.index(words)
    return [start, start + len(words)]


def referred(text: str, *spans: tuple[int, str]) -> str:
    """The text with a citation for each number and words, its references as {1}."""
    citations = [Citation(number, [span(text, words)]) for number, words in spans]
    return REFERENCE.sub(r"{\1}", with_references(text, citations))


class TestMarksOfTheSystems:
    def test_chatgpts_link_to_a_host_is_replaced_with_the_brackets_around_it(self):
        text = "It is liked. ([example.com](https://example.com/a?utm_source=openai)) More."

        assert (
            referred(text, (1, "([example.com](https://example.com/a?utm_source=openai))")) == "It is liked.{1} More."
        )

    def test_also_when_the_span_is_a_few_characters_off(self):
        text = "It is liked. ([example.com](https://example.com/a)) More."

        assert referred(text, (1, " ([example.com](https://example.com/a)) Mo")) == "It is liked.{1} More."
        assert referred(text, (1, "[example.com](https://example.com/a)")) == "It is liked.{1} More."

    def test_an_address_with_brackets_in_it(self):
        text = "So [en.wikipedia.org](https://en.wikipedia.org/wiki/Espresso_(drink)) says."

        assert (
            referred(text, (2, "[en.wikipedia.org](https://en.wikipedia.org/wiki/Espresso_(drink))")) == "So{2} says."
        )

    def test_a_link_with_words_of_its_own_stays(self):
        text = "See [the best machines](https://example.com/) today."

        assert referred(text, (1, "[the best machines](https://example.com/)")) == (
            "See [the best machines](https://example.com/){1} today."
        )

    def test_perplexitys_numbers_become_ours(self):
        text = "Liked [3]. Cheap [7][3]."

        marked = with_references(text, [Citation(1, [[6, 9], [20, 23]]), Citation(2, [[17, 20]])])

        assert REFERENCE.sub(r"{\1}", marked) == "Liked{1}. Cheap{2}{1}."

    def test_numbers_in_brackets_that_are_no_citation_stay(self):
        assert referred("Liked [3]. In [2026] too.", (1, "[3]")) == "Liked{1}. In [2026] too."

    def test_two_sources_with_one_mark(self):
        assert referred("Liked [3].", (2, "[3]"), (1, "[3]")) == "Liked{1}{2}."

    def test_marks_that_were_never_meant_for_readers_go(self):
        assert referred("Liked \ue200cite\ue202turn0search1\ue201.") == "Liked."


class TestPassages:
    def test_a_reference_goes_after_the_passage(self):
        assert referred("First. Second. Third.", (1, "Second.")) == "First. Second.{1} Third."

    def test_and_before_the_white_space_at_its_end(self):
        assert referred("First.\n\nSecond.", (1, "First.\n\n")) == "First.{1}\n\nSecond."

    def test_several_sources_in_order_and_each_once(self):
        marked = with_references("All of it.", [Citation(2, [[0, 10], [4, 10]]), Citation(1, [[0, 10]])])

        assert REFERENCE.sub(r"{\1}", marked) == "All of it.{1}{2}"

    def test_a_mark_within_a_longer_passage_stays(self):
        text = "A long passage that rests on [1] a page."

        assert referred(text, (3, text)) == f"{text}{{3}}"

    def test_places_outside_the_text_are_none(self):
        citation = Citation(1, [[-1, 3], [3, 3], [5, 2], [0, 99], [0], ["a", "b"], [None, 2]])  # type: ignore[list-item]

        assert with_references("short", [citation]) == "short"


class TestLimits:
    def test_no_place_is_crowded(self):
        marked = with_references("All.", [Citation(number, [[0, 4]]) for number in range(1, 50)])

        assert len(REFERENCE.findall(marked)) == MOST_AT_ONE_PLACE

    def test_nor_are_there_endless_places(self):
        text = "ab" * 5_000

        marked = with_references(text, [Citation(1, [[place, place + 1] for place in range(9_999)])])

        assert len(REFERENCE.findall(marked)) == MOST_PLACES

    def test_a_million_characters_made_to_be_slow(self):
        spans = [[place, place + 500] for place in range(0, 900_000, 900)]
        for piece in ("[a](", "([", "[", "[1]", "[a.b](https://", "\ue200", "(", "[a.b](https://a("):
            text = piece * (1_000_000 // len(piece))
            began = time.perf_counter()

            with_references(text, [Citation(number, spans) for number in range(1, 30)])

            assert time.perf_counter() - began < 10

    @settings(deadline=None)
    @given(
        st.text(alphabet="ab []().https:/\n\ufdd0\ufdd1\ue200\ue201", max_size=200),
        st.lists(st.lists(st.tuples(st.integers(-1, 200), st.integers(-1, 200)), max_size=5), max_size=5),
    )
    def test_whatever_comes_the_words_stay(self, text, spans):
        marked = with_references(text, [Citation(number, places) for number, places in enumerate(spans, 1)])

        assert set(REFERENCE.findall(marked)) <= {str(number) for number in range(1, len(spans) + 1)}
        assert without_references(marked).count("a") >= without_marks(text).count("a")


def without_marks(text: str) -> str:
    """What is left of a text if every mark is taken for one."""
    return text.split("[")[0].split("(")[0].split("\ue200")[0]


def test_forged_references_are_none():
    forged = f"Trust me.{reference([1])}"

    assert REFERENCE.search(with_references(forged, [])) is None
