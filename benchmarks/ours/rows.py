"""Rows of ours that a benchmark writes itself: the bound of enqueueing, and a long past."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import psycopg
from django.db import connection, transaction
from django.db.models import AutoField, Model

from capture.models import Attempt, Capture, CaptureJob, Charge, Mention, Source

AT_ONCE = 50_000  # jobs in one transaction
SAMPLES = 10  # more than any check asks; so far apart are the samples of copies

# The copies of a finished job, numbered by `nth`, and where to find what belongs to them.
COPIES = "model_job base CROSS JOIN generate_series(%(first)s, %(last)s) nth"
ATTEMPT = "md5(was.{}::text || nth)::uuid"
SAMPLE = f"was.sample + {SAMPLES} * nth"
NEW = "new.prompt_id = base.prompt_id AND new.provider = base.provider AND new.sample = base.sample + %(apart)s * nth"


def insert_newest_again(jobs: int) -> float:
    """Take the newest jobs away, write the same rows by one multi-row INSERT; seconds of that and its COMMIT."""
    columns = _columns(CaptureJob)
    names = ", ".join(columns)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {names} FROM capture_capturejob ORDER BY id DESC LIMIT %s", [jobs])
        rows = cursor.fetchall()
        cursor.execute(
            "DELETE FROM capture_capturejob WHERE id IN (SELECT id FROM capture_capturejob ORDER BY id DESC LIMIT %s)",
            [jobs],
        )
    places = ", ".join([f"({', '.join(['%s'] * len(columns))})"] * jobs)
    values = [value for row in rows for value in row]
    statement = psycopg.ClientCursor(connection.connection).mogrify(
        f"INSERT INTO capture_capturejob ({names}) VALUES {places}", values
    )
    with connection.cursor() as cursor:
        began = time.monotonic()
        cursor.execute(statement)
        return time.monotonic() - began


def fill(finished: int) -> None:
    """Have so many finished jobs more, with attempts, charges, answers, sources and mentions.

    They are copies of those that a worker has finished here before, so that they are as real ones are.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TEMP TABLE model_job AS SELECT id, prompt_id, provider, sample FROM capture_capturejob"
            " WHERE status = 'done' AND sample < %s ORDER BY id LIMIT 1000",
            [SAMPLES],
        )
        models = cursor.rowcount
        copies = finished // models
        at_once = max(1, AT_ONCE // models)
        for first in range(1, copies + 1, at_once):
            _copy(cursor, first, min(first + at_once - 1, copies))
        cursor.execute("DROP TABLE model_job")


def _copy(cursor: Any, first: int, last: int) -> None:
    place = {"first": first, "last": last, "apart": SAMPLES}
    with transaction.atomic():
        if _is_superuser(cursor):  # who need not look up a foreign key a million times
            cursor.execute("SET LOCAL session_replication_role = replica")
        for statement in STATEMENTS:
            cursor.execute(statement, place)


def _is_superuser(cursor: Any) -> bool:
    cursor.execute("SELECT current_setting('is_superuser') = 'on'")
    return bool(cursor.fetchone()[0])


def _columns(model: type[Model]) -> list[str]:
    """All but a number that the database gives itself."""
    return [f'"{field.column}"' for field in model._meta.concrete_fields if not isinstance(field, AutoField)]


def _copied(model: type[Model], replaced: Mapping[str, str], joined: str) -> str:
    """The statement that copies rows of a table.

    Arguments:
        replaced: columns that are another thing in a copy.
        joined: how the row that is copied, `was`, comes to a copy.
    """
    columns = _columns(model)
    values = (replaced.get(column.strip('"'), f"was.{column}") for column in columns)
    return (
        f"INSERT INTO {model._meta.db_table} ({', '.join(columns)}) SELECT {', '.join(values)} FROM {COPIES} {joined}"
    )


AGO = "was.{} - nth * interval '1 minute'"
OF_JOB = f"JOIN capture_capturejob new ON {NEW}"
OF_CAPTURE = f"JOIN capture_capture new ON {NEW}"
BASE_CAPTURE = "JOIN capture_capture own USING (prompt_id, provider, sample)"

STATEMENTS = (
    _copied(
        CaptureJob,
        {"sample": SAMPLE, "finished_at": AGO.format("finished_at")},
        "JOIN capture_capturejob was ON was.id = base.id",
    ),
    _copied(
        Attempt,
        {"id": ATTEMPT.format("id"), "job_id": "new.id"},
        f"JOIN capture_attempt was ON was.job_id = base.id {OF_JOB}",
    ),
    _copied(
        Charge,
        {"attempt": ATTEMPT.format("attempt")},
        "JOIN capture_attempt own ON own.job_id = base.id JOIN capture_charge was ON was.attempt = own.id",
    ),
    _copied(
        Capture,
        {"sample": SAMPLE, "attempt": ATTEMPT.format("attempt"), "answered_at": AGO.format("answered_at")},
        "JOIN capture_capture was USING (prompt_id, provider, sample)",
    ),
    *(
        _copied(
            model, {"capture_id": "new.id"}, f"{BASE_CAPTURE} JOIN {table} was ON was.capture_id = own.id {OF_CAPTURE}"
        )
        for model, table in ((Source, "capture_source"), (Mention, "capture_mention"))
    ),
)
