"""The way from a host to the database: a TCP port that carries to it, and that can be made to carry nothing."""

from __future__ import annotations

import socket
import socketserver
import threading
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from django.db import connection


def database_address() -> str | tuple[str, int]:
    """Where the test's database listens: the path of a socket, or host and port."""
    found = connection.get_connection_params()
    host, port = str(found["host"]), int(found.get("port") or 5432)
    return f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, port)


class Cable(socketserver.ThreadingTCPServer):
    """Carries all that comes to an address of this machine to the database, and back.

    Arguments:
        host: the address; the port is any that is free.
    """

    daemon_threads = True

    def __init__(self, host: str) -> None:
        super().__init__((host, 0), _Connection)
        self.carries = threading.Event()
        self.carries.set()
        self.ends: set[socket.socket] = set()

    @property
    def address(self) -> tuple[str, int]:
        host, port = self.socket.getsockname()
        return host, port

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End everything, also the sessions of hosts that are gone without a word."""
        self.shutdown()
        self.carries.set()
        for end in list(self.ends):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self.server_close()


class _Connection(socketserver.BaseRequestHandler):
    server: Cable

    def handle(self) -> None:
        with _connected(database_address()) as database:
            ends = {self.request, database}
            self.server.ends |= ends
            back = threading.Thread(target=self._carry, args=(database, self.request), daemon=True)
            back.start()
            self._carry(self.request, database)
            back.join()
            self.server.ends -= ends

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                self.server.carries.wait()
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def _connected(address: Any) -> socket.socket:
    end = socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET)
    end.connect(address)
    return end
