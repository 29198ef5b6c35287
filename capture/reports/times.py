"""Times and spans as people read them."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.formats import date_format

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def clock(at: datetime) -> str:
    """Hours and minutes in the active time zone, which is named, and the day if it is another than today.

    Rounded up: what is said to come has not passed.
    """
    full = timezone.localtime(at + timedelta(minutes=1, microseconds=-1)).replace(second=0, microsecond=0)
    today = full.date() == timezone.localdate()
    return date_format(full, "H:i T" if today else "H:i T, j F")


def span(seconds: float) -> str:
    """A span in its largest unit, with one more where that tells something: "8 s", "75 min", "3 h 20 min"."""
    whole = max(0, int(seconds))
    if whole < 120:
        return f"{whole} s"
    if whole < 7_200:
        return f"{whole // 60} min"
    (large, unit), (small, rest) = _UNITS[:2] if whole >= 2 * 86_400 else _UNITS[1:]
    more = whole % large // small
    return f"{whole // large} {unit}" + (f" {more} {rest}" if more else "")
