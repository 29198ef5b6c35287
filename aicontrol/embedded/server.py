"""The embedded PostgreSQL server of one data folder: found running or started, waited for, and stopped.

Any number of processes share a server. It belongs to none of them: it has a session of its own, so that a Ctrl-C or
a closed terminal does not reach it, and outlives the process that started it. The last user to end stops it; a server
that a killed process has left behind is found by the next user.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

from aicontrol.embedded.account import Account, server_account
from aicontrol.embedded.cluster import OWNER, last_lines, make_cluster
from aicontrol.embedded.errors import EmbeddedServerError
from aicontrol.embedded.postmaster import PidFile
from aicontrol.embedded.programs import program
from aicontrol.embedded.sockets import LOCK, PORT, accepts, socket_folder
from aicontrol.embedded.users import Users

START_SECONDS = 60.0  # recovery after a crash is in it
RETRY_SECONDS = 1.0  # how long the children of a crashed server take to notice and end
# Fast shutdown ends all connections and writes a checkpoint; immediate shutdown leaves that to the next start.
STOP_STEPS = ((signal.SIGINT, 30.0), (signal.SIGQUIT, 5.0))
LOG_BYTES = 1_000_000
MAX_CONNECTIONS = 200
DATABASE = "aicontrol"


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server is reached: a folder with its Unix socket, the port in the socket's name, and the user."""

    host: str
    port: int
    user: str


