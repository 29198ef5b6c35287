"""django-q2 with its ORM broker."""

from __future__ import annotations

import time

from django.db import transaction
from django_q.models import OrmQ
from django_q.tasks import async_task

from benchmarks.frame.stamps import stamp

WORK = "benchmarks.peers.by_django_q.work"


def work() -> None:
    stamp()


class Commands:
    def enqueue(self, jobs: int) -> None:
        with transaction.atomic():  # it has no bulk way
            for _ in range(jobs):
                async_task(WORK)

    def one(self) -> float:
        with transaction.atomic():
            async_task(WORK)
            return time.monotonic()

    def empty(self) -> None:
        OrmQ.objects.all().delete()
