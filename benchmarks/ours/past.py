"""A long past of ours: copies of jobs that a worker has really finished, with all that is kept of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction
from django.db.models import AutoField, BaseConstraint, Field, Model, UniqueConstraint

from capture.models import Attempt, Capture, CaptureJob, Charge, Gist, Mention, Source

ORIGINALS = 1_000  # jobs that are copied, at most
SAMPLES = 10  # more than any check asks; so far apart are the samples of copies

# The jobs that are copied, each with a place, from 1 on.
CHOOSE = f"""
CREATE TEMP TABLE original AS
SELECT row_number() OVER (ORDER BY job.id) AS place, job.id AS job_id, own.id AS capture_id
FROM capture_capturejob job LEFT JOIN capture_capture own USING (prompt_id, provider, sample)
WHERE job.status = 'done' AND sample < {SAMPLES} ORDER BY job.id LIMIT {ORIGINALS}
"""

# What is another thing in the copy `nth` than in the row that it copies. Numbers are reckoned, as looking up a million
# takes longer than writing them.
NEW_NUMBER = "%({})s + (was.nth - 1) * %(originals)s + was.place"
JOB, CAPTURE = NEW_NUMBER.format("jobs"), NEW_NUMBER.format("captures")
ATTEMPT = "md5(was.{}::text || was.nth)::uuid"
SAMPLE = f"was.sample + {SAMPLES} * was.nth"
AGO = "was.{} - was.nth * interval '1 minute'"

# Of each table what is replaced, and how the row that is copied, `kept`, comes to an original.
COPIED: Mapping[type[Model], tuple[Mapping[str, str], str]] = {
    CaptureJob: (
        {"id": JOB, "sample": SAMPLE, "finished_at": AGO.format("finished_at")},
        "JOIN capture_capturejob kept ON kept.id = original.job_id",
    ),
    Attempt: ({"id": ATTEMPT.format("id"), "job_id": JOB}, "JOIN capture_attempt kept USING (job_id)"),
    Charge: (
        {"attempt": ATTEMPT.format("attempt")},
        "JOIN capture_attempt own USING (job_id) JOIN capture_charge kept ON kept.attempt = own.id",
    ),
    Capture: (
        {
            "id": CAPTURE,
            "sample": SAMPLE,
            "attempt": ATTEMPT.format("attempt"),
            "answered_at": AGO.format("answered_at"),
        },
        "JOIN capture_capture kept ON kept.id = original.capture_id",
    ),
    Source: ({"capture_id": CAPTURE}, "JOIN capture_source kept USING (capture_id)"),
    Mention: ({"capture_id": CAPTURE}, "JOIN capture_mention kept USING (capture_id)"),
    Gist: (
        {"capture_id": CAPTURE, "answered_at": AGO.format("answered_at")},
        "JOIN capture_gist kept USING (capture_id)",
    ),
}


def fill(finished: int) -> None:
    """Have so many finished jobs more, with attempts, charges, answers, sources, mentions and gists.

    They are copies of those that a worker has finished here before, so that they are as real ones are.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        _spare_lookups(cursor)
        cursor.execute("SET LOCAL maintenance_work_mem = '256MB'")
        cursor.execute(CHOOSE)
        originals = cursor.rowcount
        copies = finished // originals
        place = {"originals": originals, "copies": copies}
        place |= {
            "jobs": _reserve(cursor, CaptureJob, originals * copies),
            "captures": _reserve(cursor, Capture, originals * copies),
        }
        with _without_indexes(COPIED):
            for model, (replaced, joined) in COPIED.items():
                cursor.execute(_copies(model, replaced, joined), place)
        cursor.execute("DROP TABLE original")


def _spare_lookups(cursor: Any) -> None:
    """Whoever may leaves out to look up foreign keys a million times; for others none is put off to the end."""
    cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    if _is_superuser(cursor):
        cursor.execute("SET LOCAL session_replication_role = replica")


def _is_superuser(cursor: Any) -> bool:
    cursor.execute("SELECT current_setting('is_superuser') = 'on'")
    return bool(cursor.fetchone()[0])


def _reserve(cursor: Any, model: type[Model], count: int) -> int:
    """The number after which so many are free for new rows."""
    cursor.execute(
        "SELECT setval(sequence, nextval(sequence) + %(count)s) - %(count)s"
        " FROM CAST(pg_get_serial_sequence(%(table)s, 'id') AS regclass) sequence",
        {"count": count, "table": model._meta.db_table},
    )
    return int(cursor.fetchone()[0])


@contextmanager
def _without_indexes(models: Collection[type[Model]]) -> Iterator[None]:
    """Take away the indexes that models name, and make them again as migrations have: all at once is faster.

    Of its own numbers and of foreign keys a table keeps them. All of it is one transaction, so whatever breaks off
    leaves the tables as they were.
    """
    with connection.schema_editor(atomic=False) as editor:
        for model in models:
            for index in model._meta.indexes:
                editor.remove_index(model, index)
            for constraint in _unique(model):
                editor.remove_constraint(model, constraint)
        yield
        for model in models:
            for index in model._meta.indexes:
                editor.add_index(model, index)
            for constraint in _unique(model):
                editor.add_constraint(model, constraint)


def _unique(model: type[Model]) -> list[BaseConstraint]:
    """The constraints that are indexes."""
    return [constraint for constraint in model._meta.constraints if isinstance(constraint, UniqueConstraint)]


def _copies(model: type[Model], replaced: Mapping[str, str], joined: str) -> str:
    """The statement that copies rows of a table. Arguments: see `COPIED`."""
    columns = [str(field.column) for field in model._meta.concrete_fields if not _is_given(field, replaced)]
    names = ", ".join(f'"{column}"' for column in columns)
    values = ", ".join(replaced.get(column, f'was."{column}"') for column in columns)
    # The inner query needs each `nth`, so it stays the inner one, and rows are written in the order of their numbers.
    return f"""
    INSERT INTO {model._meta.db_table} ({names})
    WITH one AS MATERIALIZED (SELECT original.place, kept.* FROM original {joined})
    SELECT {values}
    FROM generate_series(1, %(copies)s) copy (nth), LATERAL (SELECT one.*, copy.nth FROM one OFFSET 0) was
    """


def _is_given(field: Field[Any, Any], replaced: Collection[str]) -> bool:
    """Whether it is a number that the database gives itself."""
    return isinstance(field, AutoField) and field.column not in replaced
