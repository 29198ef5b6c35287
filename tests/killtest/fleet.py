"""The workers: so many places, in each of which a worker runs, dies as planned, and is started again at once."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.killtest import points
from tests.killtest.plan import INTERACTIONS, Kill
from tests.killtest.tethered import tethered
from tests.process.running import ROOT

SEATS = "4"
LOOK = "0.2"  # seconds between looks into the queue
LONGEST_WAY = 12.0  # seconds after which a worker that has not come to its point is killed where it is
GRACE = "15"  # seconds for exchanges in flight when a worker stops; those of the simulator are short
STOPPING = 60.0  # seconds for a tidy end


@dataclass(frozen=True, slots=True)
class Death:
    """A worker that was killed.

    Arguments:
        log: what it has said.
        at: when it was killed, by the wall clock; a worker that killed itself has told a better time in its log.
        reached: whether it died at the point that was planned for it; a random moment is always reached.
    """

    kill: Kill
    log: Path
    at: float
    reached: bool


@dataclass
class Running:
    """A worker process and what is planned for it."""

    process: subprocess.Popen[bytes]
    log: Path
    kill: Kill | None
    started: float = field(default_factory=time.monotonic)
    serving: float | None = None
    told_to_drain: bool = False

    def advance(self) -> Death | None:
        """Do to it what is due; says whether that, or it itself, has killed it."""
        now = time.monotonic()
        if self.kill is None:
            return None
        if self.process.poll() == -signal.SIGKILL:
            return Death(self.kill, self.log, time.time(), reached=True)
        if self.serving is None:
            self.serving = now if self.log.stat().st_size else None
        served = now - self.serving if self.serving is not None else 0.0
        if self.kill.point is None:
            return self._killed(reached=True) if self.serving is not None and served >= self.kill.life else None
        if self.kill.point == points.DRAINING and served >= self.kill.life and not self.told_to_drain:
            self.told_to_drain = True
            self.process.terminate()
        return self._killed(reached=False) if now - self.started >= LONGEST_WAY else None

    @property
    def has_ended_by_itself(self) -> bool:
        """Whether it has ended and nobody has killed it."""
        return self.process.poll() not in (None, -signal.SIGKILL)

    def _killed(self, *, reached: bool) -> Death:
        assert self.kill
        at = time.time()
        self.process.kill()
        self.process.wait()
        return Death(self.kill, self.log, at, reached)


class Fleet:
    """All workers.

    Arguments:
        variables: of every worker's environment.
        kills: what is planned; once they are used up, workers are started that nobody kills.
    """

    def __init__(self, places: int, folder: Path, variables: Mapping[str, str], kills: Iterator[Kill]) -> None:
        self._folder = folder
        self._variables = variables
        self._kills = kills
        self._count = 0
        self.ended_by_themselves: list[str] = []
        self._running = [self._start(next(kills, None)) for _ in range(places)]

    def advance(self) -> list[Death]:
        """Let the planned things happen that are due, and start again what has died of them."""
        deaths = []
        for place, running in enumerate(self._running):
            if running.has_ended_by_itself:
                self.ended_by_themselves.append(f"{running.log.name}: {running.process.returncode}")
                self._running[place] = self._start(running.kill)
            elif death := running.advance():
                deaths.append(death)
                self._running[place] = self._start(next(self._kills, None))
        return deaths

    def stop(self) -> int:
        """Stop all workers; says how many did not end tidily."""
        for running in self._running:
            running.process.terminate()
        return sum(_ended_badly(running.process) for running in self._running)

    def kill_all(self) -> None:
        """When the test itself has failed, nothing is left behind."""
        for running in self._running:
            running.process.kill()
            running.process.wait()

    def _start(self, kill: Kill | None) -> Running:
        self._count += 1
        log = self._folder / f"worker-{self._count:04}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                _command(kill), cwd=ROOT, env=self._environment(kill), stdout=output, stderr=output
            )
        return Running(process, log, kill)

    def _environment(self, kill: Kill | None) -> dict[str, str]:
        planned = {**os.environ, **self._variables, "GEMINI_API": kill.gemini if kill else INTERACTIONS}
        if kill and kill.point:
            planned |= {points.POINT_VARIABLE: kill.point, points.PASSAGE_VARIABLE: str(kill.passage)}
        return planned


def _command(kill: Kill | None) -> Sequence[str]:
    program = ["-m", "tests.killtest.doomed"] if kill and kill.point else ["manage.py", "runworkers"]
    return tethered(*program, "--concurrency", SEATS, "--poll", LOOK, "--grace", GRACE)


def _ended_badly(process: subprocess.Popen[bytes]) -> bool:
    try:
        return process.wait(STOPPING) != 0
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return True
