"""One deadline over everything that an HTTP exchange does on its socket.

The HTTP library limits each read on its own, so a server that trickles a byte now and then could hold a thread for
ever. Here every read and write gets only what is left of the exchange's time.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from ssl import SSLContext
from typing import Any

import httpcore


class Deadline(threading.local):
    """When the exchange that this thread is carrying must be over. Each thread has its own."""

    until: float = math.inf

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Bound everything in the block to so many seconds from now."""
        self.until = time.monotonic() + seconds
        try:
            yield
        finally:
            self.until = math.inf

    def left(self, timeout: float | None) -> float | None:
        """What one operation may take.

        Arguments:
            timeout: seconds that the operation was given, or None for no limit of its own.

        Returns:
            seconds, None for no limit, or 0 when the time is up.
        """
        if self.until == math.inf:
            return timeout
        remaining = max(self.until - time.monotonic(), 0.0)
        return remaining if timeout is None else min(timeout, remaining)


class DeadlineStream(httpcore.NetworkStream):
    """A connection whose reads and writes end with the deadline of the thread that uses it."""

    def __init__(self, inner: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._inner = inner
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        left = self._deadline.left(timeout)
        # A socket takes 0 for "do not block", which is not what is meant.
        if left == 0:
            raise httpcore.ReadTimeout
        return self._inner.read(max_bytes, left)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        left = self._deadline.left(timeout)
        if left == 0:
            raise httpcore.WriteTimeout
        self._inner.write(buffer, left)

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = self._deadline.left(timeout)
        if left == 0:
            raise httpcore.ConnectTimeout
        return DeadlineStream(self._inner.start_tls(ssl_context, server_hostname, left), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class DeadlineBackend(httpcore.SyncBackend):
    """Opens connections that obey the deadline.

    Looking up a name has no limit but the system's resolver, and each address of a host is tried with a limit of its
    own: the rare exchange that overruns because of that is for the worker to notice.
    """

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        left = self._deadline.left(timeout)
        if left == 0:
            raise httpcore.ConnectTimeout
        stream = super().connect_tcp(host, port, left, local_address, socket_options)
        return DeadlineStream(stream, self._deadline)
