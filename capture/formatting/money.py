"""Sums of money as people read them, the same on every page."""

from __future__ import annotations

from decimal import Decimal

from django.utils.formats import number_format
from django.utils.translation import gettext as _

SMALLEST = Decimal("0.0001")


def dollars(amount: Decimal) -> str:
    """A sum in words: to the cent from one dollar on, and below that as exact as the price of a question needs it.

    Arguments:
        amount: US dollars.
    """
    if 0 < amount < SMALLEST:
        return _("under %(amount)s") % {"amount": f"${SMALLEST}"}
    exact = amount.quantize(SMALLEST if amount < 1 else Decimal("0.01"))
    digits = -int(exact.normalize().as_tuple().exponent)
    return f"${number_format(exact, max(digits, 2), force_grouping=True)}"
