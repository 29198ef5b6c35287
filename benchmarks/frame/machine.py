"""On what was measured: the machine, and the versions of all that took part."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.frame import redis
from benchmarks.frame.server import Server
from benchmarks.peers.environment import REQUIREMENTS

PIN = re.compile(r"^([\w-]+)(?:\[\w+\])?==(\S+)", re.MULTILINE)


def described(server: Server) -> dict[str, Any]:
    """What stands beside figures, so that somebody else knows what they were measured on."""
    with server.connect() as connection:
        ask = "SELECT current_setting('server_version'), current_setting('fsync')"
        postgresql, fsync = connection.execute(ask).fetchone() or ("", "")
    return {
        "processor": _first("/proc/cpuinfo", "model name") or platform.processor(),
        "cores": os.cpu_count(),
        "memory": _first("/proc/meminfo", "MemTotal"),
        "system": f"{platform.system()} {platform.release()}",
        "load": round(os.getloadavg()[0], 1),
        "fsync": fsync,
        "versions": {
            "Python": platform.python_version(),
            "PostgreSQL": postgresql,
            "Django": version("Django"),
            "psycopg": version("psycopg"),
            "Redis": _redis(),
            **{name: pinned for name, pinned in PIN.findall(REQUIREMENTS.read_text()) if name not in OURS},
        },
    }


OURS = {"Django", "psycopg"}  # the same for all


def _first(path: str, name: str) -> str:
    """The value of the first line of that name in a file of Linux's."""
    lines = Path(path).read_text().splitlines() if Path(path).exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "")


def _redis() -> str:
    if not redis.is_there():
        return "none"
    said = subprocess.run([redis.PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"v=(\S+)", said)
    return found[1] if found else said.strip()
