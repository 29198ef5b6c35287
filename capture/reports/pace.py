"""How long it takes: a time estimate from how long calls took lately.

A lane works like a queue with as many servers as it has places. With *n* jobs in line up to and including the last one
that is waited for, *free* places of *limit*, and calls of mean length *d*, all but *free* of them wait for a place;
places come free at the rate limit / d; and the last call then takes d itself:

    seconds = (n - free) · d / limit + d        (n > free; else d)

It cannot be less than n times the lane's spacing of starts, and cooling comes on top. Lanes work side by side, so a
check takes as long as its slowest lane.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.core.cache import cache
from django.db.models import Avg, FloatField, Value
from django.db.models.functions import Least
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from capture.lanes import PARKED_AFTER
from capture.models import Capture
from capture.reports.standings import Standing

RECENT = 1_000  # captures, over all checks
KEPT = 15  # seconds

# Mean seconds of a call, by AI system and whether it was the simulator that answered.
Lengths = Mapping[tuple[str, bool], float]


def lengths() -> Lengths:
    """How long calls took lately, measured every few seconds; a system that was not asked lately is not in it.

    A call that takes longer than `PARKED_AFTER` gives its place back by then, and counts as so long.
    """
    return cache.get_or_set("capture.lengths", _measure, KEPT) or {}


def _measure() -> Lengths:
    recent = Capture.objects.filter(seconds__isnull=False, cached=False).order_by("-pk")[:RECENT]
    held = Least("seconds", Value(PARKED_AFTER.total_seconds()), output_field=FloatField())
    rows = (
        Capture.objects.filter(pk__in=recent.values("pk")).values_list("provider", "simulated").annotate(mean=Avg(held))
    )
    return {(provider, simulated): mean for provider, simulated, mean in rows}


@dataclass(frozen=True, slots=True)
class Load:
    """What is waited for in one lane.

    Arguments:
        lengths: seconds of a call of each job that is waited for; empty where none was measured.
        line: jobs in line, up to and including the last one that is waited for.
    """

    lengths: tuple[float, ...]
    line: int


def seconds_left(load: Load, lane: Standing) -> float:
    """Seconds until the last job that is waited for has its answer, by the formula above."""
    each = sum(load.lengths) / len(load.lengths)
    waiting = max(0, load.line - max(0, lane.limit - lane.in_flight))
    cooling = max(0.0, (lane.cooling_until - lane.now).total_seconds()) if lane.cooling_until else 0.0
    return cooling + max(waiting * each / lane.limit, load.line * lane.spacing) + each


def seconds_of(loads: Mapping[str, Load], lanes: Mapping[str, Standing]) -> float | None:
    """Seconds until all of it has come to something; None where that cannot be told."""
    if not loads or any(name not in lanes or is_held(lanes[name]) or not load.lengths for name, load in loads.items()):
        return None
    return max(seconds_left(load, lanes[name]) for name, load in loads.items())


def is_held(lane: Standing) -> bool:
    """Whether staff hold the lane; nobody can tell for how long."""
    return lane.paused or not lane.enabled


def in_words(seconds: float) -> str:
    """A length of time as exact as an estimate can be."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return _("less than a minute")
    if minutes < 90:
        return ngettext("about %(number)s minute", "about %(number)s minutes", minutes) % {"number": minutes}
    hours = round(minutes / 60)
    return ngettext("about %(number)s hour", "about %(number)s hours", hours) % {"number": hours}


def known(slugs: Iterable[tuple[str, bool]], measured: Lengths) -> tuple[float, ...]:
    """The lengths of calls to these systems, as far as they were measured."""
    return tuple(measured[slug] for slug in slugs if slug in measured)
