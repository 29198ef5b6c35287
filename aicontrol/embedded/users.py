"""Who uses the embedded server: file locks, which end with their process however that ends.

Two files in the data folder. Whoever starts or stops the server holds ``postgres.start.lock`` alone. Each process that
has used it holds ``postgres.lock`` together with the others until it ends; one that can have that alone is the last.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from aicontrol.embedded.errors import EmbeddedServerError


class Users:
    """The users of one server, as seen by one process.

    `join` and `leave` are for the holder of `alone()`.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "postgres.lock"
        self._start_path = folder / "postgres.start.lock"
        self._sent_away_path = folder / "postgres.stopped"
        self._held: int | None = None
        self._since = ""

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the right to start and stop the server. Waits for others who are starting or stopping it."""
        descriptor = _open(self._start_path)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def join(self) -> None:
        """Be a user from now on; repeating it changes nothing."""
        if self._held is None:
            self._held = _open(self._path)
            fcntl.flock(self._held, fcntl.LOCK_SH)
            self._since = self._last_sent_away()

    def leave(self) -> bool:
        """Stop being a user. Return whether this process was one, and the last."""
        if self._held is None:
            return False
        descriptor, self._held = self._held, None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(descriptor)
        return True

    def send_all_away(self) -> None:
        """Tell all that are users now that the server is stopped on purpose."""
        self._sent_away_path.write_text(str(time.time_ns()))

    @property
    def sent_away(self) -> bool:
        """Whether the server was stopped on purpose since this process became a user."""
        return self.joined and self._since != self._last_sent_away()

    def _last_sent_away(self) -> str:
        try:
            return self._sent_away_path.read_text()
        except FileNotFoundError:
            return ""

    @property
    def joined(self) -> bool:
        """Whether this process is a user."""
        return self._held is not None

    def forget(self) -> None:
        """Give up what a fork has inherited: the lock stays with the parent, whose it is."""
        if self._held is not None:
            os.close(self._held)
            self._held = None


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except PermissionError as error:
        raise EmbeddedServerError(
            f"{path} belongs to another account. Run this as that account, or set AICONTROL_DATA to a folder of yours, "
            "or set DATABASE_URL."
        ) from error
