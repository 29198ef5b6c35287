"""The one PostgreSQL of a run, and a database on it for each that is compared."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

from aicontrol import environment
from aicontrol.embedded.programs import program
from aicontrol.embedded.server import server_for

PREFIX = "benchmark_"  # of its databases
EMPTY = "template0"  # PostgreSQL's own


@dataclass(frozen=True, slots=True)
class Server:
    """A server on which databases can be made.

    Arguments:
        parts: user, password, host (a folder where it is a socket) and port, as libpq calls them.
    """

    parts: Mapping[str, str]

    def connect(self, database: str = "postgres") -> psycopg.Connection:
        return psycopg.connect(**self.parts, dbname=database, autocommit=True)  # type: ignore[arg-type]

    def url(self, database: str) -> str:
        """A database as DATABASE_URL and libpq both take it, unless it is reached by a socket: see `ours`."""
        part = {name: quote(value, safe="") for name, value in self.parts.items()}
        login = part["user"] + (f":{part['password']}" if "password" in part else "")
        place = part["host"] + (f":{part['port']}" if "port" in part else "")
        return f"postgres://{login}@{place}/{database}"

    def ours(self, database: str) -> str:
        """A database as our DATABASE_URL names it."""
        if self.parts["host"].startswith("/"):
            return self.url(database).replace("@", "@/", 1)
        return self.url(database)

    def options(self) -> list[str]:
        """Of PostgreSQL's own programs; a password is in nobody's list of processes."""
        return [
            f"--{'username' if name == 'user' else name}={part}"
            for name, part in self.parts.items()
            if name != "password"
        ]

    def create(self, name: str, template: str = EMPTY) -> str:
        """Make a database, in place of one of this name, as a copy of another that nobody is connected to."""
        self.drop(name)
        with self.connect() as connection:
            words = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
            connection.execute(words.format(sql.Identifier(PREFIX + name), sql.Identifier(_named(template))))
        return PREFIX + name

    def drop(self, name: str) -> None:
        with self.connect() as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(PREFIX + name)))

    def checkpoint(self) -> None:
        """Whoever may has all that was written put on disk now, and not while something is measured."""
        with self.connect() as connection, suppress(psycopg.errors.InsufficientPrivilege):
            connection.execute("CHECKPOINT")

    def drop_all(self) -> None:
        """Drop what this run has made, and what one that was killed has left."""
        with self.connect() as connection:
            names = connection.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [PREFIX])
            left = [name.removeprefix(PREFIX) for (name,) in names]
        for name in left:
            self.drop(name)


def _named(template: str) -> str:
    return template if template == EMPTY else PREFIX + template


@contextmanager
def server() -> Iterator[Server]:
    """The server that DATABASE_URL names, or an embedded one of the benchmark's own."""
    found = _given() if os.environ.get("DATABASE_URL", "embedded:") != "embedded:" else _embedded()
    found.drop_all()
    try:
        yield found
    finally:
        found.drop_all()


def _given() -> Server:
    url = environment.postgres("DATABASE_URL")
    names = {"user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
    return Server({name: str(url[django]) for name, django in names.items() if url.get(django)})


def _embedded() -> Server:
    address = server_for(folder(), durable=environment.switch("AICONTROL_FSYNC", default=True)).address()
    return Server({"user": address.user, "host": address.host})  # its port is libpq's own


def folder() -> Path:
    """Where the benchmark keeps its database, its logs and its results."""
    path = Path(os.environ.get("AICONTROL_DATA") or ".data/bench").resolve()
    path.mkdir(parents=True, exist_ok=True)
    return path


def pgbench() -> str:
    """The load generator of PostgreSQL, which is beside the embedded server."""
    return str(program("pgbench"))
