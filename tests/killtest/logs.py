"""The third ledger: what the workers have written, line by line, while they lived."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tests.killtest.points import LAST_WORDS

TIME = r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) "
UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

SERVES = re.compile(rf"{TIME}INFO capture\.worker: worker ({UUID}): \d+ seats? for ")
TAKEN_BACK = re.compile(rf"{TIME}WARNING capture\.queue: job (\d+) \S+: taken back from worker ({UUID})")
DONE = re.compile(r"capture\.queue: job (\d+) \S+ attempt \d+: done: ")
REMOTE_ID = re.compile(rf"job (\d+) \S+: remote id (\S+) of attempt ({UUID})$")
DIED = re.compile(rf"^{re.escape(LAST_WORDS)} .*: ([\d.]+)$")
OWN_ERROR = re.compile(r"^Traceback |an error of our own|cannot be recorded|its result is lost")


@dataclass
class Logs:
    """What all logs say together.

    Attributes:
        workers: the ids of the workers that wrote a log, by its name.
        started: when workers began to serve.
        died: when a worker killed itself, by the name of its log.
        taken_back: when jobs of a worker were last taken back, by worker and job.
        done: how often each job was said to be done.
        remote_ids: the ids that came, with their attempt.
        own_errors: lines that no fault of anybody else explains.
    """

    workers: dict[str, str] = field(default_factory=dict)
    started: list[float] = field(default_factory=list)
    died: dict[str, float] = field(default_factory=dict)
    taken_back: dict[tuple[str, int], float] = field(default_factory=dict)
    done: Counter[int] = field(default_factory=Counter)
    remote_ids: dict[str, str] = field(default_factory=dict)
    own_errors: list[str] = field(default_factory=list)

    def read(self, name: str, lines: Iterable[str]) -> None:
        """Read one worker's log."""
        for line in lines:
            if found := SERVES.match(line):
                self.workers[name] = found[2]
                self.started.append(_seconds(found[1]))
            elif found := TAKEN_BACK.match(line):
                # A worker that was given up and lives may have claimed it once more; the last time counts.
                key = found[3], int(found[2])
                self.taken_back[key] = max(self.taken_back.get(key, 0.0), _seconds(found[1]))
            elif found := DONE.search(line):
                self.done[int(found[1])] += 1
            elif found := REMOTE_ID.search(line):
                self.remote_ids[found[3]] = found[2]
            elif found := DIED.match(line):
                self.died[name] = float(found[1])
            elif OWN_ERROR.search(line):
                self.own_errors.append(f"{name}: {line.strip()}")


def read_all(folder: Path) -> Logs:
    """Read the logs of all workers."""
    logs = Logs()
    for path in sorted(folder.glob("worker-*.log")):
        with path.open(errors="replace") as lines:
            logs.read(path.name, lines)
    return logs


def _seconds(time: str) -> float:
    """Settings have the workers write times in UTC."""
    return datetime.strptime(time, "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=UTC).timestamp()


@dataclass(frozen=True, slots=True)
class Recovery:
    """How long the jobs of dead workers stayed with them, in seconds, shortest first.

    Arguments:
        from_death: from a worker's death to the moment when the last of its jobs was taken back.
        from_start: from the moment when some worker began to serve after that death, which is what is promised: how
            long the start of a process takes is up to the machine.
    """

    from_death: Sequence[float] = ()
    from_start: Sequence[float] = ()


def recovery(logs: Logs, deaths: Iterable[tuple[str, float]]) -> Recovery:
    """Find out how long recovery took.

    Arguments:
        deaths: names of logs, and when their workers were killed.
    """
    last: dict[str, float] = {}
    for (worker, _), at in logs.taken_back.items():
        last[worker] = max(at, last.get(worker, 0.0))
    found = [(logs.workers.get(name, ""), logs.died.get(name, at)) for name, at in deaths]
    pairs = [(died, last[worker]) for worker, died in found if worker in last]
    return Recovery(
        from_death=sorted(taken - died for died, taken in pairs),
        from_start=sorted(max(0.0, taken - _first_after(logs.started, died, taken)) for died, taken in pairs),
    )


def _first_after(times: Sequence[float], moment: float, otherwise: float) -> float:
    return min((time for time in times if time >= moment), default=otherwise)
