"""Times and spans as people read them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from capture.reports.times import clock, span


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-1, "0 s"),
        (7.9, "7 s"),
        (119, "119 s"),
        (120, "2 min"),
        (4_500, "75 min"),
        (7_200, "2 h"),
        (12_000, "3 h 20 min"),
        (172_800, "2 d"),
        (180_000, "2 d 2 h"),
    ],
)
def test_a_span_is_as_exact_as_anybody_needs_it(seconds, words):
    assert span(seconds) == words


def today(hour: int, minute: int, **more: int) -> datetime:
    return timezone.now().replace(hour=hour, minute=minute, second=0, microsecond=0) + timedelta(**more)


def test_what_is_said_to_come_has_not_passed():
    assert clock(today(12, 5)) == "12:05 UTC"
    assert clock(today(12, 5, microseconds=1)) == "12:06 UTC"


def test_the_zone_is_that_of_whoever_reads():
    with timezone.override("Asia/Kathmandu"):
        assert "17:50 +0545" in clock(today(12, 5))


def test_another_day_is_named():
    assert clock(datetime(2020, 2, 29, 23, 59, 30, tzinfo=UTC)) == "00:00 UTC, 1 March"
