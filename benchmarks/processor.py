"""What groups of processes take of the processors."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

import psutil


class Meter:
    """Measures from the moment it is made.

    Arguments:
        roots: the process ids that head each group, by its name; their descendants count to them.
    """

    def __init__(self, roots: Mapping[str, list[int]]) -> None:
        self.roots = roots
        self.began, self.before, self.others = time.monotonic(), self._seconds(), _busy()

    def shares(self) -> dict[str, float]:
        """Processors that each group has kept busy on average since, and everything else on this machine."""
        lasted, seconds = time.monotonic() - self.began, self._seconds()
        found = {name: (seconds[name] - self.before[name]) / lasted for name in self.roots}
        return found | {"everything else": max(0.0, (_busy() - self.others) / lasted - sum(found.values()))}

    def _seconds(self) -> dict[str, float]:
        return {name: sum(map(_of_family, pids)) for name, pids in self.roots.items()}


def _of_family(pid: int) -> float:
    """Seconds of a process and its descendants. Those of children that have ended are kept by their parents."""
    root = psutil.Process(pid)
    total = 0.0
    # The benchmark's own children are groups of their own.
    for process in [root] if pid == os.getpid() else [root, *root.children(recursive=True)]:
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        ended = 0.0 if pid == os.getpid() else times.children_user + times.children_system
        total += times.user + times.system + ended
    return total


def _busy() -> float:
    """Seconds that all processors of the machine were busy since it was started."""
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0.0))
