"""Who a process is, and whether it is surely gone. Pure: asks the kernel only.

Host names and machine ids prove nothing (copies of a machine share them). The kernel's boot id and the process
namespace do: within the same two, a process number with its start time is one process and no other.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

# Fields 3 and 22 of /proc/<pid>/stat, counted after the name's closing bracket; see proc(5).
STATE = 0
START_TIME = 19

GONE = frozenset("ZXx")  # a zombie runs no more, and X is dead


@dataclass(frozen=True, slots=True)
class Place:
    """Where process numbers mean the same: one boot of one kernel, one process namespace.

    Both are empty where they cannot be read; then nothing can be proven.
    """

    boot_id: str
    pid_namespace: str

    @property
    def known(self) -> bool:
        return bool(self.boot_id and self.pid_namespace)


def here() -> Place:
    """The place of this process."""
    return Place(_read(Path("/proc/sys/kernel/random/boot_id")), _namespace())


def start_ticks(pid: int) -> int | None:
    """When a process started, in clock ticks since the boot, or None when that cannot be read."""
    fields = _stat(pid)
    return int(fields[START_TIME]) if fields else None


def is_surely_gone(pid: int, started: int | None) -> bool:
    """Whether a process of this place has ended. What cannot be read counts as alive.

    Arguments:
        pid: its number.
        started: its start time in clock ticks, or None when it is not known.
    """
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass  # it is there, and somebody else's
    fields = _stat(pid)
    if not fields:
        return False
    return fields[STATE] in GONE or (started is not None and int(fields[START_TIME]) != started)


def _stat(pid: int) -> list[str]:
    return _read(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""
