"""Enqueueing: how long it takes until a check of 500 questions is in the queue, ours and the peers' bulk ways."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks.frame.found import Found, Measured, Requirement, Table, alternate
from benchmarks.frame.queues import SYSTEMS, Queue
from benchmarks.frame.world import World

TITLE = "Enqueueing"
SAYS = (
    "Milliseconds until 500 jobs are in the queue and committed. **Ours is a whole check**: under the lock of its team "
    "the budget is looked at, the brand and its names are remembered, 100 questions are read for the brand, 500 jobs "
    "for five AI systems get their turns, and the workers are woken. Theirs are 500 bare jobs in their bulk way, or in "
    "one transaction where they have none.",
    "The bound is one INSERT of the same 500 job rows, written out before the clock starts.",
)
JOBS = 500
MOST = 3.0


def run(world: World) -> Found:
    ours = world.ours_of_all_systems()
    queues = [ours, *world.peers()]
    measures: dict[str, Callable[[], float]] = {queue.name: partial(milliseconds, queue) for queue in queues}
    measures["bound"] = lambda: 1000 * float(ours.hand("insert", jobs=JOBS, systems=list(SYSTEMS)))
    for measure in measures.values():
        measure()
    values = alternate(world.rounds, measures)
    for queue in queues:
        queue.hand("empty")  # what comes next finds it as it was
    rows = {queue.name: Measured(queue.label, values[queue.name]) for queue in queues}
    bound = Measured("bound: one INSERT of the same job rows", values["bound"])
    required = Requirement.at_most("ours ÷ bound", rows[ours.name].over(bound), MOST)
    return Found(TITLE, SAYS, [Table("ms", [*rows.values(), bound], to=bound, digits=1)], [required])


def milliseconds(queue: Queue) -> float:
    return 1000 * queue.enqueue(JOBS)
