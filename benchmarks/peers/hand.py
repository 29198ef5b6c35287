"""`python -m benchmarks.peers.hand`: does to a peer's queue what a benchmark asks for by its standard input."""

from __future__ import annotations

import os
import time
from importlib import import_module
from typing import Any

import django
from django.core.management import call_command
from django.db import connection

from benchmarks.frame import hand
from benchmarks.peers import PEERS


def main() -> None:
    django.setup()
    hand.serve(Hand(import_module(f"benchmarks.peers.{PEERS[os.environ['BENCH_PEER']].module}").Commands()))


class Hand:
    """Commands that a benchmark gives.

    Arguments:
        queue: the peer's own.
    """

    def __init__(self, queue: Any) -> None:
        self._queue = queue

    def prepare(self) -> None:
        """Make the tables."""
        call_command("migrate", verbosity=0)

    def enqueue(self, jobs: int) -> float:
        """Enqueue so many jobs in the peer's bulk way; seconds that it took."""
        began = time.monotonic()
        self._queue.enqueue(jobs)
        return time.monotonic() - began

    def one(self) -> float:
        """Enqueue one job; the moment just before its COMMIT."""
        return float(self._queue.one())

    def empty(self) -> None:
        """Take out what is in the queue."""
        self._queue.empty()

    def part(self) -> None:
        """Let go of the database."""
        connection.close()

    def analyze(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")


if __name__ == "__main__":
    main()
