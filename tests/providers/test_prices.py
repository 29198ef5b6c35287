"""Costs come from a dated table of prices."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from capture.providers import prices
from capture.providers.prices import Units, computed_cost, estimate, token_price
from capture.providers.replies import Basis

MILLION = Units(1_000_000, 1_000_000)


@pytest.mark.parametrize("model", ["gpt-6-luna", "openai/gpt-6-luna", "gpt-6-luna-2026-09-22", ""])
def test_a_model_is_priced_by_its_name_or_else_as_the_default(model):
    cost = computed_cost("openai", model, "gpt-6-luna", MILLION)

    assert cost.amount == Decimal("0.60")
    assert cost.basis is Basis.COMPUTED


@pytest.mark.parametrize(
    ("model", "amount"),
    [
        ("gpt-6.2-sol", 12),  # as the other versions of it
        ("gpt-7-luna-2027-01-31", Decimal("1.40")),  # the dearest of them
        ("gpt-6-astra-mini", 60),  # the dearest of its maker's
        ("gemini-9-flash-lite", Decimal("2.80")),
        ("never-heard-of", 60),  # the dearest of all
    ],
)
def test_an_unknown_model_is_priced_as_the_dearest_of_its_kind_and_that_is_said_to_be_a_guess(model, amount):
    cost = computed_cost("openai", model, "gpt-6-luna", MILLION)

    assert (cost.amount, cost.basis) == (amount, Basis.ESTIMATED)


@pytest.mark.parametrize(("day", "received"), [(date(2026, 11, 30), 2), (date(2026, 12, 1), 4), (date(2027, 6, 1), 4)])
def test_a_price_that_changes_is_the_one_of_the_day(day, received):
    price = token_price("gemini-4-argon", "", day)

    assert price is not None
    assert price.received == received


@pytest.mark.parametrize("lane", prices.TARIFFS)
@pytest.mark.parametrize("table", [prices.TARIFFS, {name: last for name, (*_, last) in prices.TOKENS.items()}])
def test_every_price_has_the_day_on_which_it_was_read(lane, table):
    assert all(price.read > date(2026, 1, 1) for price in table.values())
    assert prices.TARIFFS[lane].search > 0


@pytest.mark.parametrize(("searches", "amount"), [(0, "0"), (1, "0.035"), (3, "0.035")])
def test_an_older_gemini_charges_once_for_all_searches_of_a_call(searches, amount):
    cost = computed_cost("gemini", "gemini-2.5-flash", "gemini-3.8-flash", Units(searches=searches))

    assert cost.amount == Decimal(amount)


def test_pages_that_are_opened_cost_what_they_cost():
    assert computed_cost("perplexity", "", "", Units(searches=1, fetches=2)).amount == Decimal("0.0035")


def test_a_day_before_the_first_price_takes_the_first():
    assert token_price("gpt-5.6-luna", "", date(2026, 1, 1)) is not None


def test_a_system_without_tokens_costs_its_searches():
    assert computed_cost("serpapi", "", "", Units(searches=1)).amount == Decimal("0.015")


@pytest.mark.parametrize(
    ("lane", "default", "least", "most"),
    [
        ("openai", "gpt-6-luna", "0.013", "0.023"),
        ("perplexity", "perplexity/sonar", "0.005", "0.009"),
        ("gemini", "gemini-3.8-flash", "0.006", "0.048"),
        ("serpapi", "", "0.009", "0.025"),
    ],
)
def test_an_estimate_lies_where_one_question_usually_does(lane, default, least, most):
    assert Decimal(least) <= estimate(lane, default, default) <= Decimal(most)


def test_the_times_of_a_price_are_in_order():
    for known in prices.TOKENS.values():
        assert [price.since for price in known] == sorted(price.since for price in known)
