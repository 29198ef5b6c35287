"""Whether the database has the tables that this release works with.

A database that is ahead of the release is right: migrations first add, and take away only what no release in use needs.
"""

from __future__ import annotations

from django.db import connection
from django.db.migrations.executor import MigrationExecutor


class NotMigratedError(Exception):
    """The database lacks migrations of this release."""

    def __init__(self, missing: list[str]) -> None:
        super().__init__(f"the database lacks migrations, from {missing[0]} on: run manage.py migrate")


def unapplied() -> list[str]:
    """Migrations of this release that the database lacks, in order. Two queries."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]


def require() -> None:
    """See that the database has all migrations of this release.

    Raises:
        NotMigratedError: it lacks some.
    """
    if missing := unapplied():
        raise NotMigratedError(missing)
