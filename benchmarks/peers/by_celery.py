"""Celery with Redis for its broker."""

from __future__ import annotations

import time

from celery import Celery, group, shared_task

from benchmarks.frame.stamps import stamp

app = Celery("peers")
app.config_from_object("django.conf:settings", namespace="CELERY")


@shared_task
def work() -> None:
    stamp()


class Commands:
    def enqueue(self, jobs: int) -> None:
        group(work.s() for _ in range(jobs)).apply_async()

    def one(self) -> float:
        began = time.monotonic()  # nothing is committed; it is sent at once
        work.delay()
        return began

    def empty(self) -> None:
        app.control.purge()
