"""Of which answers a brand's history is told, and in which stretches of time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any

from capture.models import Brand, Capture, Check

# Days of a stretch; the shortest is taken with which a chart is not crowded.
STRETCHES = (1, 7, 28, 91, 364)
MOST_STRETCHES = 31

# The answers that count: as `capture.analysis.answers.why_left_out` says, and somebody has looked for names in them.
# Numbers stand for long texts, so that it goes quickly. Days are numbered from 1, by their midnights in the team's
# zone; the period is the later half of them.
ANSWERS = """
    answers AS MATERIALIZED (
        SELECT capture.id, hashtextextended(prompt.key, 0) AS key, capture.provider,
            hashtextextended(capture.surface, 0) AS surface, capture.matcher, capture.edition,
            width_bucket(capture.answered_at, %(midnights)s::timestamptz[]) AS day
        FROM capture_check asked
            JOIN capture_capture capture ON capture.of_check_id = asked.id
            JOIN capture_prompt prompt ON prompt.id = capture.prompt_id
        WHERE asked.brand_id = %(brand)s
            AND (%(country)s::text IS NULL OR asked.country = %(country)s)
            AND capture.outcome = 'answered' AND NOT capture.cached AND capture.matcher > 0 AND capture.edition > 0
            AND capture.simulated = %(simulated)s
            AND (%(systems)s::text[] = '{}' OR capture.provider = ANY(%(systems)s))
            AND capture.answered_at >= %(begin)s AND capture.answered_at < %(end)s
            AND prompt.branded = %(branded)s
    )
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
        real: there are answers that are not the simulator's, or none at all.
    """

    systems: tuple[str, ...]
    countries: tuple[str, ...]
    real: bool


def asked_so_far(brand: Brand) -> AskedSoFar:
    """What there is to choose from, in two or three queries."""
    asked = list(Check.objects.filter(brand=brand).values_list("providers", "country").distinct())
    answers = Capture.objects.answered().filter(of_check__brand=brand)
    real = answers.filter(simulated=False).exists() or not answers.exists()
    slugs = {slug for providers, _ in asked for slug in providers}
    return AskedSoFar(tuple(sorted(slugs)), tuple(sorted({country for _, country in asked})), real)
