"""What the systems charge, as far as it is known, and what a call comes to.

Prices are in US dollars: of tokens for a million, of searches for one. `read` is the day on which somebody last read
the price; correct both together. A price that changes has one line for each time, the newest last.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal

from capture.providers.replies import Basis, Cost

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """Dollars for a million tokens of one model.

    Arguments:
        received: for tokens that the model reads.
        written: for tokens that it writes, its thinking included.
        read: when the price was read.
        since: the first day on which it holds.
    """

    received: Decimal
    written: Decimal
    read: date
    since: date = date.min


@dataclass(frozen=True, slots=True)
class Units:
    """What a call used up.

    Arguments:
        fetches: pages that were opened beside the searches, where they are charged on their own.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    searches: int = 0
    fetches: int = 0


@dataclass(frozen=True, slots=True)
class Tariff:
    """What one account charges beside tokens, and what a question usually uses up.

    Arguments:
        search: dollars for one web search.
        read: when the price was read.
        usual: of one question, for estimates.
        fetch: dollars for one page that is opened.
        flat: by how a model's name begins, dollars for all searches of one call together, in place of `search`.
    """

    search: Decimal
    read: date
    usual: Units
    fetch: Decimal = Decimal(0)
    flat: Mapping[str, Decimal] = field(default_factory=dict)


def _token_price(received: str, written: str, read: date, since: date = date.min) -> tuple[TokenPrice]:
    return (TokenPrice(Decimal(received), Decimal(written), read, since),)


TOKENS: dict[str, tuple[TokenPrice, ...]] = {
    "gpt-6-luna": _token_price("0.10", "0.50", date(2026, 9, 22)),
    "gpt-6-sol": _token_price("2", "10", date(2026, 9, 22)),
    "gpt-6.1-sol": _token_price("2", "10", date(2026, 9, 22)),
    "gpt-6-astra": _token_price("10", "50", date(2026, 9, 22)),
    "gpt-5.6-luna": _token_price("0.20", "1.20", date(2026, 9, 22), since=date(2026, 7, 30)),
    "sonar": _token_price("0.25", "2.50", date(2026, 10, 7)),
    # Promised until the end of 2026; no later price was known.
    "gemini-3.8-flash": _token_price("0.75", "3.75", date(2026, 10, 3)),
    "gemini-4-argon": (
        *_token_price("2", "10", date(2026, 10, 3)),
        *_token_price("4", "20", date(2026, 10, 3), since=date(2026, 12, 1)),
    ),
    "gemini-3.5-flash": _token_price("1.50", "9", date(2026, 10, 3)),
    "gemini-3.5-flash-lite": _token_price("0.30", "2.50", date(2026, 10, 3)),
    "gemini-3.1-flash-lite": _token_price("0.25", "1.50", date(2026, 10, 3)),
}

TARIFFS: dict[str, Tariff] = {
    "openai": Tariff(Decimal("0.01"), date(2026, 10, 3), Units(15_000, 2_000, 2)),
    "perplexity": Tariff(Decimal("0.0025"), date(2026, 10, 7), Units(10_000, 1_000, 1), fetch=Decimal("0.0005")),
    # 5,000 searches a month are free; reckoned here as if they were used up.
    "gemini": Tariff(
        Decimal("0.014"), date(2026, 10, 3), Units(3_000, 1_000, 3), flat={"gemini-2.5-": Decimal("0.035")}
    ),
    # The plan of 75 dollars for 5,000 searches; the others come to 0.0092 to 0.025. Copies are free.
    "serpapi": Tariff(Decimal("0.015"), date(2026, 5, 1), Units(searches=1)),
}

# "openai/" in front, as Perplexity writes it, and the day of a model's release behind.
_VENDOR = re.compile(r"^.*/")
_VERSION = re.compile(r"-[0-9]+(?:\.[0-9]+)*(?=-|$)")
_RELEASE = re.compile(r"-[0-9]{4}-[0-9]{2}-[0-9]{2}$")


def computed_cost(lane: str, model: str, default_model: str, units: Units, on: date | None = None) -> Cost:
    """What a call came to by what it used up.

    Arguments:
        lane: the account, a key of `TARIFFS`.
        model: as the reply names it.
        default_model: whose price is taken when the reply names no model; empty where a system has none.
        units: what the call used up.
        on: the day of the call; today when not given.
    """
    # Another model's price is a guess, and says so.
    known = not model or not default_model or _plain_name(model) in TOKENS
    return Cost(_amount(lane, model, default_model, units, on), Basis.COMPUTED if known else Basis.ESTIMATED)


def estimate(lane: str, model: str, default_model: str, on: date | None = None) -> Decimal:
    """Dollars that one question will probably come to; arguments as for `computed_cost`."""
    return _amount(lane, model, default_model, TARIFFS[lane].usual, on)


def _amount(lane: str, model: str, default_model: str, units: Units, on: date | None) -> Decimal:
    tariff = TARIFFS[lane]
    amount = _searches(tariff, _plain_name(model), units.searches) + units.fetches * tariff.fetch
    price = token_price(model, default_model, on or datetime.now(UTC).date())
    if price:
        amount += (units.input_tokens * price.received + units.output_tokens * price.written) / _MILLION
    return amount


def _searches(tariff: Tariff, model: str, count: int) -> Decimal:
    flat = next((price for start, price in tariff.flat.items() if model.startswith(start)), None)
    return count * tariff.search if flat is None else min(count, 1) * flat


def token_price(model: str, default_model: str, on: date) -> TokenPrice | None:
    """The price of a model on a day, or of the default model where none is named.

    A model without a known price is taken for the dearest of its kind, so that nobody is told too little: of the
    other versions of it (gpt-6-sol and gpt-6.1-sol for gpt-6.2-sol), else of its maker's models, else of all.

    Returns:
        None when there is nothing to go by: no default model, which is a system without tokens.
    """
    name = _plain_name(model) or _plain_name(default_model)
    if name in TOKENS:
        return _on(TOKENS[name], on)
    if not default_model:
        return None
    versions = [known for known in TOKENS if _family(known) == _family(name)]
    makers = [known for known in TOKENS if known.partition("-")[0] == name.partition("-")[0]]
    return max((_on(TOKENS[known], on) for known in versions or makers or TOKENS), key=_dearness)


def _on(prices: tuple[TokenPrice, ...], day: date) -> TokenPrice:
    current = [price for price in prices if price.since <= day]
    return current[-1] if current else prices[0]


def _dearness(price: TokenPrice) -> tuple[Decimal, Decimal]:
    return price.written, price.received


def _family(name: str) -> str:
    """A model's name without the number of its version."""
    return _VERSION.sub("", name)


def _plain_name(model: str) -> str:
    return _RELEASE.sub("", _VENDOR.sub("", model))
