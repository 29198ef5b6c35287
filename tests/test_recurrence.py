"""When something is due that happens at an hour of the day, in any zone and over any change of its clock."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capture.recurrence import next_time

BERLIN = ZoneInfo("Europe/Berlin")
MONDAY, SUNDAY = 0, 6

# Half an hour's change, changes at midnight, a day left out, and one that has no changes.
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Pacific/Apia"]

MOMENTS = st.integers(1_293_840_000, 1_893_456_000).map(
    lambda seconds: datetime.fromtimestamp(seconds, UTC)
)  # 2011-2029


def at(text: str, zone: str = "UTC") -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))


def test_later_today_or_else_tomorrow():
    assert next_time(at("2026-01-05 04:59"), 6, BERLIN) == at("2026-01-05 05:00")
    assert next_time(at("2026-01-05 05:00"), 6, BERLIN) == at("2026-01-06 05:00")


def test_the_day_is_that_of_the_zone():
    assert next_time(at("2026-01-05 23:30"), 6, ZoneInfo("Asia/Tokyo")) == at("2026-01-06 21:00")


def test_weekly_is_on_one_day_of_the_week():
    assert next_time(at("2026-01-06 12:00"), 6, BERLIN, MONDAY) == at("2026-01-12 05:00")
    assert next_time(at("2026-01-12 04:00"), 6, BERLIN, MONDAY) == at("2026-01-12 05:00")
    assert next_time(at("2026-01-12 05:00"), 6, BERLIN, MONDAY) == at("2026-01-19 05:00")


def test_an_hour_that_is_left_out_is_due_an_hour_later():
    assert next_time(at("2026-03-28 12:00"), 2, BERLIN) == at("2026-03-29 03:00", "Europe/Berlin")


def test_of_an_hour_that_comes_twice_the_first_is_due():
    first = next_time(at("2026-10-24 12:00"), 2, BERLIN)

    assert first == at("2026-10-25 00:00")
    assert next_time(first + timedelta(hours=1), 2, BERLIN) == at("2026-10-26 01:00")


def test_a_day_that_a_zone_leaves_out_is_not_made_up_for():
    apia = ZoneInfo("Pacific/Apia")  # went from 29 to 31 December 2011

    due = next_time(at("2011-12-29 12:00", "Pacific/Apia"), 6, apia)

    assert due.astimezone(apia).date() == date(2011, 12, 31)
    assert next_time(due, 6, apia).astimezone(apia).date() == date(2012, 1, 1)


@pytest.mark.parametrize("zone", ZONES)
@settings(deadline=None)
@given(start=MOMENTS, hour=st.integers(0, 23))
def test_each_day_of_any_zone_has_one(zone, start, hour):
    due = next_time(start, hour, ZoneInfo(zone))
    days = []
    for _ in range(40):
        days.append(due.astimezone(ZoneInfo(zone)).date())
        due = next_time(due, hour, ZoneInfo(zone))

    left_out = zone == "Pacific/Apia" and days[0] < date(2011, 12, 30) <= days[-1]
    assert len(set(days)) == 40
    assert (days[-1] - days[0]).days == 39 + left_out


@settings(deadline=None)
@given(start=MOMENTS, weekday=st.integers(MONDAY, SUNDAY))
def test_each_week_has_one(start, weekday):
    due = next_time(start, 2, BERLIN, weekday)

    assert due.astimezone(BERLIN).weekday() == weekday
    assert due - start <= timedelta(days=7, hours=1)
