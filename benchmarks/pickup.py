"""Pick-up: how long a job waits on an idle queue, from its COMMIT to the begin of its work, ours and the peers'."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from random import Random

import psycopg

from benchmarks.frame.found import Found, Measured, Requirement, Table
from benchmarks.frame.queues import Queue, Work
from benchmarks.frame.world import World
from benchmarks.peers import PEERS

TITLE = "Pick-up"
SAYS = (
    "Milliseconds from just before the COMMIT of one job to the begin of its work, while nothing else is to be done; "
    "so the COMMIT itself is in it, and in ours the claim and the intent, which is committed too. Jobs come at random "
    "moments, 40 a round. Queues that only look now and then are as slow as their looks are rare.",
    "What stands in the way of less: a worker of ours that has heard of the COMMIT asks the server seven things, one "
    "after the other, before anything is sent: what there is to do, then a transaction that locks the lane, picks "
    "jobs, notes the turn and writes the intents. Others take a job by one statement and write down nothing more.",
    "The bound is a NOTIFY that is heard by a bare LISTEN and answered by one SELECT.",
)
WARM_UP = 2  # jobs of each round that are not counted: a new process loads what it needs as it first needs it
REST = 0.2  # seconds, at most, between jobs
PATIENCE = 30.0  # seconds after which a NOTIFY counts as lost
MOST_P50, MOST_RATIO = 15.0, 1.5
BOUND = "bound: bare NOTIFY, LISTEN, SELECT"
PROCRASTINATE = PEERS["procrastinate"].label


class Bound:
    """The least there is: a NOTIFY, heard by another session, which then asks one thing."""

    def __init__(self, speaker: psycopg.Connection, listener: psycopg.Connection) -> None:
        self._speaker, self._listener = speaker, listener
        listener.execute("LISTEN benchmark")

    def seconds(self) -> float:
        """One round: from just before the COMMIT to the answer."""
        answered = threading.Thread(target=self._hear)
        answered.start()
        with self._speaker.transaction():
            self._speaker.execute("NOTIFY benchmark")
            began = time.monotonic()
        answered.join()
        return self._at - began

    def _hear(self) -> None:
        list(self._listener.notifies(timeout=PATIENCE, stop_after=1))
        self._listener.execute("SELECT 1").fetchone()
        self._at = time.monotonic()


@dataclass
class Variant:
    """A queue, and what its workers are told beside.

    Arguments:
        rest: most seconds between jobs; without LISTEN a whole look, so that a job comes at any moment of it.
    """

    label: str
    queue: Queue
    variables: dict[str, str] = field(default_factory=dict)
    rest: float = REST
    waits: list[list[float]] = field(default_factory=list)

    def measure(self, random: Random, jobs: int) -> None:
        """The waits of one round, in milliseconds."""
        with self.queue.working(variables=self.variables) as work:
            waits = [self._wait(work, number, random) for number in range(1, WARM_UP + jobs + 1)]
            self.queue.settle()
        self.waits.append(waits[WARM_UP:])

    def _wait(self, work: Work, number: int, random: Random) -> float:
        time.sleep(REST / 4 + random.uniform(0, self.rest))
        committing = float(self.queue.hand("one"))
        return 1000 * (work.until(number)[-1].moment - committing)


def run(world: World) -> Found:
    random, jobs = Random(world.seed), world.of(40, 2)
    ours = Variant("AI Control", world.ours())
    kept = Variant("AI Control, plans kept", world.ours_with_plans_kept())
    deaf = Variant("AI Control without LISTEN, a look a second", world.ours(), {"CAPTURE_LISTEN": "off"}, 1.0)
    variants = [ours, kept, *(Variant(peer.label, peer) for peer in world.some_peers()), deaf]
    least = []
    with world.server.connect() as speaker, world.server.connect() as listener:
        bound = Bound(speaker, listener)
        for _ in range(world.rounds):
            for variant in variants:
                variant.measure(random, jobs)
            least.append([1000 * bound.seconds() for _ in range(WARM_UP + jobs)][WARM_UP:])
    waits = {variant.label: variant.waits for variant in variants} | {BOUND: least}
    p50 = {label: Measured(label, [percentile(some, 50) for some in rounds]) for label, rounds in waits.items()}
    p99 = {label: Measured(label, [percentile(list(chain(*rounds)), 99)]) for label, rounds in waits.items()}
    tables = [
        Table("p50, ms", list(p50.values()), to=p50[ours.label], digits=1),
        Table("p99 of all rounds together, ms", list(p99.values()), to=p99[ours.label], digits=1),
    ]
    return Found(TITLE, SAYS, tables, _required(p50, ours.label))


def _required(p50: Mapping[str, Measured], ours: str) -> list[Requirement]:
    required = [Requirement.at_most("ours, p50", p50[ours].median, MOST_P50, "ms")]
    if PROCRASTINATE in p50:
        ratio = p50[ours].over(p50[PROCRASTINATE])
        required.append(Requirement.at_most(f"ours ÷ {PROCRASTINATE}, p50", ratio, MOST_RATIO))
    return required


def percentile(values: Sequence[float], share: int) -> float:
    """The nearest rank."""
    return sorted(values)[max(0, -(-share * len(values) // 100) - 1)]
