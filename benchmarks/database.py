"""A database of its own for a benchmark, made beside the development one and taken away afterwards."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import django


@contextmanager
def database() -> Iterator[None]:
    """An empty database; settings are those of a server, with a simulator that is not there."""
    os.environ |= {"DEBUG": "off", "HTTPS": "off", "DATABASE_URL": "embedded:", "AICONTROL_ENV": os.devnull}
    for name, value in {"SECRET_KEY": "benchmark", "LOG_LEVEL": "ERROR", "SIMULATOR_URL": "http://127.0.0.1:9"}.items():
        os.environ.setdefault(name, value)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "aicontrol.settings")
    django.setup()

    from django.conf import settings
    from django.test.utils import setup_databases, setup_test_environment, teardown_databases

    settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
    setup_test_environment(debug=False)
    made = setup_databases(verbosity=0, interactive=False)
    try:
        yield
    finally:
        _part_with_others()
        teardown_databases(made, verbosity=0)


def _part_with_others() -> None:
    """Processes that have just ended may still be connected."""
    from django.db import connection

    others = "datname = current_database() AND pid <> pg_backend_pid()"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {others}")
