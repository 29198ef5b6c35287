"""Stands in for systemd at the other end of a real notification socket."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PATIENCE = 60.0  # seconds; only a failure waits for so long


class Notifications:
    """What a service says, in the order in which it says it: one dictionary a datagram."""

    def __init__(self, address: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind("\0" + address[1:] if address.startswith("@") else address)

    def next(self, within: float = PATIENCE) -> dict[str, str]:
        """What is said next.

        Raises:
            TimeoutError: nothing is, for so many seconds.
        """
        self._socket.settimeout(within)
        lines = self._socket.recv(4096).decode().split("\n")
        return dict(line.split("=", 1) for line in lines)

    def until(self, name: str, words: str = "") -> dict[str, str]:
        """Pass over what is said until a variable is, with these words in it."""
        deadline = time.monotonic() + PATIENCE
        while True:
            said = self.next(deadline - time.monotonic())
            if words in said.get(name, "\0"):
                return said

    def forget(self) -> None:
        """Pass over what was said so far."""
        self._socket.setblocking(False)
        with suppress(BlockingIOError):
            while True:
                self._socket.recv(4096)

    def close(self) -> None:
        self._socket.close()


@contextmanager
def notifications(address: Path | str) -> Iterator[Notifications]:
    heard = Notifications(str(address))
    try:
        yield heard
    finally:
        heard.close()
