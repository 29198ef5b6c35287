"""A session that hears what workers are woken by."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db import connection

from capture.notifications import CHANNEL

END = "end_of_test"
PATIENCE = 30.0  # seconds; only a failure waits for so long


class Ear:
    """Counts the notifications of this test's database."""

    def __init__(self, session: psycopg.Connection[Any]) -> None:
        self._session = session
        session.execute(f"LISTEN {CHANNEL}")
        session.execute(f"LISTEN {END}")

    def count(self) -> int:
        """How many have come since the last time; one more, which is sent for that, says that these are all."""
        self._session.execute(f"NOTIFY {END}")
        for heard, notification in enumerate(self._session.notifies(timeout=PATIENCE)):
            if notification.channel == END:
                return heard
        raise AssertionError("the end was not heard")


@contextmanager
def an_ear() -> Iterator[Ear]:
    """Needs a database whose transactions are committed."""
    connection.ensure_connection()
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as session:
        yield Ear(session)
