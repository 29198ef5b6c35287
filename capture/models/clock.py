"""The one clock: the database's. Hosts disagree about the time, a transaction's `now()` stands still."""

from __future__ import annotations

from datetime import date, datetime
from typing import cast

from django.db import connection
from django.db.models import DateTimeField, Func


class ClockTimestamp(Func):
    """The time of this very moment, for values that are stored."""

    function = "clock_timestamp"
    output_field = DateTimeField()


class StatementTimestamp(Func):
    """The time at which the statement began; being stable, it can be the bound of an index scan."""

    function = "statement_timestamp"
    output_field = DateTimeField()


def database_now() -> datetime:
    """The time of this very moment by the one clock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (now,) = cursor.fetchone()
    return cast("datetime", now)


def database_today() -> date:
    """The day in UTC by the one clock; money is counted by such days."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date")
        (today,) = cursor.fetchone()
    return cast("date", today)