class EmbeddedServer:
    """The server of one data folder, as one process uses it. Thread-safe.

    Arguments:
        folder: absolute, without symbolic links; the database goes in ``postgres`` below it, its log beside that.
        durable: whether a power cut may lose nothing; off for tests.
    """

    def __init__(self, folder: Path, *, durable: bool = True) -> None:
        self._folder = folder
        self._cluster = folder / "postgres"
        self._log = folder / "postgres.log"
        self._durable = durable
        self._pid_file = PidFile(self._cluster)
        self._users = Users(folder)
        self._mutex = threading.Lock()
        self._ended = False

    def address(self) -> Address:
        """Return where the server is, having started it and made the database if need be.

        Raises:
            EmbeddedServerError: it can't be used, for a reason that the message gives.
        """
        with self._mutex:
            if self._ended:
                raise EmbeddedServerError("This process is ending; the embedded PostgreSQL is no longer used.")
            if self._users.sent_away:
                raise EmbeddedServerError("The embedded PostgreSQL was stopped on purpose, with whoever started it.")
            if not (self._users.joined and accepts(self._socket_folder())):
                self._ensure_running()
            return self._address()

    def leave(self) -> None:
        """Use the server no more, and stop it if nobody else uses it. Called when the process ends."""
        with self._mutex:
            self._ended = True
            if self._users.joined:
                with self._users.alone():
                    if self._users.leave():
                        self._stop()

    def shut_down(self) -> None:
        """Stop the server for all its users, who do not start it again; a new process does.

        For whoever has started everything and stops everything: a command in another terminal may still use it.
        """
        with self._mutex:
            self._ended = True
            if self._users.joined:
                with self._users.alone():
                    self._users.send_all_away()
                    self._users.leave()
                    self._stop()

    def forget(self) -> None:
        """Start afresh in a forked child, which must neither hold the parent's lock nor stop its server."""
        self._mutex = threading.Lock()
        self._users.forget()

    def _address(self) -> Address:
        return Address(str(self._socket_folder()), PORT, OWNER)

    def _socket_folder(self) -> Path:
        """Where the running server says that it is: it may have been started with another temporary folder."""
        return self._pid_file.socket_folder() or socket_folder(self._cluster)

    def _ensure_running(self) -> None:
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._users.alone():
                self._users.join()
                if not self._is_up(START_SECONDS):
                    self._start()
                self._make_database()
        except (OSError, psycopg.Error) as error:
            raise EmbeddedServerError(f"The embedded PostgreSQL in {self._folder} can't be used: {error}") from error

    def _is_up(self, seconds: float) -> bool:
        """Return whether a server answers; one that others have started may take a while to."""
        pid = self._pid_file.pid()
        return pid is not None and self._wait_until_up(pid, time.monotonic() + seconds)

    def _start(self) -> None:
        account = server_account(self._cluster)
        make_cluster(self._cluster, account, durable=self._durable)
        account.give(self._cluster)
        deadline = time.monotonic() + START_SECONDS
        said = self._log.stat().st_size if self._log.exists() else 0
        while True:
            self._pid_file.disown(socket_folder(self._cluster) / LOCK)
            pid = self._launch(account)
            if self._wait_until_up(pid, deadline):
                return
            if time.monotonic() + RETRY_SECONDS > deadline or "shared memory block" not in self._log_since(said):
                break
            time.sleep(RETRY_SECONDS)
        raise EmbeddedServerError(
            f"The embedded PostgreSQL did not start: {last_lines(self._log_since(said))} (the whole log: {self._log})"
        )

    def _launch(self, account: Account) -> int:
        """Start the server process in a session of its own, and return its id."""
        flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if self._log_is_long() else os.O_APPEND)
        command = account.command(self._command())
        return os.posix_spawn(
            command[0],
            command,
            {name: value for name, value in os.environ.items() if not name.startswith("PG")},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(self._log), flags, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,
            setsigdef=[signal.SIGPIPE],
            setsigmask=[],
        )

    def _log_is_long(self) -> bool:
        return self._log.exists() and self._log.stat().st_size > LOG_BYTES

    def _command(self) -> list[str]:
        folder = str(socket_folder(self._cluster)).replace('"', '""')
        options = {
            "unix_socket_directories": f'"{folder}"',
            "listen_addresses": "",
            "max_connections": str(MAX_CONNECTIONS),
        }
        if not self._durable:
            options |= {"fsync": "off", "full_page_writes": "off"}  # a killed server still loses nothing
        argv = [str(program("postgres")), "-D", str(self._cluster), "-p", str(PORT)]
        for name, value in options.items():
            argv += ["-c", f"{name}={value}"]
        return argv

    def _wait_until_up(self, pid: int, deadline: float) -> bool:
        """Return True once the server takes connections, and False if the process ends or time is up."""
        while time.monotonic() < deadline:
            if self._takes_connections():
                return True
            if self._has_ended(pid):
                return False
            time.sleep(0.02)
        return False

    def _takes_connections(self) -> bool:
        folder = self._pid_file.socket_folder()
        if folder is None or not accepts(folder):
            return False
        try:
            self._connect("postgres").close()
        except psycopg.OperationalError:
            return False
        return True

    def _has_ended(self, pid: int) -> bool:
        try:
            return os.waitpid(pid, os.WNOHANG)[0] == pid
        except ChildProcessError:
            return not self._pid_file.is_server(pid)

    def _connect(self, database: str) -> psycopg.Connection:
        address = self._address()
        return psycopg.connect(
            host=address.host, port=address.port, user=address.user, dbname=database, connect_timeout=5, autocommit=True
        )

    def _make_database(self) -> None:
        with self._connect("postgres") as connection:
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))

    def _stop(self) -> None:
        pid = self._pid_file.pid()
        if pid is None:
            return
        folder = self._socket_folder()
        for number, seconds in STOP_STEPS:
            os.kill(pid, number)
            if _becomes_true(lambda: self._has_ended(pid), seconds):
                break
        if folder != self._cluster:
            with contextlib.suppress(OSError):
                folder.rmdir()

    def _log_since(self, position: int) -> str:
        """What the server has said since the log had this length, in bytes."""
        text = self._log.read_bytes()
        return text[position if position <= len(text) else 0 :].decode(errors="replace")


def _becomes_true(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


_servers: dict[Path, EmbeddedServer] = {}
_servers_mutex = threading.Lock()


def server_for(folder: Path, *, durable: bool = True) -> EmbeddedServer:
    """Return this process's one server object for a data folder; it leaves the server when the process ends."""
    with _servers_mutex:
        if folder not in _servers:
            _servers[folder] = server = EmbeddedServer(folder, durable=durable)
            atexit.register(server.leave)
        return _servers[folder]


def _after_fork() -> None:
    global _servers_mutex  # noqa: PLW0603  another thread of the parent may have held it
    _servers_mutex = threading.Lock()
    for server in _servers.values():
        server.forget()


os.register_at_fork(after_in_child=_after_fork)
