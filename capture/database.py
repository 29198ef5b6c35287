"""A bound for what the loop has to say to the database.

A server that is frozen, a connection that is half open, or a lock that somebody holds would keep a query for ever, and
with it the loop. Time-outs of the server's own do not help against the first two, and settings of a session do not
pass through a connection pooler. So the connection's socket is shut down from outside: the query ends with an
OperationalError, just as if the server had gone away.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.db import connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper


class Watchdog:
    """Cuts the connection of the thread that made it, when that has asked for it and not taken it back in time."""

    def __init__(self) -> None:
        self._wrapper: BaseDatabaseWrapper = connections["default"]
        self._changed = threading.Condition()
        self._until: float | None = None
        self._closed = False
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    @contextmanager
    def bounded(self, seconds: float) -> Iterator[None]:
        """Cut the connection when what is done within takes longer.

        Raises:
            django.db.Error: what the query in question is ended with.
        """
        self._set(time.monotonic() + seconds)
        try:
            yield
        finally:
            self._set(None)

    def close(self) -> None:
        """End the watching."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _set(self, until: float | None) -> None:
        with self._changed:
            self._until = until
            self._changed.notify()

    def _watch(self) -> None:
        with self._changed:
            while not self._closed:
                left = None if self._until is None else self._until - time.monotonic()
                if left is not None and left <= 0:
                    self._until = None
                    cut(self._wrapper)
                else:
                    self._changed.wait(left)


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """The same for once, with a watchdog of its own.

    Raises:
        django.db.Error: what the query in question is ended with.
    """
    watchdog = Watchdog()
    try:
        with watchdog.bounded(seconds):
            yield
    finally:
        watchdog.close()


def cut(wrapper: BaseDatabaseWrapper) -> None:
    """Shut down the socket of a connection that another thread may be using; its file descriptor stays that one's."""
    session = wrapper.connection
    if session is None:
        return  # it is being made, and that has a time-out of its own
    with suppress(Exception), socket.socket(fileno=os.dup(session.fileno())) as copy:
        copy.shutdown(socket.SHUT_RDWR)


def close() -> None:
    """Let go of this thread's connection, which has failed; the next query opens another."""
    connection.close()
