"""Queries of the ORM whose SQL is made once.

A worker asks some at every turn, and it takes the ORM longer to write them out than the server to answer them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any

from django.db import connection
from django.db.models import QuerySet

Make = Callable[..., QuerySet[Any, tuple[Any, ...]]]


def fetch(make: Make, *arguments: Hashable) -> list[tuple[Any, ...]]:
    """Return the rows of a query, as the server gives them.

    Arguments:
        make: makes the query, with `values_list`, from the arguments and nothing else; its times are the server's.
    """
    sql, values = _sql(make, *arguments)
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


@lru_cache(maxsize=1_000)
def _sql(make: Make, *arguments: Hashable) -> tuple[str, tuple[Any, ...]]:
    sql, values = make(*arguments).query.sql_with_params()
    return sql, tuple(values)
