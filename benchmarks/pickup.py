"""How long a check waits on an idle system: from its COMMIT to the first call that an AI system receives.

    .venv/bin/python -m benchmarks.pickup
    .venv/bin/python -m benchmarks.pickup --listen off --poll 1

A real worker process, a real PostgreSQL (a scratch database on the embedded one, or on the one that DATABASE_URL
names), the simulator over real HTTP. Beside each check the same run measures the least that any program could need:
a NOTIFY that is heard by a bare LISTEN, and answered by one SELECT.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import psycopg

from simulator.app import App
from simulator.exchange import Reply, Request
from simulator.server import Server as HttpServer
from tests.killtest.__main__ import keep_the_environment_out
from tests.killtest.server import Server
from tests.process.running import ROOT, until

WARM_UP = 3  # checks that are not counted: a new process loads what it needs as it first needs it
# A system that answers in its start call itself, at once: so the worker is idle again soon.
SYSTEM = {"GEMINI_API_KEY": "benchmark", "GEMINI_API": "generate_content"}
REST = 0.2  # seconds, at most, between checks; without LISTEN a whole poll, so that a check comes at any moment of it
PATIENCE = 30.0  # seconds after which a check counts as never picked up


class Systems(App):
    """The simulator, which also notes when a request arrives."""

    def __init__(self) -> None:
        super().__init__(speed=math.inf)
        self.arrived = threading.Event()
        self.at = 0.0

    def handle(self, request: Request) -> Reply:
        if not self.arrived.is_set():
            self.at = time.monotonic()
            self.arrived.set()
        return super().handle(request)


class Bound:
    """The least there is: a NOTIFY, heard by another session, which then asks one thing."""

    def __init__(self, url: str) -> None:
        self._speaker = psycopg.connect(url)
        self._listener = psycopg.connect(url, autocommit=True)
        self._listener.execute("LISTEN benchmark")

    def seconds(self) -> float:
        """One round: from just before the COMMIT to the answer."""
        answered = threading.Thread(target=self._hear)
        answered.start()
        self._speaker.execute("NOTIFY benchmark")
        began = time.monotonic()
        self._speaker.commit()
        answered.join()
        return self._at - began

    def _hear(self) -> None:
        list(self._listener.notifies(timeout=PATIENCE, stop_after=1))
        self._listener.execute("SELECT 1").fetchone()
        self._at = time.monotonic()

    def close(self) -> None:
        self._speaker.close()
        self._listener.close()


def main() -> None:
    """Read the command line, measure, print."""
    arguments = _read()
    keep_the_environment_out()
    folder = Path(os.environ.get("AICONTROL_DATA", ".data/benchmarks")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with Server(folder, os.environ.get("DATABASE_URL", "")) as server, _simulator() as (systems, url):
        os.environ |= {"DATABASE_URL": server.url, "SIMULATOR_URL": url, "LOG_LEVEL": "WARNING"}
        os.environ |= SYSTEM | {"GEMINI_BASE_URL": f"{url}/gemini"}
        import django

        django.setup()
        with _worker(arguments, folder / "pickup.log"):
            waits, bounds = _measure(arguments, systems)
    _print(arguments, waits, bounds)


def _read() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pickup", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--checks", type=int, default=200)
    parser.add_argument("--poll", type=float, default=1.0, metavar="S", help="of the worker")
    parser.add_argument("--listen", choices=("on", "off"), default="on", help="of the worker")
    parser.add_argument("--concurrency", type=int, default=8, metavar="N", help="of the worker")
    parser.add_argument("--seed", type=int, default=1, help="of the rests between the checks")
    return parser.parse_args()


@contextmanager
def _simulator() -> Iterator[tuple[Systems, str]]:
    server = HttpServer("127.0.0.1", 0)
    server.app = systems = Systems()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield systems, server.url
    finally:
        server.stop()


@contextmanager
def _worker(arguments: argparse.Namespace, log: Path) -> Iterator[None]:
    from django.core.management import call_command

    from capture.models import Worker

    call_command("migrate", verbosity=0)
    options = ["--poll", str(arguments.poll), "--concurrency", str(arguments.concurrency)]
    command = [sys.executable, "manage.py", "runworkers", *options]
    environment = os.environ | {"CAPTURE_LISTEN": arguments.listen}
    with log.open("wb") as said, subprocess.Popen(command, cwd=ROOT, env=environment, stderr=said) as process:
        try:
            until(Worker.objects.exists)
            yield
        finally:
            process.terminate()
            process.wait()


def _measure(arguments: argparse.Namespace, systems: Systems) -> tuple[list[float], list[float]]:
    """The waits of all checks, and the bound measured beside each, in seconds."""
    from django.db import connection

    from tests.factories import make_user

    random, user = Random(arguments.seed), make_user()
    bound = Bound(os.environ["DATABASE_URL"].replace("@/", "@", 1))
    waits, bounds = [], []
    for _ in range(WARM_UP + arguments.checks):
        _let_it_come_to_rest(random, REST if arguments.listen == "on" else arguments.poll)
        bounds.append(bound.seconds())
        waits.append(_wait_of_a_check(user, systems))
    bound.close()
    connection.close()
    return waits[WARM_UP:], bounds[WARM_UP:]


def _let_it_come_to_rest(random: Random, most: float) -> None:
    from capture.models import CaptureJob

    until(lambda: not CaptureJob.objects.open().exists())
    time.sleep(REST / 4 + random.uniform(0, most))


def _wait_of_a_check(user: Any, systems: Systems) -> float:
    """Seconds from just before the COMMIT of a check to its call's arrival; so the COMMIT itself is in it."""
    from django.db import transaction

    from tests.factories import make_check

    systems.arrived.clear()
    with transaction.atomic():
        make_check(user, providers=("gemini",))
        committing = time.monotonic()
    assert systems.arrived.wait(PATIENCE), "the check was not picked up"
    return systems.at - committing


def _print(arguments: argparse.Namespace, waits: Sequence[float], bounds: Sequence[float]) -> None:
    where = f"Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(
        f"{arguments.checks} checks, one job each; one worker of {arguments.concurrency} seats, idle in between; "
        f"LISTEN {arguments.listen}, a look every {arguments.poll:g} s; {where}\n"
    )
    print("| milliseconds | p50 | p99 | most |\n|---|---|---|---|")
    for name, seconds in (("COMMIT of a check to its first call", waits), ("bare NOTIFY, LISTEN, SELECT", bounds)):
        print(
            f"| {name} | {_percentile(seconds, 50):.1f} | {_percentile(seconds, 99):.1f} | {1e3 * max(seconds):.1f} |"
        )
    print(f"\np50 is {_percentile(waits, 50) / _percentile(bounds, 50):.1f} times the bound's.")


def _percentile(seconds: Sequence[float], share: int) -> float:
    """In milliseconds, the nearest rank."""
    return 1e3 * sorted(seconds)[max(0, -(-share * len(seconds) // 100) - 1)]


if __name__ == "__main__":
    main()
