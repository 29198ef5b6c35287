"""When something is due that happens at an hour of the day, or of one day of the week, in some zone. Pure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from datetime import time as TimeOfDay  # noqa: N812  a class, and `time` is too many things

WEEK = 7


def next_time(after: datetime, hour: int, zone: tzinfo, weekday: int | None = None) -> datetime:
    """The first due time after a moment, in UTC.

    Each day has one. An hour that a day leaves out, as it goes over to summer time, is due as much later as the clock
    was put forward; of an hour that a day has twice, the first is due (`fold=0`, PEP 495).

    Arguments:
        hour: of the zone's day, 0 to 23.
        weekday: the only day of the week, 0 for Monday; every day without it.
    """
    today = after.astimezone(zone).date()
    # One more than a week, since this week's may be over; and one more, for a zone that leaves out a whole day.
    for days in range(WEEK + 2):
        day = today + timedelta(days)
        due = datetime.combine(day, TimeOfDay(hour), zone).astimezone(UTC)
        if due > after and weekday in {None, day.weekday()}:
            return due
    raise AssertionError("a week has all weekdays")
