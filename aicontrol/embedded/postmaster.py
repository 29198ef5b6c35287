"""What the data folder says about the server process, and whether that is true."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path


class PidFile:
    """``postmaster.pid``: process id, folder, start time, port, socket folder and more, one a line."""

    def __init__(self, cluster: Path) -> None:
        self._cluster = cluster
        self._path = cluster / "postmaster.pid"

    def pid(self) -> int | None:
        """Return the id of the server process of this folder, or None if none is running."""
        with contextlib.suppress(ValueError):
            pid = int(self._line(1))
            if self.is_server(pid):
                return pid
        return None

    def socket_folder(self) -> Path | None:
        """Return where the server that wrote the file made its socket; it need not be running any more."""
        line = self._line(5)
        return Path(line) if line.startswith("/") else None

    def is_server(self, pid: int) -> bool:
        """Return whether this process is alive and a server of this folder, not a later one with the same id."""
        if not sys.platform.startswith("linux"):
            return _exists(pid)
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return False
        return os.fsencode(self._cluster) in command.split(b"\0")

    def disown(self, socket_lock: Path) -> None:
        """Let a server start although a lock file names a live process that is another program, or a zombie.

        After a crash and a restart of the machine or container the id may be somebody else's, and PostgreSQL would
        not start. It takes its parent for no server, so our id is put there. The rest of the file stays: by it
        PostgreSQL looks for surviving children of a crashed server, which must be gone before it starts.

        Arguments:
            socket_lock: the second lock file, which lies beside the socket.
        """
        for path in (self._path, socket_lock):
            with contextlib.suppress(FileNotFoundError, ValueError):
                first, rest = path.read_text().split("\n", 1)
                if _exists(int(first)) and not self.is_server(int(first)):
                    path.write_text(f"{os.getpid()}\n{rest}")

    def _line(self, number: int) -> str:
        try:
            lines = self._path.read_text(errors="surrogateescape").splitlines()
        except OSError:
            return ""
        return lines[number - 1] if len(lines) >= number else ""


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
