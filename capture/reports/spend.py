"""What was spent: on a check, today, by team, AI system and day. Read from charges alone, which nothing deletes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Q, QuerySet, Sum

from capture.models import Charge, Check
from capture.models.charges import ChargeQuerySet
from capture.models.clock import database_today
from capture.providers import registry
from capture.providers.replies import Basis


@dataclass(frozen=True, slots=True)
class Spend:
    """A sum of charges, in US dollars.

    Arguments:
        amount: what real systems were paid, or may have been.
        estimated: how much of that is an estimate, as with an attempt of which nobody knows whether it was charged.
        simulated: what the simulator's answers would have cost; nobody paid it, and it is in no other figure.
    """

    amount: Decimal
    estimated: Decimal
    simulated: Decimal


@dataclass(frozen=True, slots=True)
class Line:
    """The spend of a team, an AI system or a day."""

    label: str
    spend: Spend


@dataclass(frozen=True, slots=True)
class Summary:
    """What charges come to, and what is behind that."""

    total: Spend
    by_team: list[Line]
    by_provider: list[Line]
    by_day: list[Line]


def spent(charges: ChargeQuerySet) -> Spend:
    """What charges come to. One query."""
    return _spend(charges.order_by().aggregate(**_SUMS))


def spent_on(check: Check) -> Spend:
    """What was spent on a check so far, whatever has become of its jobs."""
    return spent(Charge.objects.of_check(check.uuid))


def spent_today() -> Spend:
    """What all teams together have spent on this day in UTC."""
    return spent(Charge.objects.since(database_today()))


def spent_today_by_system() -> dict[str, Spend]:
    """The same by AI system, under its short name."""
    rows = _grouped(Charge.objects.since(database_today()), "provider").order_by("provider")
    return {row["provider"]: _spend(row) for row in rows}


def by_team(charges: ChargeQuerySet) -> list[Line]:
    """The dearest first. Charges outlive their team."""
    teams = _grouped(charges, "team", "team__name")
    return _dearest_first(Line(row["team__name"] or "(no team)", _spend(row)) for row in teams)


def by_provider(charges: ChargeQuerySet) -> list[Line]:
    """The dearest first, under the names that people see."""
    return _dearest_first(Line(_label(row["provider"]), _spend(row)) for row in _grouped(charges, "provider"))


def by_day(charges: ChargeQuerySet) -> list[Line]:
    """The newest first."""
    days = _grouped(charges, "day").order_by("-day")
    return [Line(row["day"].isoformat(), _spend(row)) for row in days]


def summary(charges: ChargeQuerySet) -> Summary:
    """All of it. Four queries, whatever the number of charges."""
    return Summary(spent(charges), by_team(charges), by_provider(charges), by_day(charges))


_REAL = Q(simulated=False)
_SUMS = {
    "amount_sum": Sum("amount", filter=_REAL),
    "estimated_sum": Sum("amount", filter=_REAL & Q(basis=Basis.ESTIMATED)),
    "simulated_sum": Sum("amount", filter=~_REAL),
}


def _grouped(charges: ChargeQuerySet, *fields: str) -> QuerySet[Charge, dict[str, Any]]:
    sums: QuerySet[Charge, dict[str, Any]] = charges.order_by().values(*fields).annotate(**_SUMS)
    return sums


def _spend(sums: dict[str, Decimal | None]) -> Spend:
    """A sum over no rows is none."""
    amount, estimated, simulated = (sums[name] or Decimal(0) for name in _SUMS)
    return Spend(amount, estimated, simulated)


def _dearest_first(lines: Iterable[Line]) -> list[Line]:
    return sorted(lines, key=lambda line: (-line.spend.amount, -line.spend.simulated, line.label))


def _label(slug: str) -> str:
    provider = registry.by_slug.get(slug)
    return provider.label if provider else slug
