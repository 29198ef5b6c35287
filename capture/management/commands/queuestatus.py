"""`manage.py queuestatus`: how the queue stands, for people and for monitoring."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import Error as DatabaseTrouble

from capture import database
from capture.formatting.counts import counted
from capture.models import Status
from capture.reports.backlog import MOST_FINISHED
from capture.reports.queue_status import MOST_UNSETTLED, QueueStatus, label_of, queue_status
from capture.reports.times import span

NEEDS_A_PERSON = 1
CANNOT_TELL = 2

PATIENCE = 30.0  # seconds for all that is asked of the database

Table = Iterable[Sequence[object]]


class Command(BaseCommand):
    help = "Say how the queue stands. Exit code 1: something needs a person; 2: the database cannot be asked."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one object on standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        status = read()
        try:
            self.stdout.write(json.dumps(status.as_json(), ensure_ascii=False) if options["json"] else in_words(status))
        finally:
            # Whoever read the first lines may have gone; the exit code is right all the same.
            if status.troubles:
                raise SystemExit(NEEDS_A_PERSON)


def read() -> QueueStatus:
    """The status, or within a bounded time one line about why there is none."""
    try:
        with database.bounded(PATIENCE):
            return queue_status()
    except DatabaseTrouble as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise CommandError(f"The database cannot be asked: {why}", returncode=CANNOT_TELL) from error


# -------------------------------------------------------------------------------------------------------- in words


def in_words(status: QueueStatus) -> str:
    """The status as text, aligned, in paragraphs."""
    paragraphs = [
        "\n".join(f"NEEDS A PERSON: {trouble.words}" for trouble in status.troubles) or "Nothing needs a person.",
        aligned(jobs(status)) + bound(status),
        aligned(lanes(status)),
        aligned(workers(status)),
        aligned(rest(status)),
    ]
    return f"The queue at {status.at:%Y-%m-%d %H:%M:%S} UTC\n\n" + "\n\n".join(paragraphs)


def aligned(table: Table) -> str:
    """A table in columns: numbers to the right, the rest to the left."""
    rows = [list(row) for row in table]
    widths = [max(len(str(cell)) for cell in column) for column in zip(*rows, strict=True)]
    numbers = [any(isinstance(cell, int) for cell in column) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(
            str(cell).rjust(width) if number else str(cell).ljust(width)
            for cell, width, number in zip(row, widths, numbers, strict=True)
        )
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def jobs(status: QueueStatus) -> Table:
    yield "jobs", *(each.value for each in Status)
    for slug, counts in status.backlog.jobs.items():
        yield label_of(slug), *(counts[each] for each in Status)


def bound(status: QueueStatus) -> str:
    if status.backlog.complete:
        return "\n(done, failed and cancelled: of the last 24 h)"
    return f"\n(done, failed and cancelled: the last {MOST_FINISHED:,}, all of them of the last 24 h)"


def lanes(status: QueueStatus) -> Table:
    yield "lanes", "in flight", "limit", "state"
    for name, lane in status.lanes.items():
        yield name, lane.in_flight, lane.limit, lane.words


def workers(status: QueueStatus) -> Table:
    yield "workers", "state", "last beat", "seats", "stuck", "jobs held", "asks"
    for worker in status.crew.workers:
        beat = f"{span(worker.silent_seconds)} ago"
        asks = ", ".join(label_of(slug) for slug in worker.providers)
        place = f"{worker.host}:{worker.pid}"
        yield place, worker.health, beat, worker.seats, worker.stuck, worker.held, asks
    if not status.crew.workers:
        yield "none", *[""] * 6


def rest(status: QueueStatus) -> Table:
    orphans, recovered, spend = status.crew.orphans, status.crew.recovered, status.spend
    more = " or more" if status.unsettled == MOST_UNSETTLED else ""
    yield "oldest waiting", oldest(status)
    yield "orphans", f"{orphans.jobs}, silent for up to {span(orphans.silent_seconds)}" if orphans.jobs else "none"
    yield "recovered in 24 h", f"{counted(recovered.jobs_taken_back, 'job')}; workers lost: {recovered.workers_lost}"
    yield "open after a crash", counted(recovered.crashed_open, "job")
    yield "unknown outcomes", f"{status.unsettled}{more} not settled"
    yield "spend today (UTC)", f"{spend.amount:.2f} USD, simulated: {spend.simulated:.2f} USD"


def oldest(status: QueueStatus) -> str:
    job = status.backlog.oldest
    if job is None:
        return "none"
    return f"job {job.job}, {label_of(job.provider)}, for {span(job.seconds)}: {job.wait.words}"
