"""A proxy on the way to the database that can swallow what passes, and still seem to be there."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.db import connection


class Link:
    """One connection through the proxy."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self._ends = client, server
        self.swallows = False
        for source, sink in ((client, server), (server, client)):
            threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                if not self.swallows:
                    sink.sendall(data)
            sink.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


class Proxy:
    """Passes TCP on to the database's Unix socket."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._links: list[Link] = []
        self._swallows_all = False
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._door.getsockname()[1])
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._door.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._target)
                link = Link(client, server)
                link.swallows = self._swallows_all
                self._links.append(link)

    def swallow(self) -> None:
        """From now on nothing passes through the connections that are there; new ones are made as before."""
        for link in self._links:
            link.swallows = True

    def swallow_all(self) -> None:
        """From now on nothing passes, through new connections either."""
        self._swallows_all = True
        self.swallow()

    @property
    def connections(self) -> int:
        """How many there were so far."""
        return len(self._links)

    def close(self) -> None:
        with suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        for link in self._links:
            link.close()


@contextmanager
def proxy() -> Iterator[Proxy]:
    """A proxy before the test's database."""
    parameters = connection.get_connection_params()
    running = Proxy(f"{parameters['host']}/.s.PGSQL.{parameters.get('port') or 5432}")
    try:
        yield running
    finally:
        running.close()
