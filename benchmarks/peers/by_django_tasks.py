"""django-tasks with django-tasks-db."""

from __future__ import annotations

import time

from django.db import transaction
from django_tasks import task
from django_tasks_db.models import DBTaskResult

from benchmarks.frame.stamps import stamp


@task()
def work() -> None:
    stamp()


class Commands:
    def enqueue(self, jobs: int) -> None:
        with transaction.atomic():  # it has no bulk way
            for _ in range(jobs):
                work.enqueue()

    def one(self) -> float:
        with transaction.atomic():
            work.enqueue()
            return time.monotonic()

    def empty(self) -> None:
        DBTaskResult.objects.ready().delete()
