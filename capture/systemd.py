"""What systemd is told of a worker, over its notification socket; without one, nothing.

The protocol is that of sd_notify(3): lines of NAME=value in one datagram. Nothing here waits for anybody, and no error
of it keeps the worker from its work; a word that gets lost is said again with the next.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import MutableMapping
from contextlib import suppress

OFTEN = 5.0  # seconds between words on how it goes, at most


class ServiceManager:
    """The one who started this process, if that is systemd.

    Arguments:
        environment: where NOTIFY_SOCKET and WATCHDOG_USEC are; they are taken out, as they are for no child process.
    """

    def __init__(self, environment: MutableMapping[str, str] | None = None) -> None:
        environment = os.environ if environment is None else environment
        self._socket = _connected(environment.pop("NOTIFY_SOCKET", ""))
        self._feeding = _half_of_the_watchdog(environment)
        self._pause = min(self._feeding or OFTEN, OFTEN)
        self._ready = self._stopping = False
        self._next = 0.0

    def turned(self, status: str) -> None:
        """The loop has turned, which is all that feeds the watchdog; the first time, the service is ready.

        Arguments:
            status: how it goes, in one line, for `systemctl status`.
        """
        if self._socket is None or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + self._pause
        self._tell(*([] if self._ready else ["READY=1"]), "WATCHDOG=1", f"STATUS={status}")
        self._ready = True

    def until_due(self) -> float | None:
        """Seconds until the watchdog has to be fed, or None without one."""
        return None if self._socket is None or self._feeding is None else self._next - time.monotonic()

    def stopping(self, status: str) -> None:
        """The service ends, by itself or because it was told to."""
        if not self._stopping:
            self._tell("STOPPING=1", f"STATUS={status}")
        self._stopping = True

    def close(self) -> None:
        """Let go of the socket."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _tell(self, *lines: str) -> None:
        if self._socket is not None:
            with suppress(OSError):
                self._socket.send("\n".join(lines).encode())


def _connected(address: str) -> socket.socket | None:
    if not address.startswith(("/", "@")):
        return None
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK)
    try:
        channel.connect("\0" + address[1:] if address.startswith("@") else address)
    except OSError:
        channel.close()
        return None
    return channel


def _half_of_the_watchdog(environment: MutableMapping[str, str]) -> float | None:
    """Most seconds between feedings: half of what the watchdog waits, as sd_watchdog_enabled(3) advises.

    None where it is off, or meant for another process.
    """
    microseconds, process = environment.pop("WATCHDOG_USEC", ""), environment.pop("WATCHDOG_PID", "")
    if not microseconds.isdecimal() or process not in {"", str(os.getpid())}:
        return None
    return int(microseconds) / 1_000_000 / 2
