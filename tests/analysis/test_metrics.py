"""The figures, from tallies."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.analysis.answers import Answer, Tally, tally
from capture.analysis.intervals import Cell, Count
from capture.analysis.mentions import Entity
from capture.analysis.metrics import (
    Verdict,
    Window,
    cited,
    compare,
    figure,
    first_named,
    position,
    share_of_voice,
    source_share,
    visibility,
)

MONDAY = date(2026, 3, 2)
KEYS = ("acme", "bolt", "coda")


def cell(prompt="key", provider="chatgpt"):
    return Cell(prompt, provider, "api")


def daily(hits_of_days, of, prompt="key", provider="chatgpt", start=MONDAY):
    return [Count(cell(prompt, provider), start + timedelta(day), hits, of) for day, hits in enumerate(hits_of_days)]


TALLIES = [
    Tally(
        cell(),
        MONDAY,
        answers=4,
        naming={"acme": 3, "bolt": 2},
        first={"acme": 2, "bolt": 1},
        ranks={"acme": 4, "bolt": 3},
        sourced=2,
        citing={"acme": 1},
        domains={"acme.com": 1, "news.example": 2},
    ),
    Tally(cell(provider="gemini"), MONDAY, answers=2, naming={"bolt": 1}, first={"bolt": 1}, ranks={"bolt": 1}),
]


@pytest.mark.parametrize(
    ("counts", "hits", "of"),
    [
        (visibility(TALLIES, "acme"), 3, 6),
        (visibility(TALLIES, "coda"), 0, 6),
        (share_of_voice(TALLIES, "acme", KEYS), 3, 6),
        (share_of_voice(TALLIES, "bolt", KEYS), 3, 6),
        (first_named(TALLIES, "bolt"), 2, 6),
        (cited(TALLIES, "acme"), 1, 2),
        (source_share(TALLIES, "news.example"), 2, 2),
    ],
)
def test_a_figure_is_a_numerator_and_a_denominator(counts, hits, of):
    found = figure(counts)

    assert (found.hits, found.of) == (hits, of)
    assert found.share == hits / of


def test_the_shares_of_voice_of_all_add_up_to_one():
    shares = [figure(share_of_voice(TALLIES, key, KEYS)).share for key in KEYS]

    assert sum(share or 0 for share in shares) == pytest.approx(1)


def test_the_mean_position_is_over_the_answers_that_name_it():
    found = position(TALLIES, "acme")

    assert (found.ranks, found.answers) == (4, 3)
    assert found.mean == pytest.approx(4 / 3)
    assert str(found) == "1.3 (n = 3)"
    assert str(position(TALLIES, "coda")) == "—"


def test_without_competitors_there_is_no_share_of_voice():
    found = figure(share_of_voice(TALLIES, "acme", ["acme"]))

    assert str(found) == "—"
    assert found.share is None
    assert found.measured


def test_with_nobody_named_there_is_no_share_of_voice():
    found = figure(share_of_voice([Tally(cell(), MONDAY, answers=30)], "acme", KEYS))

    assert str(found) == "—"
    assert found.interval is None


def test_a_system_that_could_not_be_asked_is_not_measured_rather_than_at_zero():
    nothing = figure(visibility([], "acme"))
    zero = figure(visibility([Tally(cell(), MONDAY, answers=30)], "acme"))

    assert (nothing.measured, str(nothing), nothing.share) == (False, "—", None)
    assert (zero.measured, zero.share) == (True, 0)


def test_answers_without_sources_are_in_no_figure_of_sources():
    found = figure(cited([Tally(cell(), MONDAY, answers=30)], "acme"))

    assert str(found) == "—"


def test_fewer_than_twenty_answers_are_shown_as_counts():
    few, enough = figure(daily([3], 19)), figure(daily([6], 20))

    assert str(few) == "3 of 19"
    assert str(enough) == "6 of 20 · 30 % (2–90)"
    assert few.text(least=0).startswith("3 of 19 · 16 % (")


def test_few_answers_stay_few_however_often_they_name_somebody():
    tallies = [Tally(cell(), MONDAY, answers=8, naming={"acme": 8, "bolt": 8, "coda": 8})]

    found = figure(share_of_voice(tallies, "acme", KEYS))

    assert found.is_of_few
    assert str(found) == "8 of 24"


def test_one_day_is_labelled_a_single_check():
    assert figure(daily([6], 20)).single_check
    assert not figure(daily([6, 7], 20)).single_check


def test_an_interval_holds_the_share_beside_it_even_where_cells_are_very_unlike():
    found = figure(daily([10] * 9, 10, prompt="often") + daily([0], 1, prompt="once"))

    assert found.bounds is not None
    assert found.share is not None
    low, high = found.bounds
    assert low <= found.share <= high
    assert found.interval is not None
    assert found.interval.share == 0.5


def window(*counts, matcher=1):
    return Window([count for group in counts for count in group], frozenset({matcher}))


LOW = [1, 2, 1, 0, 1, 2, 1, 1, 0, 1]
HIGH = [8, 9, 7, 8, 9, 8, 7, 9, 8, 8]
LATER = MONDAY + timedelta(30)


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (LOW, HIGH, Verdict.UP),
        (HIGH, LOW, Verdict.DOWN),
        (LOW, [2, 1, 1, 1, 2, 0, 1, 2, 1, 1], Verdict.WITHIN_NOISE),
        (HIGH[:1], LOW, Verdict.TOO_FEW),
    ],
)
def test_two_windows_go_up_or_down_or_stay_within_noise(before, after, verdict):
    change = compare(window(daily(before, 10)), window(daily(after, 10, start=LATER)))

    assert change.verdict is verdict


def test_only_what_both_windows_have_is_compared():
    before = window(daily(LOW, 10), daily(HIGH, 10, prompt="gone"), daily(HIGH, 10, provider="gemini"))
    after = window(daily(LOW, 10, start=LATER), daily(HIGH, 10, prompt="new", start=LATER))

    change = compare(before, after)

    assert change.verdict is Verdict.WITHIN_NOISE
    assert change.basket == {("key", "chatgpt")}
    assert change.before.of == change.after.of == 100


def test_windows_without_anything_in_common_are_not_comparable():
    change = compare(window(daily(LOW, 10)), window(daily(HIGH, 10, prompt="new")))

    assert (change.verdict, change.grown) == (Verdict.NOT_COMPARABLE, None)


def test_figures_by_different_rules_are_not_compared():
    change = compare(window(daily(LOW, 10)), window(daily(HIGH, 10, start=LATER), matcher=2))

    assert change.verdict is Verdict.NOT_COMPARABLE


named = st.lists(st.sampled_from([*KEYS, "stranger"]), max_size=4, unique=True).map(tuple)
answers = st.lists(
    st.builds(
        Answer,
        cell=st.sampled_from([cell(), cell(provider="gemini")]),
        day=st.dates(MONDAY, MONDAY + timedelta(4)),
        named=named,
        hosts=st.frozensets(st.sampled_from(["acme.com", "www.acme.com", "bolt.com", "x.example"])),
    ),
    max_size=40,
)


@given(answers)
def test_tallies_give_the_figures_that_the_answers_themselves_give(rows):
    entities = [Entity(key, key, domains=(f"{key}.com",)) for key in KEYS]

    tallies = tally(rows, entities)

    known = [tuple(key for key in row.named if key in KEYS) for row in rows]
    voices = figure(share_of_voice(tallies, "acme", KEYS))
    assert figure(visibility(tallies, "acme")).hits == sum("acme" in order for order in known)
    assert (voices.hits, voices.of) == (sum("acme" in order for order in known), sum(map(len, known)))
    assert figure(first_named(tallies, "acme")).hits == sum(order[:1] == ("acme",) for order in known)
    assert position(tallies, "acme").ranks == sum(order.index("acme") + 1 for order in known if "acme" in order)
    assert figure(cited(tallies, "acme")).of == sum(bool(row.hosts) for row in rows)
    assert figure(source_share(tallies, "acme.com")).hits == sum(
        bool(row.hosts & {"acme.com", "www.acme.com"}) for row in rows
    )
