"""Sums of money as people read them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.formatting.money import dollars


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        ("0", "$0.00"),
        ("0.000067", "under $0.0001"),
        ("0.0001", "$0.0001"),
        ("0.013", "$0.013"),
        ("0.0330", "$0.033"),
        ("0.2", "$0.20"),
        ("0.99", "$0.99"),
        ("0.99999", "$1.00"),
        ("1.005", "$1.00"),
        ("1234.5", "$1,234.50"),
    ],
)
def test_it_is_as_exact_as_it_has_to_be(amount, words):
    assert dollars(Decimal(amount)) == words


@given(st.decimals(Decimal("0.0001"), Decimal(10**9), places=6))
def test_it_is_never_off_by_more_than_its_last_digit(amount):
    told = Decimal(dollars(amount).lstrip("$").replace(",", ""))

    assert abs(told - amount) <= (Decimal("0.00005") if amount < 1 else Decimal("0.005"))
