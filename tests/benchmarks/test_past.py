"""A long past: each copy of a finished job has all that is kept of the original, and the tables are as they were."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.db.models import Model

from benchmarks.ours import past
from capture import queue
from capture.models import Attempt, Capture, CaptureJob, Charge, Gist, Mention, Source
from capture.providers import replies
from tests.factories import claim_one, complete_one, fresh, make_check, make_job, unknown_error

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]

TABLES = (CaptureJob, Attempt, Charge, Capture, Source, Mention, Gist)
OF_THE_COPY = {"id", "job_id", "capture_id", "sample", "attempt", "finished_at", "answered_at"}


@pytest.fixture
def finished(db) -> list[CaptureJob]:
    """Finished jobs with more and more of all that is kept, of which the last one was tried twice; others are open."""
    texts = ("Nobody is named.", "Northwind is.", "Contoso is cheaper than Northwind.")
    jobs = []
    for number, text in enumerate(texts):
        jobs.append(job := make_job())
        if number == len(texts) - 1:
            queue.ask_again(claim_one(job), unknown_error(), 0)
            queue.promote_due()
        complete_one(job, text, sources=sources(number))
    make_check(prompts=("Which is quiet?", "Which lasts?"))
    return [fresh(job) for job in jobs]


def sources(count: int) -> tuple[replies.Source, ...]:
    urls = (f"https://reviews{number}.example/" for number in range(count))
    return tuple(replies.Source(url, url, "", cited=True) for url in urls)


def as_kept(rows: Iterable[Model]) -> list[str]:
    """Rows by what a copy has in common with its original, in an order that is the same for both."""
    columns = [
        {key: value for key, value in vars(row).items() if key not in OF_THE_COPY and not key.startswith("_")}
        for row in rows
    ]
    return sorted(map(repr, columns))


def all_kept(job: CaptureJob) -> dict[type[Model], list[str]]:
    """What is kept of a job in every table."""
    tries = job.tries.all()
    capture = Capture.objects.get(prompt=job.prompt_id, provider=job.provider, sample=job.sample)
    assert capture.attempt in {attempt.pk for attempt in tries}
    assert capture.gist.answered_at == capture.answered_at
    return {
        CaptureJob: as_kept([job]),
        Attempt: as_kept(tries),
        Charge: as_kept(Charge.objects.filter(attempt__in=tries.values("pk"))),
        Capture: as_kept([capture]),
        Source: as_kept(capture.sources.all()),
        Mention: as_kept(capture.mentions.all()),
        Gist: as_kept([capture.gist]),
    }


INDEXES = """
SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid), conname, pg_get_constraintdef(pg_constraint.oid)
FROM pg_index LEFT JOIN pg_constraint ON conindid = indexrelid WHERE starts_with(indrelid::regclass::text, 'capture_')
"""


def indexes() -> set[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(INDEXES)
        return set(cursor.fetchall())


@pytest.mark.parametrize("superuser", [True, False])
def test_each_copy_has_all_that_is_kept_of_a_job(finished, monkeypatch, superuser):
    monkeypatch.setattr(past, "_is_superuser", lambda _: superuser)
    counts = {table: table.objects.count() for table in TABLES}
    still_open = CaptureJob.objects.open().count()

    past.fill(4 * len(finished))

    for original in finished:
        same = CaptureJob.objects.filter(prompt=original.prompt_id, provider=original.provider).order_by("sample")
        assert [job.sample - original.sample for job in same] == [past.SAMPLES * nth for nth in range(5)]
        assert [original.finished_at - job.finished_at for job in same] == [timedelta(minutes=nth) for nth in range(5)]
        assert all(all_kept(job) == all_kept(original) for job in same)
    assert CaptureJob.objects.open().count() == still_open
    counts[CaptureJob] -= still_open
    assert {table: table.objects.count() for table in TABLES} == {
        table: 5 * count + (still_open if table is CaptureJob else 0) for table, count in counts.items()
    }


def test_work_goes_on_afterwards(finished):
    past.fill(4 * len(finished))
    CaptureJob.objects.open().delete()

    complete_one(job := make_job())

    assert all_kept(fresh(job))[Gist]
    assert job.pk == CaptureJob.objects.latest("pk").pk


def test_indexes_are_as_they_were(finished):
    before = indexes()

    past.fill(len(finished))

    assert indexes() == before
    assert len(before) > len(TABLES)


def test_what_breaks_off_leaves_all_as_it_was(finished, monkeypatch):
    before, count = indexes(), CaptureJob.objects.count()
    monkeypatch.setitem(past.COPIED, Gist, ({}, "JOIN nothing kept USING (capture_id)"))

    with pytest.raises(DatabaseError, match="nothing"):
        past.fill(len(finished))

    assert indexes() == before
    assert CaptureJob.objects.count() == count
