"""`manage.py cleanupjobs`: delete old jobs, workers that have gone, expired sessions and failed logins of the past."""

from __future__ import annotations

import argparse
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand
from django.db import connection

from capture.cleanup import Cleanup, Tally
from capture.formatting.counts import counted

MOST_DAYS = 36_500
MOST_IN_A_BATCH = 10_000


def days(value: str) -> timedelta:
    """An argparse type: 0 to 36500 days."""
    number = int(value)
    if not 0 <= number <= MOST_DAYS:
        raise argparse.ArgumentTypeError(f"must be from 0 to {MOST_DAYS} days")
    return timedelta(days=number)


def rows(value: str) -> int:
    """An argparse type: 1 to 10000 rows."""
    number = int(value)
    if not 1 <= number <= MOST_IN_A_BATCH:
        raise argparse.ArgumentTypeError(f"must be from 1 to {MOST_IN_A_BATCH}")
    return number


@contextmanager
def stopped_by_signals() -> Iterator[threading.Event]:
    """An event that SIGTERM and Ctrl-C set."""
    stop = threading.Event()
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Command(BaseCommand):
    help = (
        "Delete old final jobs, workers that have gone, expired sessions and failed logins of the past, but no answer "
        "and no charge."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--days", type=days, default=days("14"), metavar="N", help="age of jobs that are done or cancelled (14)"
        )
        parser.add_argument(
            "--failed-days", type=days, default=days("30"), metavar="N", help="age of jobs that failed (30)"
        )
        parser.add_argument("--batch", type=rows, default=500, metavar="N", help="rows in one transaction (500)")
        parser.add_argument("--dry-run", action="store_true", help="only say what would be deleted")

    def handle(self, *args: Any, **options: Any) -> None:
        connection.settings_dict["OPTIONS"]["application_name"] = "aicontrol cleanup"
        with stopped_by_signals() as stop:
            cleanup = Cleanup(options["days"], options["failed_days"], options["batch"], stop)
            tally = cleanup.foresee() if options["dry_run"] else cleanup.run()
        done = "Would delete" if options["dry_run"] else "Deleted"
        self.stdout.write(f"{done} {in_words(tally)}{' Stopped before the end.' if stop.is_set() else ''}")


def in_words(tally: Tally) -> str:
    """What was or would be deleted, in one line."""
    jobs = f"{counted(tally.jobs, 'job')} with {counted(tally.attempts, 'attempt')}"
    stay = counted(tally.kept, "old job stays", "old jobs stay")
    workers, sessions = counted(tally.workers, "worker"), counted(tally.sessions, "session")
    others = f"{workers}, {sessions} and {counted(tally.logins, 'failed login')}"
    return f"{jobs}, {others}; {stay}, since a charge or a call is not settled."
