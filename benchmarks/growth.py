"""Growth: work beside a long past, with more processes, and while somebody holds a transaction open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from psycopg import IsolationLevel

from benchmarks.frame.found import Found, Measured, Requirement, Table, alternate
from benchmarks.frame.queues import Queue
from benchmarks.frame.server import PREFIX, Server
from benchmarks.frame.world import World, say
from benchmarks.throughput import pace

TITLE = "Growth"
SAYS = (
    "Jobs a second, claimed and written down in full as under *Throughput*, by one process that asks one AI system: "
    "beside no finished jobs, 100,000 and 1,000,000. Those are copies of jobs that a worker has really finished, with "
    "their attempts, charges, answers, sources, mentions and gists, which history is made of; each number in a "
    "database of its own, which was vacuumed and analysed.",
    "The same by 1, 2, 4 and 8 processes that ask five AI systems, on as many cores as the machine has; PostgreSQL "
    "and the processes share them.",
    "And the same while another session holds a transaction open for the whole run, as a backup or a forgotten "
    "console does: none of the dead rows that work leaves behind can be taken away, and each round has more of them.",
)
MOST_BESIDE_A_MILLION = 1.3


def run(world: World) -> Found:
    jobs = world.of(400, 40)
    base = _seeded(world)
    sizes = _of_sizes(world, base)
    beside = _with_past(world, base, "held", 0)
    several = world.ours_of_all_systems()
    world.server.checkpoint()
    processes = (1, 2) if world.quick else (1, 2, 4, 8)
    measures = {label: partial(pace, queue, jobs) for label, queue in sizes.items()}
    measures |= {_processes(count): partial(pace, several, jobs * min(count, 4), count) for count in processes}
    measures[HELD] = partial(pace, beside, jobs)
    with _held_open(world.server, beside):
        values = alternate(world.rounds, measures)
    rows = {label: Measured(label, found) for label, found in values.items()}
    empty, *_, full = (rows[label] for label in sizes)
    tables = [
        Table("jobs/s", [rows[label] for label in group], to=rows[next(iter(group))])
        for group in (list(sizes), [_processes(count) for count in processes], [next(iter(sizes)), HELD])
    ]
    ratio = empty.over(full)
    required = Requirement.at_most(
        "time of a job beside 1,000,000 finished ÷ beside none", ratio, MOST_BESIDE_A_MILLION
    )
    return Found(TITLE, SAYS, tables, [] if world.quick else [required])


HELD = "the same, and a transaction held open elsewhere"


def _processes(count: int) -> str:
    return "1 process" if count == 1 else f"{count} processes"


def _seeded(world: World) -> str:
    """The name of a database in which some jobs were done, to be copied."""
    ours = world.ours()
    ours.hand("part")
    return ours.name


def _of_sizes(world: World, base: str) -> dict[str, Queue]:
    """Our queue with so many finished jobs more, by their number in words."""
    numbers = (0, 1_000) if world.quick else (0, 100_000, 1_000_000)
    return {f"{number:,} finished jobs": _with_past(world, base, str(number), number) for number in numbers}


def _with_past(world: World, base: str, name: str, finished: int) -> Queue:
    """Our queue with so many finished jobs more, in a database that needs no vacuum for the time being."""
    say(f"growth: {finished:,} finished jobs")
    queue = world.copy_of_ours(f"growth_{name}", "", of=base)
    queue.hand("fill", finished=finished)
    queue.hand("analyze")
    return queue


@contextmanager
def _held_open(server: Server, queue: Queue) -> Iterator[None]:
    with server.connect(PREFIX + queue.name) as connection:
        connection.autocommit = False
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        connection.execute("SELECT 1 FROM capture_capturejob LIMIT 1")
        yield
