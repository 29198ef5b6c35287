"""Procrastinate, through its Django integration."""

from __future__ import annotations

import time

from django.db import connection, transaction
from procrastinate.contrib.django import app

from benchmarks.frame.stamps import stamp


@app.task
async def work() -> None:
    stamp()


class Commands:
    def enqueue(self, jobs: int) -> None:
        work.batch_defer(*({} for _ in range(jobs)))

    def one(self) -> float:
        with transaction.atomic():
            work.defer()
            return time.monotonic()

    def empty(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM procrastinate_jobs WHERE status = 'todo'")
