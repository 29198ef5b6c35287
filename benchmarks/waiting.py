"""Waiting: what a worker takes while calls are in hand, or while there is nothing to do at all."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

from benchmarks.frame.footprint import Footprint, footprint, redis_commands
from benchmarks.frame.found import Found, Measured, Requirement, Table
from benchmarks.frame.queues import Queue, Work
from benchmarks.frame.world import World

TITLE = "Waiting"
SAYS = (
    "A worker of 8 seats has calls in hand that AI systems are still at: here 8, 64 and 256, at the simulator over "
    "real HTTP, each looked after as ever. In each round it is watched for a while: the memory that is its own, its "
    "threads and connections, and for each second what it asked the database and its processor time. (That many calls "
    "in hand need a lane's limit to be raised in the admin, here to 300.) Memory, threads and connections do not grow "
    "with them; that each is looked after takes its time of a processor.",
    "Below that are workers with nothing to do, ours and the peers', with 8 jobs at once each; memory counts what "
    "processes share once. What is idle for an hour costs so much.",
)
IN_HAND = (8, 64, 256)
LIMIT = 300
SETTLE = 5  # seconds before the watch begins
MOST_MEMORY, MOST_CONNECTIONS = 150, 2


@dataclass
class Watched:
    """A worker that is watched.

    Arguments:
        redis: path of the socket of the one that it asks, too; empty for none.
    """

    label: str
    queue: Queue
    work: Work
    redis: str = ""

    def now(self, world: World) -> tuple[Footprint, int]:
        commands = redis_commands(self.redis) if self.redis else 0
        return footprint(self.work.processes, world.server, self.queue.name), commands


@dataclass
class Window:
    """What a worker took from one moment to another.

    Arguments:
        commands: that a Redis has done meanwhile.
    """

    begin: Footprint
    end: Footprint
    commands: int
    seconds: float

    @property
    def processor(self) -> float:
        """Seconds a second."""
        return (self.end.processor - self.begin.processor) / self.seconds

    @property
    def transactions(self) -> float:
        """A second."""
        return (self.end.transactions - self.begin.transactions) / self.seconds


def run(world: World) -> Found:
    seconds = world.of(60, 2)
    with _with_calls_in_hand(world) as workers:
        waiting = _watch(world, workers, seconds)
    with _idle(world) as workers:
        idle = _watch(world, workers, seconds)
    connections = max(max(window.end.connections for window in windows) for windows in waiting.values())
    most, windows = list(waiting.items())[-1]
    memory = Measured(most, [window.end.resident for window in windows])
    required = [
        Requirement.at_most(f"memory with {most}", memory.median, MOST_MEMORY, "MB"),
        Requirement.at_most("connections to the database", connections, MOST_CONNECTIONS, "of them"),
    ]
    return Found(TITLE, SAYS, [*_tables_of_waiting(waiting), *_tables_of_idle(idle)], required)


Windows = dict[str, list[Window]]


def _tables_of_waiting(windows: Windows) -> list[Table]:
    return [
        _table("MB resident", windows, lambda it: it.end.resident),
        _table("threads", windows, lambda it: it.end.threads),
        _table("connections", windows, lambda it: it.end.connections),
        _table("transactions a second", windows, lambda it: it.transactions, 1),
        _table("processor, ms a second", windows, lambda it: 1000 * it.processor, 1),
    ]


def _tables_of_idle(windows: Windows) -> list[Table]:
    return [
        _table("MB", windows, lambda it: it.end.proportional),
        _table("connections", windows, lambda it: it.end.connections),
        _table("transactions an hour", windows, lambda it: 3600 * it.transactions),
        _table("commands of Redis an hour", windows, lambda it: 3600 * it.commands / it.seconds),
        _table("processor seconds an hour", windows, lambda it: 3600 * it.processor),
    ]


def _table(unit: str, windows: Windows, value: Callable[[Window], float], digits: int = 0) -> Table:
    rows = [Measured(label, [value(window) for window in some]) for label, some in windows.items()]
    return Table(unit, rows, digits=digits)


def _watch(world: World, workers: list[Watched], seconds: float) -> Windows:
    """Watch them all at once, one window after the other."""
    time.sleep(world.of(SETTLE, 1))
    found: Windows = {worker.label: [] for worker in workers}
    for _ in range(world.rounds):
        before = [worker.now(world) for worker in workers]
        time.sleep(seconds)
        for worker, (begin, commands) in zip(workers, before, strict=True):
            end, more = worker.now(world)
            found[worker.label].append(Window(begin, end, max(0, more - commands - 1), seconds))
    return found


@contextmanager
def _with_calls_in_hand(world: World) -> Iterator[list[Watched]]:
    """A worker of ours for each number of calls, when all of them are in hand."""
    from tests.process.running import simulator, until

    ours = world.ours()
    ours.hand("part")
    with ExitStack() as stack:
        system = stack.enter_context(simulator())
        system.script({"system": "chatgpt", "call": "start", "times": None, "do": {"pending_for_s": 3_600}})
        workers = []
        for calls in IN_HAND[:2] if world.quick else IN_HAND:
            queue = world.copy_of_ours(f"waiting{calls}", f"{calls} calls in hand", of=ours.name)
            queue.hand("widen", limit=LIMIT)
            queue.enqueue(calls)
            work = stack.enter_context(queue.working(variables={"SIMULATOR_URL": system.url}))
            until(partial(_in_hand, queue, calls))
            queue.hand("part")
            workers.append(Watched(queue.label, queue, work))
        yield workers


def _in_hand(queue: Queue, calls: int) -> bool:
    return int(queue.hand("in_hand")) == calls


@contextmanager
def _idle(world: World) -> Iterator[list[Watched]]:
    peers = [peer for peer in world.some_peers() if peer.name != "celery-results"]  # as idle as the other Celery
    with ExitStack() as stack:
        workers = []
        for queue in (world.ours(), *peers):
            work = stack.enter_context(queue.working())
            queue.hand("one")
            work.until(1)  # so it has started
            queue.hand("part")
            workers.append(Watched(queue.label, queue, work, world.redis if queue.name == "celery" else ""))
        yield workers
