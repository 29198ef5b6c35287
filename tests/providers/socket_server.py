"""A server of bare sockets that can misbehave in ways in which no web framework lets one."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Behaviour = Callable[["Connection"], None]


class Connection:
    """One accepted connection, seen from the server."""

    def __init__(self, peer: socket.socket, stop: threading.Event) -> None:
        self.peer = peer
        self.stop = stop

    def read_request(self) -> bytes:
        """One whole request, or nothing when the client has gone."""
        received = b""
        while b"\r\n\r\n" not in received:
            piece = self.peer.recv(65_536)
            if not piece:
                return b""
            received += piece
        head, _, body = received.partition(b"\r\n\r\n")
        length = next(
            (int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
        )
        while len(body) < length:
            body += self.peer.recv(65_536)
        return head + b"\r\n\r\n" + body

    def send(self, data: bytes) -> None:
        self.peer.sendall(data)

    def respond(self, body: bytes, status: str = "200 OK", headers: str = "") -> None:
        self.send(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{headers}\r\n".encode() + body)

    def trickle(self, data: bytes, pause: float) -> None:
        """Send byte by byte until all is sent or the test is over."""
        for byte in data:
            if self.stop.wait(pause):
                return
            self.send(bytes([byte]))

    def stay_silent(self) -> None:
        """Keep the connection open and say nothing until the test is over."""
        self.stop.wait(30)

    def reset(self) -> None:
        """Close with RST instead of FIN."""
        self.peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.peer.close()


class SocketServer:
    """Accepts connections and does to each what the test says; counts them and keeps their requests."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._behaviour = behaviour
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._stop = threading.Event()
        self._peers: list[tuple[socket.socket, threading.Thread]] = []
        self._acceptor = threading.Thread(target=self._accept)
        self.connections = 0
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def open(self) -> None:
        self._acceptor.start()

    def _accept(self) -> None:
        while True:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            thread = threading.Thread(target=self._attend, args=(peer,))
            thread.start()
            self._peers.append((peer, thread))

    def _attend(self, peer: socket.socket) -> None:
        with peer:
            peer.settimeout(30)
            try:
                self._behaviour(Connection(peer, self._stop))
            except OSError:
                return  # the client has gone, as it may

    def close(self) -> None:
        self._stop.set()
        # On Linux closing alone does not wake accept(), nor recv().
        self._listener.shutdown(socket.SHUT_RDWR)
        self._acceptor.join(10)
        self._listener.close()
        for peer, thread in self._peers:
            with suppress(OSError):
                peer.shutdown(socket.SHUT_RDWR)
            thread.join(10)


@contextmanager
def serving(behaviour: Behaviour) -> Iterator[SocketServer]:
    server = SocketServer(behaviour)
    server.open()
    try:
        yield server
    finally:
        server.close()


def unused_url() -> str:
    """An address at which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


def seconds_since(began: float) -> float:
    return time.monotonic() - began
