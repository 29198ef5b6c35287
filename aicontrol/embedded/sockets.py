"""Where the embedded server's Unix socket is."""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import stat
import tempfile
from pathlib import Path

from aicontrol.embedded.errors import EmbeddedServerError

PORT = 5432  # only a part of the socket's name: the server listens on no address
SOCKET = f".s.PGSQL.{PORT}"
LOCK = SOCKET + ".lock"
LONGEST = 100  # bytes; the system's limit is 107 on Linux and 103 on macOS


def socket_folder(cluster: Path) -> Path:
    """Return a private folder whose socket path is short enough, and make it if need be.

    The data folder itself is private (0700) and serves where its path is short. libpq takes a comma in a host for the
    start of a second host.

    Raises:
        EmbeddedServerError: somebody else has put something in the place of the folder.
    """
    if _fits(cluster):
        return cluster
    name = f"aicontrol-{os.geteuid()}-{hashlib.sha256(os.fsencode(cluster)).hexdigest()[:16]}"
    folder = next((path for base in (tempfile.gettempdir(), "/tmp") if _fits(path := Path(base) / name)), None)  # noqa: S108  made safely below
    if folder is None:
        raise EmbeddedServerError(f"No folder has a path short enough for the socket of the database in {cluster}.")
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    _require_private(folder)
    return folder


def _fits(folder: Path) -> bool:
    path = os.fsencode(folder / SOCKET)
    return len(path) <= LONGEST and b"," not in path


def _require_private(folder: Path) -> None:
    """Temporary folders are everybody's: take one only if it is a real folder, ours, and closed to others."""
    status = folder.lstat()
    if stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and status.st_mode & 0o077 == 0:
        return
    raise EmbeddedServerError(f"{folder} is in the way: it is not a private folder of this account. Remove it.")


def accepts(folder: Path) -> bool:
    """Return whether a server accepts connections in this folder. It may still be recovering from a crash."""
    probe = socket.socket(socket.AF_UNIX)
    with probe:
        probe.settimeout(5)
        try:
            probe.connect(str(folder / SOCKET))
        except OSError:
            return False
    return True
