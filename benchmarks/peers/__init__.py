"""The queues that somebody would otherwise take, each in a Django project of their own environment.

Nothing here but `environment` is imported by anything of ours: it runs with the packages of requirements.txt beside it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Peer:
    """A queue, as its documents advise to run it with eight jobs at once.

    Arguments:
        label: what people call it.
        module: of this package; has `work`, the job that does nothing, and `Commands`.
        apps: of Django.
        worker: arguments of Python that start it.
        processes: of the worker; more than one where one process takes one job at a time.
        settings: which matter for what is measured, in words.
        redis: whether it needs one.
    """

    label: str
    module: str
    apps: list[str]
    worker: tuple[str, ...]
    settings: str
    processes: int = 1
    redis: bool = False


MANAGE = ("-m", "django")
CELERY = ("-m", "celery", "-A", "benchmarks.peers.by_celery", "worker", "--concurrency", "8")

PEERS = {
    "procrastinate": Peer(
        "Procrastinate",
        "by_procrastinate",
        ["procrastinate.contrib.django"],
        (*MANAGE, "procrastinate", "worker", "--concurrency", "8"),
        "one process of 8 asynchronous jobs, LISTEN on, jobs kept",
    ),
    "django-tasks-db": Peer(
        "django-tasks-db",
        "by_django_tasks",
        ["django_tasks", "django_tasks_db"],
        (*MANAGE, "db_worker"),
        "8 processes of db_worker, as each takes one task at a time; CONN_MAX_AGE unlimited, a look a second",
        processes=8,
    ),
    "django-q2": Peer(
        "django-q2",
        "by_django_q",
        ["django_q"],
        (*MANAGE, "qcluster"),
        "ORM broker, one cluster of 8 worker processes, save_limit 0 (keep all), a look every 0.2 s",
    ),
    "celery": Peer(
        "Celery, no results",
        "by_celery",
        [],
        CELERY,
        "Redis broker, prefork pool of 8 processes, prefetch multiplier 64, results ignored",
        redis=True,
    ),
    "celery-results": Peer(
        "Celery, results in the database",
        "by_celery",
        ["django_celery_results"],
        CELERY,
        "Redis broker, prefork pool of 8 processes, prefetch multiplier 64, results by django-celery-results",
        redis=True,
    ),
}
