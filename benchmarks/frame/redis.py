"""A Redis of the benchmark's own for the peers that need one: Debian's, on a socket, with its usual settings."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.frame.tethered import tethered

PROGRAM = "redis-server"
PATIENCE = 10.0  # seconds


def is_there() -> bool:
    return shutil.which(PROGRAM) is not None


@contextmanager
def redis() -> Iterator[str]:
    """The path of its socket."""
    with TemporaryDirectory() as folder:
        socket = Path(folder) / "redis.sock"
        command = [shutil.which(PROGRAM) or PROGRAM, "--port", "0", "--unixsocket", str(socket), "--dir", folder]
        with subprocess.Popen(tethered(command), stdout=subprocess.DEVNULL) as process:
            try:
                _wait_for(socket)
                yield str(socket)
            finally:
                process.terminate()


def _wait_for(socket: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while not socket.exists():
        if time.monotonic() > deadline:
            raise RuntimeError(f"{PROGRAM} did not start")
        time.sleep(0.01)
