"""`python -m benchmarks.ours.hand`: does to our queue what a benchmark asks for by its standard input."""

from __future__ import annotations

import time
from typing import Any

import django

from benchmarks.frame import hand

PROMPTS = 100  # of one check, at most


def main() -> None:
    django.setup()
    hand.serve(Ours())


class Ours:
    """Commands that a benchmark gives."""

    def __init__(self) -> None:
        self._user: Any = None

    def prepare(self) -> None:
        """Make the tables, and a user who asks."""
        from django.core.management import call_command

        from capture import lanes
        from tests.factories import make_user

        call_command("migrate", verbosity=0)
        lanes.make_missing()
        self._user = make_user()

    def enqueue(self, jobs: int, systems: list[str]) -> float:
        """Write a check of so many jobs; seconds that it took."""
        began = time.monotonic()
        samples = -(-jobs // (PROMPTS * len(systems)))
        self._check(jobs // (len(systems) * samples), systems, samples)
        return time.monotonic() - began

    def one(self) -> float:
        """Write a check of one job; the moment just before its COMMIT."""
        from django.db import transaction

        with transaction.atomic():
            self._check(1, ["gemini"], 1)
            return time.monotonic()

    def _check(self, prompts: int, systems: list[str], samples: int) -> None:
        from tests.factories import make_check

        texts = tuple(f"Which espresso machine is best for an office of {number} people?" for number in range(prompts))
        make_check(self._user, prompts=texts, providers=tuple(systems), samples=samples)

    def done(self) -> int:
        """How many jobs have ended with all that is kept of them."""
        from capture.models import Capture

        return Capture.objects.count()

    def open(self) -> int:
        """How many jobs have not ended."""
        from capture.models import CaptureJob

        return CaptureJob.objects.open().count()

    def analyze(self) -> None:
        """Let the planner know how large the tables are: empty ones would be read whole for every foreign key."""
        from benchmarks.database import analyze

        analyze()

    def part(self) -> None:
        """Let go of the database, so that it can be copied."""
        from django.db import connection

        connection.close()


if __name__ == "__main__":
    main()
