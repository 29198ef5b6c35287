"""Of which answers a brand's history is told, and in which stretches of time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any

from capture.models import Brand, Check, Gist

# Days of a stretch; the shortest is taken with which a chart is not crowded.
STRETCHES = (1, 7, 28, 91, 364)
MOST_STRETCHES = 31

# The answers that count, as `capture.gists` keeps them. Days are numbered from 1, by their midnights in the team's
# zone; the period is the later half of them.
ANSWERS = """
    FROM capture_gist
    WHERE brand_id = %(brand)s AND answered_at >= %(begin)s AND answered_at < %(end)s
        AND simulated = %(simulated)s AND branded = %(branded)s
        AND (%(country)s::text IS NULL OR country = %(country)s)
        AND (%(systems)s::text[] = '{}' OR provider = ANY(%(systems)s))
"""
DAY = "width_bucket(answered_at, %(midnights)s::timestamptz[])"

# The number of a day's stretch of time; -1 before the period.
STRETCH = """
    CASE WHEN day <= %(days)s THEN -1 ELSE %(stretches)s - 1 - (2 * %(days)s - day) / %(stretch)s END
"""

# Competitors that an answer names, by today's list of them: one that was archived may still stand in answers that have
# not been read again since.
RIVALS = """
    CASE WHEN edition = %(edition)s THEN rivals
        ELSE ARRAY(SELECT whom FROM unnest(rivals) whom WHERE whom = ANY(%(rivals)s::bigint[])) END
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Of which answers history is told.

    Arguments:
        since, until: the first and the last day, in the team's time zone.
        zone: the team's.
        simulated: of the simulator's answers; otherwise of real ones.
        branded: to questions that name the brand; otherwise to all others.
        systems: the slugs of the AI systems; empty for all.
        country: the code of the country asked from, empty for checks of none; None for all.
    """

    brand: Brand
    since: date
    until: date
    zone: tzinfo
    simulated: bool = False
    branded: bool = False
    systems: tuple[str, ...] = ()
    country: str | None = None

    @property
    def days(self) -> int:
        return (self.until - self.since).days + 1

    @property
    def stretch(self) -> int:
        """Days of one stretch."""
        fitting = (days for days in STRETCHES if self.days <= days * MOST_STRETCHES)
        return next(fitting, -(-self.days // MOST_STRETCHES))

    @property
    def stretches(self) -> list[date]:
        """The first day of each. The last one ends with the period; the first may have begun before it."""
        count = -(-self.days // self.stretch)
        return [self.until - timedelta(days=self.stretch * left - 1) for left in range(count, 0, -1)]

    def last_day_before(self, following: date | None) -> date:
        """The last day of a stretch, of which the following one begins on a day; None for the last of all."""
        return following - timedelta(days=1) if following else self.until

    @property
    def before(self) -> date:
        """The first day of the period before, which is as long."""
        return self.since - timedelta(days=self.days)

    def day(self, number: int) -> date:
        """A day by its number in `ANSWERS`."""
        return self.before + timedelta(days=number - 1)

    def midnight(self, day: date) -> datetime:
        """When a day begins; days of 23 and 25 hours are right."""
        return datetime.combine(day, time.min, tzinfo=self.zone)

    def parameters(self) -> dict[str, Any]:
        """Those of `ANSWERS`."""
        return {
            "brand": self.brand.pk,
            "edition": self.brand.edition,
            "country": self.country,
            "simulated": self.simulated,
            "branded": self.branded,
            "systems": list(self.systems),
            "begin": self.midnight(self.before),
            "end": self.midnight(self.until + timedelta(days=1)),
            "midnights": [self.midnight(self.day(number)) for number in range(1, 2 * self.days + 1)],
            "days": self.days,
            "stretch": self.stretch,
            "stretches": len(self.stretches),
        }


@dataclass(frozen=True, slots=True)
class AskedSoFar:
    """What a brand's history can be narrowed to.

    Arguments:
        systems: slugs of the AI systems that were ever asked about it.
        countries: codes of the countries that were asked from; an empty one for checks of none.
        real: there are answers that count and are not the simulator's, or none at all.
    """

    systems: tuple[str, ...]
    countries: tuple[str, ...]
    real: bool


def asked_so_far(brand: Brand) -> AskedSoFar:
    """What there is to choose from, in two or three queries."""
    asked = list(Check.objects.filter(brand=brand).values_list("providers", "country").distinct())
    answers = Gist.objects.filter(brand=brand)
    real = answers.filter(simulated=False).exists() or not answers.exists()
    slugs = {slug for providers, _ in asked for slug in providers}
    return AskedSoFar(tuple(sorted(slugs)), tuple(sorted({country for _, country in asked})), real)
