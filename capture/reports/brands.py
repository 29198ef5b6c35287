"""The list of a team's brands, each with the check that was made of it last."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Max, OuterRef, Q, QuerySet, Subquery

from capture.models import Brand, Capture, Check, Gist, Team
from capture.reports.cells import BRAND
from capture.reports.checks import CheckLine, lines


@dataclass(frozen=True, slots=True)
class BrandLine:
    """A brand as a line of a list.

    Arguments:
        uuid: by which its own pages are found.
        checks: how many there are of it.
        named, of: in how many answers of its last check it is named, of how many that count; 0 where there are none.
        last: the newest of them; None where there is none any more.
    """

    uuid: UUID
    name: str
    checks: int
    named: int
    of: int
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
    """Brands by their keys as lines, in the order given. Three queries, whatever their number."""
    keys = list(brands)
    newest = Check.objects.filter(brand=OuterRef("pk")).order_by("-created_at", "-pk").values("pk")[:1]
    rows: dict[int, Any] = {
        brand.pk: brand
        for brand in Brand.objects.filter(pk__in=keys).annotate(checks_made=Count("checks"), newest=Subquery(newest))
    }
    found = [rows[key] for key in keys if key in rows]
    last = lines(brand.newest for brand in found if brand.newest)
    named = _named_in(last)
    return [
        BrandLine(brand.uuid, brand.name, brand.checks_made, *named.get(brand.newest, (0, 0)), last.get(brand.newest))
        for brand in found
    ]


def _named_in(checks: Iterable[int]) -> dict[int, tuple[int, int]]:
    """In how many answers of a check its brand is named, of how many; of the real ones where there are any.

    Questions that name the brand themselves do not count.
    """
    answers = Capture.objects.originals().filter(of_check__in=list(checks), matcher__gt=0, prompt__branded=False)
    naming = Count("pk", filter=Q(named__contains=[{"key": BRAND}]))
    counted = answers.values("of_check", "simulated").annotate(naming=naming, of=Count("pk")).order_by("-simulated")
    return {row["of_check"]: (row["naming"], row["of"]) for row in counted}


def is_being_read(brand: Brand) -> bool:
    """Whether some of its stored answers are still to be read by its names of today. At most two queries."""
    if brand.read_edition == brand.edition:
        return False
    earlier = Gist.objects.filter(brand=brand).exclude(edition=brand.edition)
    return earlier.exists() or Capture.objects.new_unread().filter(of_check__brand=brand).exists()
