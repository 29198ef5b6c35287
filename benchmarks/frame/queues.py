"""What is compared: our queue and its peers, each with a database of its own on one server, a hand and workers."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchmarks.frame import stamps
from benchmarks.frame.footprint import processor
from benchmarks.frame.hand import Hand
from benchmarks.frame.server import EMPTY, Server, folder
from benchmarks.frame.stamps import Stamp
from benchmarks.frame.tethered import tethered
from benchmarks.peers import PEERS

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 60.0  # seconds in which work has to go on
SYSTEMS = ("chatgpt", "perplexity", "copilot", "gemini", "google_ai")
LOOK = 0.02  # seconds between looks at it


@dataclass
class Queue:
    """A queue that jobs can be put into and worked off.

    Arguments:
        name: one word; also of its database.
        label: what people call it.
        settings: which matter for what is measured, in words.
        hand: the process that enqueues.
        commands: of the processes that work.
        variables: of the environment of all of them.
        enqueued: what `enqueue` takes beside the number of jobs.
    """

    name: str
    label: str
    settings: str
    hand: Hand
    commands: list[list[str]]
    variables: Mapping[str, str]
    enqueued: Mapping[str, Any] = field(default_factory=dict)

    def set_otherwise(self, label: str, settings: str, **variables: str) -> Queue:
        """The same queue, whose workers have other settings."""
        return replace(self, label=label, settings=settings, variables={**self.variables, **variables})

    @property
    def rival(self) -> bool:
        return self.name in PEERS

    @property
    def log(self) -> Path:
        return folder() / f"{self.name}.log"

    def enqueue(self, jobs: int) -> float:
        """Enqueue so many in its bulk way; seconds that it took."""
        return float(self.hand("enqueue", jobs=jobs, **self.enqueued))

    def work_off(self, jobs: int, times: int = 1) -> list[Stamp]:
        """Enqueue so many jobs, and have them worked off; returns when each was begun. Arguments: see `working`."""
        self.enqueue(jobs)
        with self.working(times) as work:
            stamps = work.until(jobs)
            self.settle()
        return stamps

    def seed(self, jobs: int) -> None:
        """Have some jobs worked off and the tables analysed: empty ones would be read whole for each foreign key."""
        for some in (jobs // 10, jobs - jobs // 10):
            self.work_off(some)
            self.hand("analyze")

    def settle(self) -> None:
        """Wait until everything that was begun is also written down."""
        if self.rival:
            return  # it ends once it is through
        deadline = time.monotonic() + PATIENCE
        while self.hand("open"):
            if time.monotonic() > deadline:
                raise RuntimeError(f"{self.name}: jobs stay open")
            time.sleep(LOOK)

    @contextmanager
    def working(self, times: int = 1, variables: Mapping[str, str] = MappingProxyType({})) -> Iterator[Work]:
        """Its workers, from their start on.

        Arguments:
            times: how many times as many processes as usual.
            variables: of their environment, beside the usual ones.
        """
        path = folder() / f"{self.name}.stamps"
        path.write_bytes(b"")
        environment = {**self.variables, stamps.VARIABLE: str(path), **variables}
        with self.log.open("wb") as log, ExitStack() as stack:
            processes = [
                stack.enter_context(
                    subprocess.Popen(tethered(command), cwd=ROOT, env=environment, stdout=log, stderr=log)
                )
                for command in self.commands * times
            ]
            try:
                yield Work(path, [process.pid for process in processes])
            finally:
                for process in processes:
                    process.terminate()


@dataclass
class Work:
    """What workers do.

    Arguments:
        stamps: the file that every job adds a moment to as it begins.
        processes: ids of those that were started; they may have others below them.
    """

    stamps: Path
    processes: Sequence[int]

    def processor(self) -> float:
        """Seconds of a processor that they and all below them have used so far."""
        return processor(self.processes)

    def until(self, jobs: int) -> list[Stamp]:
        """Wait until so many jobs were begun, and return their stamps in order."""
        begun, deadline = 0, time.monotonic() + PATIENCE
        while begun < jobs:
            time.sleep(LOOK)
            if (now := stamps.count(self.stamps)) > begun:
                begun, deadline = now, time.monotonic() + PATIENCE
            if time.monotonic() > deadline:
                raise RuntimeError(f"{self.stamps.stem}: {begun} of {jobs} jobs were begun; its log says why")
        return stamps.read(self.stamps)


OURS = (
    *("OPENAI_", "PERPLEXITY_", "GEMINI_", "SERPAPI_", "CAPTURE_", "PG", "AICONTROL_", "DATABASE_", "DJANGO_"),
    *("SIMULATOR_", "LOG_LEVEL", "DEBUG", "HTTPS"),
)


def ours(server: Server, name: str, label: str, systems: Sequence[str], template: str = EMPTY) -> Queue:
    """Our queue, asking these AI systems, which answer at once.

    Arguments:
        template: a queue's database to begin with a copy of; without one its tables are made.
    """
    variables = environment() | {
        "DJANGO_SETTINGS_MODULE": "aicontrol.settings",
        "AICONTROL_ENV": os.devnull,
        "DATABASE_URL": server.ours(server.create(name, template)),
        "SECRET_KEY": "of a benchmark",
        "DEBUG": "off",
        "CAPTURE_MONTHLY_BUDGET": "1000000",  # it is reckoned with, and never used up
    }
    hand = Hand([sys.executable, "-m", "benchmarks.ours.hand"], variables, str(ROOT))
    hand("prepare", made=template != EMPTY)
    worker = [sys.executable, "-m", "benchmarks.ours.worker"]
    said = "one process of 8 seats with one connection (and one to LISTEN), as by default"
    return Queue(name, label, said, hand, [worker], variables, {"systems": systems})


def peer(server: Server, name: str, python: Path, redis: str) -> Queue:
    """A peer's queue, with its tables.

    Arguments:
        python: of the peers' environment.
        redis: path of a socket; empty where it needs none.
    """
    it = PEERS[name]
    variables = environment() | {
        "DJANGO_SETTINGS_MODULE": "benchmarks.peers.settings",
        "BENCH_PEER": name,
        "BENCH_DATABASE": server.url(server.create(name)),
        "BENCH_REDIS": redis,
    }
    hand = Hand([str(python), "-m", "benchmarks.peers.hand"], variables, str(ROOT))
    hand("prepare")
    return Queue(name, it.label, it.settings, hand, [[str(python), *it.worker]] * it.processes, variables)


def environment() -> dict[str, str]:
    """The environment without what is set for us, such as a key."""
    return {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
