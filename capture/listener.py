"""Hears the queue's NOTIFY and wakes the loop: a thread with a connection of its own, and no Django.

All of it is a hint. While the listener has no connection, or hangs on one that is dead, polling does the work.
"""

from __future__ import annotations

import logging
import select
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from random import Random
from typing import Any

import psycopg
from psycopg import sql
from psycopg.pq.abc import PGconn

log = logging.getLogger(__name__)

Parameters = Callable[[], Mapping[str, Any]]

QUIET = 30.0  # seconds without a word after which the server is asked whether it is there, and then given up
BREATH = 0.02  # seconds after a wake-up in which others are gathered into one, so that a burst does not make many
SHORTEST_PAUSE, LONGEST_PAUSE = 1.0, 15.0  # seconds between tries to connect, before jitter
GOODBYE = 1.0  # seconds that the end waits for the thread, which may be connecting


class Listener:
    """Listens on one channel, for as long as it is not closed.

    Arguments:
        parameters: what psycopg connects with, asked anew at each try.
        channel: the name after LISTEN.
        wake: called in the listener's thread when there was a NOTIFY, and whenever one may have been missed.
        direct: somebody vouches that there is no connection pooler in between.
    """

    def __init__(
        self,
        parameters: Parameters,
        channel: str,
        wake: Callable[[], None],
        *,
        direct: bool = False,
        quiet: float = QUIET,
        random: Random | None = None,
    ) -> None:
        self._parameters = parameters
        self._channel = channel
        self._wake = wake
        self._direct = direct
        self._quiet = quiet
        self._random = random or Random()  # noqa: S311  jitter, not secrets
        self._pause = SHORTEST_PAUSE
        self._silent = False
        self._closed = False
        self._closing, self._closer = socket.socketpair()
        self._thread = threading.Thread(target=self._run, name="listener", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Let go of the connection, now; a try to connect is left to itself."""
        self._closed = True
        self._closer.close()
        self._thread.join(GOODBYE)

    def _run(self) -> None:
        with self._closing:
            while not self._closed:
                try:
                    if not self._listen():
                        return
                except (psycopg.Error, OSError) as error:
                    self._tell_of(error)
                self._wait(self._pause * self._random.uniform(0.5, 1.0))
                self._pause = min(2 * self._pause, LONGEST_PAUSE)

    def _listen(self) -> bool:
        """Connect and hear what comes; says whether it is worth another try."""
        with closing(psycopg.connect(**self._parameters(), autocommit=True)) as session:
            if not self._direct and _is_pooled(session):
                log.warning(
                    "LISTEN does not pass a connection pooler: CAPTURE_LISTEN should be the database's own address, "
                    "or off. Until then only polling finds new jobs"
                )
                return False
            session.execute(sql.SQL("LISTEN {}").format(sql.Identifier(self._channel)))
            log.info("listening for new jobs")
            self._pause, self._silent = SHORTEST_PAUSE, False
            self._wake()
            self._hear(session.pgconn)
        return not self._closed

    def _hear(self, server: PGconn) -> None:
        """Wake the loop at each NOTIFY.

        After a long silence a question is sent along; keepalives do not notice a proxy that only seems to be there.

        Raises:
            psycopg.Error: the connection is gone.
        """
        asked = False
        while not self._closed:
            if self._wait(self._quiet, server.socket):
                asked = False
                if _was_notified(server):
                    self._wake()
                    self._wait(BREATH)
            elif asked:
                raise psycopg.OperationalError("the server does not answer any more")
            elif not self._closed:
                server.send_query(b"SELECT 1")
                server.flush()
                asked = True

    def _wait(self, seconds: float, server: int | None = None) -> bool:
        """Wait until the server says something, but not beyond the closing; says whether it did."""
        waiting = select.poll()
        waiting.register(self._closing, select.POLLIN)
        if server is not None:
            waiting.register(server, select.POLLIN)
        ready = [descriptor for descriptor, _ in waiting.poll(1000 * seconds)]
        return server in ready

    def _tell_of(self, error: Exception) -> None:
        """Once, and not at each try."""
        if not self._silent and not self._closed:
            reason = str(error).strip().split("\n")[0]
            log.warning("new jobs are found by polling only: there is no listening now (%s)", reason)
        self._silent = True


def _is_pooled(session: psycopg.Connection[Any]) -> bool:
    """A pooler tells its clients a process of its own making."""
    row = session.execute("SELECT pg_backend_pid()").fetchone()
    return row is not None and row[0] != session.info.backend_pid


def _was_notified(server: PGconn) -> bool:
    """Take in all that has come: the answer to a question, and notifications."""
    server.consume_input()
    while not server.is_busy() and server.get_result():
        pass
    notified = False
    while server.notifies():
        notified = True
    return notified
