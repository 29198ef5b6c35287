"""Sockets: reads one request at a time from a connection, hands it to the app, sends the reply as badly as told.

One daemon thread a connection, HTTP/1.1 with keep-alive. A head and its body go out in one write: two
writes would meet Nagle's algorithm and delayed acknowledgements, and cost 40 ms an exchange.
"""

import contextlib
import logging
import socket
import socketserver
import struct
import sys
import threading
from http.client import responses
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from simulator.app import App
from simulator.exchange import Reply, Request, json_reply

log = logging.getLogger("simulator")

MOST_BYTES = 20_000_000
TRICKLES_PER_S = 20


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 512

    app: App
    """Set once the port is ours and before `serve_forever`."""

    def __init__(self, host: str, port: int) -> None:
        self._connections: set[socket.socket] = set()
        self._connections_lock = threading.Lock()
        super().__init__((host, port), Handler)

    @property
    def url(self) -> str:
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}"

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        with self._connections_lock:
            self._connections.add(connection)
        return connection, address

    def close_request(self, request: Any) -> None:
        with self._connections_lock:
            self._connections.discard(request)
        super().close_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is everyday business here; anything else is a mistake of ours."""
        if not isinstance(sys.exception(), ConnectionError):
            log.exception("error while serving %s", client_address)

    def stop(self) -> None:
        """Ends sleeping exchanges and idle connections too, so that nothing is left to wait for."""
        self.shutdown()
        self.app.close()
        with self._connections_lock:
            for connection in self._connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def do_GET(self) -> None:
        self._exchange()

    def do_POST(self) -> None:
        self._exchange()

    def do_DELETE(self) -> None:
        self._exchange()

    def _exchange(self) -> None:
        body = self._read_body()
        if isinstance(body, Reply):
            self.close_connection = True
            self._send(body)
        else:
            self._send(self.server.app.handle(self._request(body)))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base class's name
        """Quiet: what matters is logged by the app."""

    def _request(self, body: bytes) -> Request:
        parts = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        return Request(self.command, unquote(parts.path), parse_qs(parts.query, keep_blank_values=True), headers, body)

    def _read_body(self) -> bytes | Reply:
        if "transfer-encoding" in self.headers:
            return json_reply({"error": "send a content-length"}, 411)
        length = self.headers.get("content-length", "0")
        if not length.isdecimal():
            return json_reply({"error": "bad content-length"}, 400)
        if int(length) > MOST_BYTES:
            return json_reply({"error": "body too large"}, 413)
        return self.rfile.read(int(length))

    def _send(self, reply: Reply) -> None:
        if reply.reset:
            self._reset()
        elif reply.cut_at is not None and reply.cut_at < len(reply.body):
            self.close_connection = True
            self.connection.sendall(self._head(reply) + reply.body[: reply.cut_at])
        elif reply.bytes_per_s:
            self._trickle(reply, reply.bytes_per_s)
        else:
            self.connection.sendall(self._head(reply) + reply.body)

    def _head(self, reply: Reply) -> bytes:
        headers = {"date": self.date_time_string(), "content-length": str(len(reply.body)), **reply.headers}
        if self.close_connection:
            headers["connection"] = "close"
        lines = [
            f"HTTP/1.1 {reply.status} {responses.get(reply.status, '')}",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", errors="replace")

    def _trickle(self, reply: Reply, bytes_per_s: float) -> None:
        step = max(1, int(bytes_per_s / TRICKLES_PER_S))
        self.connection.sendall(self._head(reply))
        for start in range(0, len(reply.body), step):
            piece = reply.body[start : start + step]
            self.server.app.clock.sleep(len(piece) / bytes_per_s)
            self.connection.sendall(piece)

    def _reset(self) -> None:
        """Closing with a zero linger sends RST, and must come before the server's tidy shutdown."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
