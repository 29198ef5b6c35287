"""The PostgreSQL of the kill test: a scratch database on it, its crashes, and cut connections.

It is an embedded one of the test's own, which can be restarted, or the one that DATABASE_URL names, which cannot.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg
from psycopg import sql

from aicontrol import environment
from aicontrol.embedded.postmaster import PidFile
from aicontrol.embedded.server import DATABASE, EmbeddedServer
from tests.killtest.plan import Interruption
from tests.killtest.tethered import tethered
from tests.process.running import ROOT

PREFIX = "killtest_"  # of scratch databases
WORKERS = "aicontrol worker%"  # as they and their listeners call themselves in pg_stat_activity

SIGNALS = {
    Interruption.TIDY_RESTART: signal.SIGINT,
    Interruption.IMMEDIATE_RESTART: signal.SIGQUIT,
    Interruption.POSTMASTER_KILLED: signal.SIGKILL,
}


class Server:
    """A scratch database, and power over the server that it is on.

    Arguments:
        folder: of the embedded server.
        given: a server's DATABASE_URL, or empty for an embedded one.
    """

    def __init__(self, folder: Path, given: str) -> None:
        self._folder = folder
        self._embedded = (
            None if given else EmbeddedServer(folder, durable=environment.switch("AICONTROL_FSYNC", default=True))
        )
        self._given = given
        self._database = f"{PREFIX}{secrets.token_hex(6)}"
        self._caretaker = self._take_care() if self._embedded else None
        with self._connected() as connection:
            if self._embedded:
                _drop_what_a_killed_test_has_left(connection)
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(self._database)))

    def _take_care(self) -> subprocess.Popen[str]:
        command = tethered("-m", "tests.killtest.caretaker", str(self._folder))
        # A signal to the test's process group is none to whoever tidies up after it.
        caretaker = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True)
        assert caretaker.stdout
        assert caretaker.stdout.readline(), "the caretaker did not start"
        return caretaker

    @property
    def can_crash(self) -> bool:
        return self._embedded is not None

    def crash(self, how: Interruption) -> None:
        """End the server, and start it again at once."""
        assert self._embedded is not None
        process = PidFile(self._folder / "postgres").pid()
        assert process is not None
        os.kill(process, SIGNALS[how])
        with suppress(ChildProcessError):
            os.waitpid(process, 0)
        while PidFile(self._folder / "postgres").pid() == process:
            time.sleep(0.02)
        self._embedded.address()

    def cut_a_connection(self) -> None:
        """End the server's side of one worker's connection, as an operator or a failing network does."""
        with self._connected(self._database) as connection:
            # A pooler may serve this very query by a session that still has a worker's name.
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name LIKE %s AND datname = %s AND pid <> pg_backend_pid()"
                " ORDER BY random() LIMIT 1",
                [WORKERS, self._database],
            )

    def connections_of_workers(self) -> int:
        """How many there are; behind a connection pooler, which keeps them on purpose, those that are not idle."""
        with self._connected(self._database) as connection:
            idle_too = not _is_pooled(connection)
            row = connection.execute(
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE application_name LIKE %s AND datname = %s AND pid <> pg_backend_pid()"
                " AND (%s OR state <> 'idle')",
                [WORKERS, self._database, idle_too],
            ).fetchone()
        return int(row[0]) if row else 0

    @property
    def url(self) -> str:
        """The scratch database, as DATABASE_URL names it."""
        if self._embedded:
            address = self._embedded.address()
            return f"postgres://{address.user}@/{quote(address.host, safe='')}/{self._database}"
        return self._given_with(self._database)

    def _given_with(self, database: str) -> str:
        return urlunsplit(urlsplit(self._given)._replace(path=f"/{database}"))

    def _connected(self, database: str = "") -> psycopg.Connection:
        """Arguments:
        database: empty for one that is there before the scratch database and after it.
        """
        if not self._embedded:
            url = self._given_with(database) if database else self._given
            return psycopg.connect(url, autocommit=True, prepare_threshold=None)
        address = self._embedded.address()
        return psycopg.connect(
            host=address.host, port=address.port, user=address.user, dbname=database or DATABASE, autocommit=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._connected() as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(self._database)))
        if self._embedded and self._caretaker:
            self._caretaker.terminate()
            self._caretaker.communicate()
            self._embedded.leave()


def _drop_what_a_killed_test_has_left(connection: psycopg.Connection) -> None:
    for (name,) in connection.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [PREFIX]):
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _is_pooled(connection: psycopg.Connection) -> bool:
    """A pooler tells its clients a process of its own making."""
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    return row is not None and row[0] != connection.info.backend_pid
