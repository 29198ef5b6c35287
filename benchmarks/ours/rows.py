"""Rows of ours that a benchmark writes itself: the bound of enqueueing."""

from __future__ import annotations

import time

import psycopg
from django.db import connection
from django.db.models import AutoField, Model

from capture.models import CaptureJob


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


def _columns(model: type[Model]) -> list[str]:
    """All but a number that the database gives itself."""
    return [f'"{field.column}"' for field in model._meta.concrete_fields if not isinstance(field, AutoField)]
