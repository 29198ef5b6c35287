"""`python -m benchmarks.ours.hand`: does to our queue what a benchmark asks for by its standard input."""

from __future__ import annotations

import time
from typing import Any

import django

from benchmarks.frame import hand

PROMPTS, MOST_JOBS = 100, 500  # of one check, at most


def main() -> None:
    django.setup()
    hand.serve(Ours())


class Ours:
    """Commands that a benchmark gives."""

    def __init__(self) -> None:
        self._user: Any = None

    def prepare(self, made: bool) -> None:
        """Make the tables, unless they are there, and find a user who asks."""
        from django.contrib.auth import get_user_model
        from django.core.management import call_command

        from capture import lanes

        if not made:
            call_command("migrate", verbosity=0)
            lanes.make_missing()
        self._user, _ = get_user_model().objects.get_or_create(username="ada")

    def enqueue(self, jobs: int, systems: list[str]) -> float:
        """Write so many jobs, at most 500 in a check; seconds that it took.

        Raises:
            ValueError: so many cannot be dealt to the AI systems alike.
        """
        if jobs % len(systems):
            raise ValueError(f"{jobs} jobs for {len(systems)} AI systems")
        began = time.monotonic()
        while jobs:
            count = min(MOST_JOBS, jobs)
            samples = -(-count // (PROMPTS * len(systems)))
            prompts = count // (len(systems) * samples)
            self._check(prompts, systems, samples)
            jobs -= prompts * len(systems) * samples
        return time.monotonic() - began

    def one(self) -> float:
        """Write a check of one job; the moment just before its COMMIT."""
        return self.ask(1, ["gemini"])

    def ask(self, prompts: int, systems: list[str]) -> float:
        """Write a check of so many questions; the moment just before its COMMIT."""
        from django.db import transaction

        with transaction.atomic():
            self._check(prompts, systems, 1)
            return time.monotonic()

    def _check(self, prompts: int, systems: list[str], samples: int) -> None:
        from tests.factories import make_check

        texts = tuple(f"Which espresso machine is best for an office of {number} people?" for number in range(prompts))
        make_check(self._user, prompts=texts, providers=tuple(systems), samples=samples)

    def insert(self, jobs: int, systems: list[str]) -> float:
        """Write the rows of so many jobs again, by one statement that is ready to be sent; seconds that it took."""
        from benchmarks.ours import rows

        self.enqueue(jobs, systems)
        return rows.insert_newest_again(jobs)

    def fill(self, finished: int) -> None:
        """Have so many jobs finished before, with all that is kept of them."""
        from benchmarks.ours import past

        past.fill(finished)

    def widen(self, limit: int) -> None:
        """Let so many calls be in flight in each lane, as staff may in the admin."""
        from capture import lanes
        from capture.models import Lane

        lanes.change(list(Lane.objects.values_list("name", flat=True)), limit=limit)

    def in_hand(self) -> int:
        """How many calls are live."""
        from capture.models import CaptureJob

        return CaptureJob.objects.open().filter(remote_id__isnull=False).count()

    def done(self) -> int:
        """How many jobs have ended with all that is kept of them."""
        from capture.models import Capture

        return Capture.objects.count()

    def open(self) -> int:
        """How many jobs have not ended."""
        from capture.models import CaptureJob

        return CaptureJob.objects.open().count()

    def empty(self) -> None:
        """Take out what is in the queue."""
        from capture.models import CaptureJob

        CaptureJob.objects.open().delete()

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
