"""Where the lanes stand at one moment, by the database's clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from capture import lanes, reasons
from capture.models import Lane
from capture.models.clock import StatementTimestamp
from capture.reports.times import clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a lane stands.

    Arguments:
        now: the moment.
        in_flight: calls that hold a place.
        cooling_since: since when it cools, or tries one call at a time; None on a lane that is open.
        cooling_until: None unless nothing is asked now.
        cooling_reason: the short name of why; empty on a lane that is open.
        spacing: least seconds between starts.
        next_start: when the next start is allowed by the spacing; None when that is now.
    """

    now: datetime
    name: str
    enabled: bool
    paused: bool
    limit: int
    in_flight: int
    cooling_since: datetime | None
    cooling_until: datetime | None
    cooling_reason: str
    spacing: float
    next_start: datetime | None

    @property
    def is_full(self) -> bool:
        return self.in_flight >= self.limit

    @property
    def probing(self) -> bool:
        """Whether it has cooled, and one call at a time finds out whether its account answers again."""
        return self.cooling_since is not None and self.cooling_until is None

    @property
    def words(self) -> str:
        """What holds it, as staff read it; several things may."""
        holds = ["" if self.enabled else _("switched off"), _("paused") if self.paused else "", self.cooling]
        return "; ".join(hold for hold in holds if hold) or (_("full") if self.is_full else _("open"))

    @property
    def cooling(self) -> str:
        """Until when it cools and why; empty when it is open."""
        if self.probing:
            return _("one call is tried first, after: %(why)s") % {"why": self.why}
        if not self.cooling_until:
            return ""
        return _("cooling until %(at)s: %(why)s") % {"at": clock(self.cooling_until), "why": self.why}

    @property
    def why(self) -> str:
        """What it cools for."""
        return reasons.in_words(self.cooling_reason) if self.cooling_reason else _("no reason was given")


def with_standing(rows: QuerySet[Lane]) -> QuerySet[Any]:
    """Lanes with what `standing_of` reads besides their columns: the calls in flight, and what time it is."""
    calls = lanes.placed().filter(lane=OuterRef("name")).order_by().values("lane").annotate(count=Count("pk"))
    return rows.annotate(in_flight=Coalesce(Subquery(calls.values("count")), 0), now=StatementTimestamp())


def standing_of(lane: Any) -> Standing:
    """Where a lane of `with_standing` stands."""
    return Standing(
        now=lane.now,
        name=lane.name,
        enabled=lane.enabled,
        paused=lane.paused,
        limit=lane.limit,
        in_flight=lane.in_flight,
        cooling_since=lane.cooling_since,
        cooling_until=lane.cooling_until if lane.is_cooling_at(lane.now) else None,
        cooling_reason=lane.cooling_reason,
        spacing=lane.least_seconds_between_starts,
        next_start=lane.next_start if lane.next_start and lane.next_start > lane.now else None,
    )


def standings() -> dict[str, Standing]:
    """All lanes by name, in one query."""
    return {lane.name: standing_of(lane) for lane in with_standing(Lane.objects.order_by("name"))}
