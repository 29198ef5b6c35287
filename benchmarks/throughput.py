"""Throughput: how many jobs that are no work at all one process gets through in a second, ours and the peers'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from benchmarks.frame import replay
from benchmarks.frame.found import Found, Measured, Requirement, Table, alternate
from benchmarks.frame.queues import Queue
from benchmarks.frame.world import World, say
from benchmarks.peers import PEERS

TITLE = "Throughput"
SAYS = (
    "Jobs a second while a queue of them is worked off, eight at once. **Ours are written down in full**: the intent "
    "to ask, the attempt, its charge, the answer with three sources and two mentions. Only the AI systems are "
    "replaced, by ones that answer at once within the process. **Theirs are bare no-ops**: whatever they would have "
    "to write down about a paid question is not in their figures.",
    "The bounds are the statements that one of our workers has sent to the database for such jobs, sent again byte "
    "for byte by pgbench in a copy of the database: by one client, as our loop is one, and by eight at once, each in "
    "a copy of its own on the same server.",
    "The second table is the profile: what a job takes of a processor in the processes that work, and, of ours, how "
    "long the server takes for the same statements with no Python in between, by the clock, as the bound tells. One "
    "process has one loop, which waits for the server; meanwhile only the seats work, which read the answers, a small "
    "part of the first. The third shows what of a job takes how long there, one statement after the other, with the "
    "way there and back.",
    "What stands in the way of more: a job's nine rows (attempt, charge, answer, three sources, two mentions, a line "
    "for history) with their indexes and foreign keys, for which the server takes what the last line of the profile "
    "says, nearly half of it to plan the same statements again; and the time of our own process to write these "
    "statements and to read what comes back, mostly one after the other. The first bound is what would be left "
    "without the latter, the second row what is left without the planning.",
    "Each round is 1,000 jobs, of which the first tenth is not counted. *AI Control* asks one AI system, whose jobs "
    "come eight to a claim. With five, which share four lanes, a claim brings two or three, and costs nearly the same.",
    "*Plans kept* is ours with a setting that is off by default: the server plans each statement once a connection. "
    "Behind a PgBouncer in transaction mode that is not to be had.",
    "Each queue has a database of its own on the one server, in which 2,000 jobs were done before, and which was "
    "analysed: empty tables would be read whole at every check of a foreign key.",
)
LEAST = {"procrastinate": 1.5, "django-tasks-db": 2.5, "celery-results": 2.5}
WARM_UP = 0.1  # of the jobs, which are not counted
PROCESSOR = "ms of a processor, a job"


def run(world: World) -> Found:
    jobs, recorded, several = world.of(1_000, 100), world.of(500, 100), world.of(8, 2)
    queues = [world.ours(), world.ours_with_plans_kept(), world.ours_of_all_systems(), *world.peers()]
    say("recording what a worker of ours says to the database")
    recording = replay.Recording(world.server, world.ours(), recorded)
    spent: dict[str, list[float]] = {queue.label: [] for queue in queues}
    measures = {queue.label: partial(pace, queue, jobs, spent=spent[queue.label]) for queue in queues}
    measures |= {bound(clients): partial(recording.replay, clients) for clients in (1, several)}
    rows = {label: Measured(label, values) for label, values in alternate(world.rounds, measures).items()}
    ours = rows[world.ours().label]
    says = (*SAYS, f"A job of ours takes {recording.statements_a_job:.1f} statements.")
    settings = {queue.label: queue.settings for queue in queues}
    tables = [
        Table("jobs/s", list(rows.values()), to=ours),
        Table(PROCESSOR, _profile(spent, rows), digits=2),
        Table("ms at the server, a job", _statements(recording, world.rounds), digits=2),
    ]
    return Found(TITLE, says, tables, _required(rows, ours), settings)


def _profile(spent: Mapping[str, Sequence[float]], rows: Mapping[str, Measured]) -> list[Measured]:
    """Where the time of a job goes."""
    server = [1000 / value for value in rows[bound(1)].values]
    workers = [Measured(f"{label}, its workers", values) for label, values in spent.items()]
    return [*workers, Measured("AI Control, the server, by the clock", server)]


def _statements(recording: replay.Recording, rounds: int) -> list[Measured]:
    """What of a job takes how long at the server."""
    profiles = [recording.profile() for _ in range(rounds)]
    return [Measured(part, [profile[part] for profile in profiles]) for part in profiles[0]]


def bound(clients: int) -> str:
    return f"bound: the same statements by pgbench, {clients} client{'s' if clients > 1 else ''}"


def _required(rows: Mapping[str, Measured], ours: Measured) -> list[Requirement]:
    bounds = {PEERS[name].label: least for name, least in LEAST.items()}
    return [
        Requirement.at_least(f"ours ÷ {label}", ours.over(rows[label]), least)
        for label, least in bounds.items()
        if label in rows
    ]


def pace(queue: Queue, jobs: int, times: int = 1, spent: list[float] | None = None) -> float:
    """Jobs a second while so many are worked off, which were enqueued before.

    Arguments:
        times: how many times as many processes as usual.
        spent: takes the milliseconds of a processor that the workers have used for each.
    """
    queue.enqueue(jobs)
    with queue.working(times) as work:
        begun, before = len(work.until(int(WARM_UP * jobs))), work.processor()
        stamps = work.until(jobs)
        queue.settle()
        if spent is not None:
            spent.append(1000 * (work.processor() - before) / max(1, jobs - begun))
    counted = stamps[int(WARM_UP * len(stamps)) :]
    return (len(counted) - 1) / (counted[-1].moment - counted[0].moment)
