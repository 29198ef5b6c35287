"""The bound: the very statements that a worker of ours has sent, sent again by pgbench, with no Python in between.

A worker is traced while it does some jobs. Then its statements, byte for byte, are replayed in copies of the database
as it was just before; since they find the same rows there, they do the same work. One client is the bound of our
design, in which one loop alone talks to the database. Many clients, each in a copy of its own, on one server, are the
bound of the machine.
"""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator

import psycopg

from benchmarks.frame.queues import Queue
from benchmarks.frame.server import PREFIX, Server, folder, pgbench
from benchmarks.ours.trace import VARIABLE

# "F 40 Query "…"": who, length with its own four bytes and the NUL at the end, kind.
MESSAGE = re.compile(rb"^([FB])\t(\d+)\t(\w+)", re.MULTILINE)
OTHER_WAYS = {b"Parse", b"Bind", b"Execute"}

# What a statement is for, by how it begins; of those that begin alike, by a word in it.
PARTS = (
    ("COMMIT: rows are made safe, foreign keys checked", r"COMMIT"),
    ("keep what came back: answer, sources, mentions, charge", r"WITH came AS"),
    ("pick jobs, count places", r'SELECT "capture_capturejob"\."id" AS "id", "capture_capturejob"\."turn"'),
    ("take jobs, write intents", r"WITH taken AS"),
    ("finish jobs", r"WITH held AS .*'done'"),
    ("look what there is to do", r"SELECT name, paused"),
)
ALL_ELSE = "all else"


def part_of(statement: str) -> str:
    """What a statement is for."""
    words = " ".join(statement.split())
    return next((part for part, begin in PARTS if re.match(begin, words)), ALL_ELSE)


def statements(trace: bytes) -> Iterator[str]:
    """What libpq's trace says was sent, in order.

    Raises:
        ValueError: something was sent in another way than as plain text, which could not be replayed.
    """
    place = 0
    while message := MESSAGE.search(trace, place):
        who, length, kind = message.groups()
        place = message.end()
        if who == b"F" and kind in OTHER_WAYS:
            raise ValueError(f"a worker has sent {kind.decode()}")
        if who == b"F" and kind == b"Query":
            begin = trace.index(b'"', place) + 1
            place = begin + int(length) - 5
            yield trace[begin:place].decode()


class Recording:
    """A worker's statements for some jobs, and the database as it was before.

    Arguments:
        queue: ours, seeded and analysed.
    """

    def __init__(self, server: Server, queue: Queue, jobs: int) -> None:
        self.jobs = jobs
        self._server = server
        self._before = f"{queue.name}_before"
        self._script = folder() / f"{queue.name}.sql"
        queue.enqueue(jobs)
        queue.hand("part")
        server.create(self._before, queue.name)
        trace = folder() / f"{queue.name}.trace"
        trace.unlink(missing_ok=True)
        with queue.working(variables={VARIABLE: str(trace)}) as work:
            work.until(jobs)
            queue.settle()
        self._kept = int(queue.hand("done"))
        self._sent = list(statements(trace.read_bytes()))
        self.statements_a_job = len(self._sent) / jobs
        self._script.write_text("".join(f"{statement};\n" for statement in self._sent))

    def replay(self, clients: int) -> float:
        """Jobs a second by so many clients at once, each in a copy of its own.

        Raises:
            RuntimeError: a statement failed, or has done less than it did for the worker.
        """
        names = [f"copy{number}" for number in range(clients)]
        for name in names:
            self._server.create(name, self._before)
        running = [self._start(name) for name in names]
        said = [process.communicate()[0] for process in running]
        if any(self._answers(name) != self._kept for name in names):
            raise RuntimeError("what a worker has sent did not do the same when it was sent again")
        for name in names:
            self._server.drop(name)
        return clients * self.jobs / max(_seconds(text) for text in said)

    def profile(self) -> dict[str, float]:
        """Milliseconds that each part of a job takes at the server, one statement after the other."""
        name = "profiled"
        self._server.create(name, self._before)
        spent = dict.fromkeys([*(part for part, _ in PARTS), ALL_ELSE], 0.0)
        with self._server.connect(PREFIX + name) as connection:
            cursor = psycopg.ClientCursor(connection)
            for statement in self._sent:
                begun = time.perf_counter()
                cursor.execute(statement.encode())
                spent[part_of(statement)] += 1000 * (time.perf_counter() - begun) / self.jobs
        self._server.drop(name)
        return spent

    def _start(self, name: str) -> subprocess.Popen[str]:
        options = ["--no-vacuum", "--client=1", "--transactions=1", "--file", str(self._script)]
        command = [pgbench(), *self._server.options(), *options, PREFIX + name]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def _answers(self, name: str) -> int:
        with self._server.connect(PREFIX + name) as connection:
            row = connection.execute("SELECT count(*) FROM capture_capture").fetchone()
        return int(row[0]) if row else 0


def _seconds(report: str) -> float:
    """How long pgbench says that its one run of the script has taken, without the time to connect."""
    found = re.search(r"latency average = ([\d.]+) ms", report)
    if not found:
        raise RuntimeError(f"pgbench has said: {report}")
    return float(found[1]) / 1000
