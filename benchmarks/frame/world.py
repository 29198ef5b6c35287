"""What a run has to measure with: one server, the peers that are there, how often, and by which seed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from benchmarks.frame import queues, redis
from benchmarks.frame.queues import Queue
from benchmarks.frame.server import Server, server
from benchmarks.peers import PEERS, environment

SEEDS = 2_000  # jobs that a queue has done before it is measured


@dataclass
class World:
    """A run.

    Arguments:
        python: of the peers' environment, or None where there is none.
        redis: path of its socket; empty where there is none.
        quick: only to see that everything runs: one round, few jobs.
        seed: of what is random.
    """

    server: Server
    python: Path | None
    redis: str
    quick: bool
    seed: int
    _stack: ExitStack
    _queues: dict[str, Queue] = field(default_factory=dict)

    @property
    def rounds(self) -> int:
        return 1 if self.quick else 5

    def of(self, full: int, quick: int) -> int:
        """How many of something, by what kind of run this is."""
        return quick if self.quick else full

    def ours(self) -> Queue:
        """Our queue, asking one AI system, which has one lane."""
        make = partial(queues.ours, self.server, "ours", "AI Control", ["chatgpt"])
        return self._made("ours", make, seeds=self.of(SEEDS, 50))

    def ours_with_plans_kept(self) -> Queue:
        """The same queue as `ours`, worked off by workers that let the server keep the plans of their statements."""
        settings = "as ours, but DATABASE_KEEP_PLANS on, which no pooler in transaction mode may be in between"
        return self.ours().set_otherwise("AI Control, plans kept", settings, DATABASE_KEEP_PLANS="on")

    def ours_of_all_systems(self) -> Queue:
        """Another one of ours, asking five AI systems, which have four lanes."""
        label = "AI Control, five AI systems"
        make = partial(queues.ours, self.server, "ours_five", label, queues.SYSTEMS)
        return self._made("ours_five", make, seeds=self.of(SEEDS, 0))

    def peers(self) -> list[Queue]:
        """The peers that can be run here."""
        return [self._peer(name) for name in self._names()]

    def some_peers(self) -> list[Queue]:
        """The same; in a quick run, which sees all of them work elsewhere, only the first."""
        return [self._peer(name) for name in self._names()[: self.of(len(PEERS), 1)]]

    def _names(self) -> list[str]:
        return [name for name, peer in PEERS.items() if self.python and (self.redis or not peer.redis)]

    def _peer(self, name: str) -> Queue:
        python = self.python
        assert python
        make = partial(queues.peer, self.server, name, python, self.redis)
        return self._made(name, make, seeds=self.of(SEEDS, 0))

    def copy_of_ours(self, name: str, label: str, systems: Sequence[str] = ("chatgpt",), *, of: str) -> Queue:
        """Another queue of ours that begins with all that one has.

        Arguments:
            of: the other one's name; nobody may be connected to its database.
        """
        return self._made(name, partial(queues.ours, self.server, name, label, systems, of))

    def _made(self, name: str, make: Callable[[], Queue], *, seeds: int = 0) -> Queue:
        """Arguments:
        seeds: jobs that are to have been done there before.
        """
        if name not in self._queues:
            self._queues[name] = made = make()
            self._stack.enter_context(made.hand)
            if seeds:
                made.seed(seeds)
        return self._queues[name]


@contextmanager
def world(*, quick: bool, seed: int) -> Iterator[World]:
    """All that a run needs; what is missing on this machine is told in a line, and left out."""
    with ExitStack() as stack:
        python = environment.ensure()
        if python is None:
            say("The peers' packages cannot be installed here; they are left out.")
        socket = stack.enter_context(redis.redis()) if python and redis.is_there() else ""
        if python and not socket:
            say(f"There is no {redis.PROGRAM} here (Debian has it); Celery is left out.")
        yield World(stack.enter_context(server()), python, socket, quick, seed, stack)


def say(line: str) -> None:
    """Tell whoever waits what goes on."""
    print(line, file=sys.stderr, flush=True)
