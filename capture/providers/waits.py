"""How long a system asks to wait, in every form in which the systems say it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, time, timedelta, timezone, tzinfo
from email.utils import parsedate_to_datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from capture.providers.reading import lower_names, text_of

# Longer is as good as a mistake; whoever waits a day asks again.
LONGEST = 86_400.0
# In characters; Google's have some twenty.
_LONGEST_DURATION = 1_000

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
# Durations as the Go language writes them: 174ms, 3.89s, 6m0s, 10h17m5.72s.
_GO_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ns|us|µs|ms|h|m|s)")
_GO_DURATION = r"(?:[0-9]+(?:\.[0-9]+)?(?:ns|us|µs|ms|h|m|s))+"
# 20 seconds, 1 hour and 5 minutes.
_SPELLED_PART = r"([0-9]+(?:\.[0-9]+)?)\s*(milliseconds?|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?)\b"
_SPELLED_WAIT = re.compile(r"\b(?:try again|retry)\s+(?:in|after)\s+(?=[0-9])", re.IGNORECASE)
_SPELLED = re.compile(rf"(?:,?\s*(?:and\s+)?){_SPELLED_PART}", re.IGNORECASE)
_SPELLED_SECONDS = {"mil": 1e-3, "sec": 1.0, "min": 60.0, "hou": 3600.0, "hrs": 3600.0, "hr": 3600.0, "day": 86_400.0}
_IN_MESSAGE = re.compile(rf"\b(?:try again|retry)\s+(?:in|after)\s+({_GO_DURATION})(?![a-z0-9])", re.IGNORECASE)
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


def wait_of(
    headers: Mapping[str, str],
    *,
    message: str = "",
    details: Iterable[Mapping[str, Any]] = (),
    rate_limited: bool = False,
    now: datetime | None = None,
) -> float | None:
    """Seconds to wait, from the first of the forms that says something usable.

    Arguments:
        headers: names in any case.
        message: the error's text.
        details: the `details` of a Google error.
        rate_limited: the response reports a rate limit. Only then do the `x-ratelimit-reset-*` headers mean anything:
            every good response carries them too.
        now: for a date in `retry-after`; by default the response's own `date`, or else our clock.

    Returns:
        None when nothing is said; never negative, never more than `LONGEST`.
    """
    headers = lower_names(headers)
    wait = wait_in_headers(headers, now)
    if wait is None:
        wait = _retry_info(details)
    if wait is None:
        wait = _wait_in_message(message)
    if wait is None and rate_limited:
        wait = _reset_of_limits(headers)
    return wait


def wait_in_headers(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds by `retry-after-ms` or `retry-after`; names in lower case."""
    wait = milliseconds(headers.get("retry-after-ms", ""))
    if wait is not None:
        return wait
    text = headers.get("retry-after", "")
    wait = _seconds(text)
    return wait if wait is not None else _until(text, now or server_time(headers))


def server_time(headers: Mapping[str, str]) -> datetime:
    """The time by the clock of whoever sent a response, or else by ours; names in lower case."""
    return _date(headers.get("date", "")) or datetime.now(UTC)


def until_midnight_pacific(now: datetime) -> float:
    """Seconds until the next midnight in California, where Google's daily quotas begin anew.

    Arguments:
        now: aware.
    """
    local = now.astimezone(_pacific())
    midnight = datetime.combine(local.date() + timedelta(days=1), time.min, local.tzinfo)
    return min((midnight.astimezone(UTC) - now).total_seconds(), LONGEST)


def _pacific() -> tzinfo:
    try:
        return ZoneInfo("America/Los_Angeles")
    except ZoneInfoNotFoundError:
        # A machine without time zones: winter time, which in summer is an hour late and never early.
        return timezone(timedelta(hours=-8))


def milliseconds(text: str) -> float | None:
    """Seconds by a header that counts milliseconds."""
    return _seconds(text, 1e-3)


def go_duration(text: str) -> float | None:
    """Seconds by a Go duration such as `6m0s`."""
    text = text.strip().lower()
    if len(text) > _LONGEST_DURATION or not re.fullmatch(_GO_DURATION, text):
        return None
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in _GO_PART.findall(text))
    # Cut where binary fractions begin to show; infinity stays what it is and is capped.
    return min(round(seconds, 9) if seconds < LONGEST else seconds, LONGEST)


def _seconds(text: str, unit: float = 1.0) -> float | None:
    text = text.strip()
    # Not by float() alone, which also takes "nan", "infinity", "-1" and "1_000".
    return min(float(text) * unit, LONGEST) if _NUMBER.fullmatch(text) else None


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _until(text: str, now: datetime) -> float | None:
    date = _date(text)
    if date is None:
        return None
    seconds = (date - now).total_seconds()
    # A date in the past says more about the clocks than about the wait.
    return min(seconds, LONGEST) if seconds >= 0 else None


def _retry_info(details: Iterable[Mapping[str, Any]]) -> float | None:
    # https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto
    for detail in details:
        if text_of(detail, "@type").endswith("RetryInfo"):
            return go_duration(text_of(detail, "retryDelay"))
    return None


def _wait_in_message(message: str) -> float | None:
    if found := _IN_MESSAGE.search(message):
        return go_duration(found.group(1))
    return next(filter(None, (_spelled(message, found.end()) for found in _SPELLED_WAIT.finditer(message))), None)


def _spelled(message: str, start: int) -> float | None:
    """Seconds by the units that are spelled out from a place on, such as `2 minutes and 5 seconds`."""
    seconds, found = None, _SPELLED.match(message, start)
    while found:
        seconds = (seconds or 0.0) + float(found.group(1)) * _SPELLED_SECONDS[found.group(2)[:3].lower()]
        found = _SPELLED.match(message, found.end())
    return None if seconds is None else min(seconds, LONGEST)


def _reset_of_limits(headers: Mapping[str, str]) -> float | None:
    """Seconds until the used-up limit is whole again, or the slowest of them when none is said to be used up."""
    resets = {name: _reset(headers.get(f"x-ratelimit-reset-{name}", "")) for name in ("requests", "tokens")}
    known = {name: wait for name, wait in resets.items() if wait}
    used_up = [wait for name, wait in known.items() if headers.get(f"x-ratelimit-remaining-{name}", "").strip() == "0"]
    return max(used_up or known.values(), default=None)


def _reset(text: str) -> float | None:
    # Azure sends a plain 0, which says nothing.
    wait = go_duration(text)
    return wait if wait is not None else _seconds(text)
