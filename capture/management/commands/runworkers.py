"""`manage.py runworkers`: work the tickets off."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import connection

from capture import notifications, retry, systems
from capture.listener import Listener
from capture.systemd import ServiceManager
from capture.worker import Pace, Worker


def seats(value: str) -> int:
    """An argparse type: 1 to 256 seats."""
    number = int(value)
    if not 1 <= number <= 256:
        raise argparse.ArgumentTypeError("must be from 1 to 256")
    return number


def seconds(value: str) -> float:
    """An argparse type: 0 to 3600 seconds."""
    number = float(value)
    if not 0 <= number <= 3600:
        raise argparse.ArgumentTypeError("must be from 0 to 3600 seconds")
    return number


@contextmanager
def listening(worker: Worker) -> Iterator[None]:
    """Have the worker woken when something is enqueued, unless CAPTURE_LISTEN is off."""
    if not settings.CAPTURE_LISTEN:
        yield
        return
    with closing(
        Listener(
            notifications.listening_parameters,
            notifications.CHANNEL,
            worker.wake,
            direct=isinstance(settings.CAPTURE_LISTEN, dict),
        )
    ):
        yield


class Command(BaseCommand):
    help = "Ask the AI systems what is in the queue, until told to stop by SIGTERM or Ctrl-C."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--concurrency", type=seats, default=settings.CAPTURE_CONCURRENCY, metavar="N", help="calls at once"
        )
        parser.add_argument("--drain", action="store_true", help="end once no job is open")
        parser.add_argument(
            "--poll", type=seconds, default=settings.CAPTURE_POLL, metavar="S", help="seconds between looks"
        )
        parser.add_argument(
            "--grace", type=seconds, default=settings.CAPTURE_GRACE, metavar="S", help="seconds for calls when stopping"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        connection.settings_dict["OPTIONS"]["application_name"] = "aicontrol worker"
        pace = Pace(
            seats=options["concurrency"],
            poll=options["poll"],
            grace=options["grace"],
            exchange=settings.CAPTURE_EXCHANGE_DEADLINE,
            drain=options["drain"],
        )
        limits = retry.Limits(
            settings.CAPTURE_MAX_ATTEMPTS, settings.CAPTURE_UNKNOWN_RETRIES, settings.CAPTURE_REMOTE_DEADLINE
        )
        with closing(ServiceManager()) as manager:
            worker = Worker(systems.configured(), pace, limits, manager=manager)
            worker.stop_on_signals()
            with listening(worker):
                tidy = worker.run()
        if not tidy:
            sys.stderr.flush()
            # Seats that still wait for a reply would hold up a usual exit.
            os._exit(1)
