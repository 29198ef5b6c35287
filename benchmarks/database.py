"""A database of its own for a benchmark, made beside the development one and taken away afterwards."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import django

SERVER = {
    "DJANGO_SETTINGS_MODULE": "aicontrol.settings",
    "AICONTROL_ENV": os.devnull,
    "DEBUG": "off",
    "HTTPS": "off",
    "SECRET_KEY": "of a benchmark",
    "LOG_LEVEL": "ERROR",
    "SIMULATOR_URL": "http://127.0.0.1:9",  # the systems can be asked; nothing listens there
}


@contextmanager
def database() -> Iterator[None]:
    """An empty database, on the embedded server or the one that DATABASE_URL names; settings are those of a server."""
    os.environ.setdefault("DATABASE_URL", "embedded:")
    os.environ |= SERVER
    django.setup()

    from django.conf import settings
    from django.test.utils import setup_databases, setup_test_environment, teardown_databases

    settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
    settings.MIDDLEWARE.remove("whitenoise.middleware.WhiteNoiseMiddleware")  # it misses what nobody has collected
    setup_test_environment(debug=False)
    made = setup_databases(verbosity=0, interactive=False)
    try:
        yield
    finally:
        _part_with_others()
        teardown_databases(made, verbosity=0)


def analyze() -> None:
    """Let the planner know how large the tables are, as autovacuum would have by now."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def _part_with_others() -> None:
    """Processes that have just ended may still be connected."""
    from django.db import connection

    others = "datname = current_database() AND pid <> pg_backend_pid()"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {others}")
