"""What running processes take: memory, threads, processor time, connections and transactions of a database."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import psutil

from benchmarks.frame.server import PREFIX, Server

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Footprint:
    """At one moment, of a worker's processes and all below them.

    Arguments:
        resident: megabytes, what is shared counted in each process.
        proportional: megabytes, what is shared counted once.
        processor: seconds since they began.
        transactions: that the database has seen so far, of whomever.
        connections: to the database, of the workers.
    """

    resident: float
    proportional: float
    threads: int
    processor: float
    transactions: int
    connections: int


def footprint(processes: Sequence[int], server: Server, database: str) -> Footprint:
    """Arguments:
    database: its name, without the prefix.
    """
    family = list(_family(processes))
    with server.connect() as connection:
        transactions, connections = connection.execute(
            "SELECT (SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = %(name)s),"
            " (SELECT count(*) FROM pg_stat_activity WHERE datname = %(name)s AND backend_type = 'client backend')",
            {"name": PREFIX + database},
        ).fetchone() or (0, 0)
    memory = [process.memory_full_info() for process in family]
    return Footprint(
        resident=sum(each.rss for each in memory) / MEGABYTE,
        proportional=sum(each.pss for each in memory) / MEGABYTE,
        threads=sum(process.num_threads() for process in family),
        processor=processor(processes),
        transactions=transactions,
        connections=connections,
    )


def processor(processes: Iterable[int]) -> float:
    """Seconds of a processor that some processes and all below them have used since they began."""
    return sum(sum(process.cpu_times()[:2]) for process in _family(processes))


def _family(processes: Iterable[int]) -> Iterable[psutil.Process]:
    for number in processes:
        process = psutil.Process(number)
        yield process
        yield from process.children(recursive=True)


def redis_commands(path: str) -> int:
    """How many commands a Redis has done so far, this one included."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        client.sendall(b"INFO stats\r\n")
        for line in client.makefile("rb"):
            if line.startswith(b"total_commands_processed:"):
                return int(line.partition(b":")[2])
    raise RuntimeError("Redis does not say how many commands it has done")
