"""The list of a team's brands, each with the check that was made of it last."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Max, OuterRef, QuerySet, Subquery

from capture.models import Brand, Check, Team
from capture.reports.checks import CheckLine, lines


@dataclass(frozen=True, slots=True)
class BrandLine:
    """A brand as a line of a list.

    Arguments:
        number: by which its own pages are found.
        checks: how many there are of it.
        last: the newest of them; None where there is none any more.
    """

    number: int
    name: str
    checks: int
    last: CheckLine | None


def brands_of(team: Team, words: str = "") -> QuerySet[Brand]:
    """The team's brands; the one that was checked last comes first.

    Arguments:
        words: what the name has to contain, in any case; empty for all brands.
    """
    brands = Brand.objects.current().filter(team=team)
    if words:
        brands = brands.filter(name__icontains=words)
    checked = brands.annotate(checked_at=Max("checks__created_at"))
    return checked.order_by(F("checked_at").desc(nulls_last=True), "name")


def brand_lines(brands: Iterable[int]) -> list[BrandLine]:
    """Brands by their keys as lines, in the order given. Two queries, whatever their number."""
    keys = list(brands)
    newest = Check.objects.filter(brand=OuterRef("pk")).order_by("-created_at", "-pk").values("pk")[:1]
    rows: dict[int, Any] = {
        brand.pk: brand
        for brand in Brand.objects.filter(pk__in=keys).annotate(checks_made=Count("checks"), newest=Subquery(newest))
    }
    found = [rows[key] for key in keys if key in rows]
    last = lines(brand.newest for brand in found if brand.newest)
    return [BrandLine(brand.pk, brand.name, brand.checks_made, last.get(brand.newest)) for brand in found]
