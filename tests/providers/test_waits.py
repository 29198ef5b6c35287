"""Waits are read in every form in which they are said, and only if they can be meant."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfoNotFoundError

import pytest

from capture.providers import waits
from capture.providers.waits import LONGEST, go_duration, until_midnight_pacific, wait_of

NOON = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC)
RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.4s"}


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after-ms": "1500"}, 1.5),
        ({"Retry-After-Ms": "0", "Retry-After": "1"}, 0.0),
        ({"retry-after-ms": "soon", "retry-after": "1"}, 1.0),
        ({"retry-after": "20"}, 20.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after": "Sun, 29 Nov 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Sun, 29 Nov 2026 12:00:30 -0000"}, 30.0),
        ({"retry-after": "Sun, 29 Nov 2026 11:59:00 GMT"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e3"}, None),
        ({"retry-after": "1_000"}, None),
        ({"retry-after": "٣"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "next week"}, None),
        ({"retry-after": "99999999999"}, LONGEST),
        ({"retry-after": "9" * 400}, LONGEST),
        ({"retry-after": "Sun, 29 Nov 2099 12:00:00 GMT"}, LONGEST),
        ({}, None),
    ],
)
def test_a_wait_is_read_from_the_retry_after_headers(headers, wait):
    assert wait_of(headers, now=NOON) == wait


def test_a_date_is_counted_from_the_servers_own_clock():
    headers = {"retry-after": "Sun, 01 Jan 2006 10:00:09 GMT", "date": "Sun, 01 Jan 2006 10:00:00 GMT"}

    assert wait_of(headers) == 9.0


@pytest.mark.parametrize(
    ("message", "wait"),
    [
        ("Limit 30000, Used 18928. Please try again in 174ms. Visit https://example.com.", 0.174),
        ("Please try again in 3.89s.", 3.89),
        ("Please try again in 6m0s.", 360.0),
        ("Please retry in 48.939935699s.", 48.939935699),
        ("Please retry in 10h17m5.723541104s.", 37025.723541104),
        ("Retry after 2s", 2.0),
        ("try again in 999h", LONGEST),
        ("Please try again in 5months.", None),
        ("Please try again later.", None),
        ("Please try again in -3s.", None),
    ],
)
def test_a_wait_is_read_from_the_message(message, wait):
    assert wait_of({}, message=message) == (pytest.approx(wait) if wait else None)


def test_a_wait_is_read_from_googles_retry_info():
    assert wait_of({}, details=[{"@type": "x.ErrorInfo"}, RETRY_INFO], message="Please retry in 99s.") == 34.4


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"x-ratelimit-reset-requests": "12ms", "x-ratelimit-reset-tokens": "6m0s"}, 360.0),
        (
            {
                "x-ratelimit-reset-requests": "1s",
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-tokens": "6m0s",
                "x-ratelimit-remaining-tokens": "900",
            },
            1.0,
        ),
        ({"x-ratelimit-reset-tokens": "0", "x-ratelimit-renewalperiod-tokens": "60"}, None),
        ({"x-ratelimit-reset-tokens": "soon"}, None),
    ],
)
def test_a_wait_is_read_from_the_reset_of_the_limits(headers, wait):
    assert wait_of(headers, rate_limited=True) == wait


def test_the_reset_of_the_limits_says_nothing_about_other_errors():
    assert wait_of({"x-ratelimit-reset-tokens": "12ms"}) is None


def test_the_headers_go_before_the_message():
    assert wait_of({"retry-after": "1"}, message="Please try again in 30s.") == 1.0


@pytest.mark.parametrize("text", ["", "s", "1", "1s2", "1d", "-1s", "1.s", "nans"])
def test_what_is_no_go_duration_is_none(text):
    assert go_duration(text) is None


@pytest.mark.parametrize(
    ("now", "hours"),
    [
        (datetime(2026, 11, 30, 7, 0, tzinfo=UTC), 1),  # winter: eight hours behind
        (datetime(2026, 7, 1, 7, 0, tzinfo=UTC), 24),  # summer: seven hours behind
        (datetime(2026, 7, 1, 6, 59, 59, tzinfo=UTC), 1 / 3600),
        (datetime(2026, 3, 8, 9, 0, tzinfo=UTC), 22),  # the night in which the clocks go forward
        (datetime(2026, 11, 1, 7, 30, tzinfo=UTC), 24),  # the day has 25 hours; never more than a day
    ],
)
def test_midnight_in_california_is_found_in_summer_and_winter(now, hours):
    assert until_midnight_pacific(now) == pytest.approx(hours * 3600)


def test_a_machine_without_time_zones_waits_an_hour_too_long_at_most(monkeypatch):
    def missing(name):
        raise ZoneInfoNotFoundError(name)

    monkeypatch.setattr(waits, "ZoneInfo", missing)

    assert until_midnight_pacific(datetime(2026, 7, 1, 6, 0, tzinfo=UTC)) == 2 * 3600


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("Please retry after 20 seconds.", 20),
        ("Please try again in 1 second.", 1),
        ("Try again in 2 minutes", 120),
        ("retry after 1.5 hours", 5400),
        ("try again in 1 minute and 30 seconds", 90),
        ("try again in 2 mins, 5 secs", 125),
        ("try again in 500 milliseconds", 0.5),
        ("try again in 3 days", LONGEST),
        (f"try again in {'9' * 400} hours", LONGEST),
        ("Try again in a moment, or retry after 20 seconds", 20),
        ("try again in 2 months", None),
    ],
)
def test_a_wait_in_words_is_read(message, seconds):
    assert wait_of({}, message=message) == seconds
