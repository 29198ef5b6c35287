"""Whether work goes on at its pace while a cleanup deletes old jobs, and how long a claim then takes at most.

    .venv/bin/python -m benchmarks.cleanup
    .venv/bin/python -m benchmarks.cleanup --old 100000 --seconds 5 --turns 2

One run, one database, turn and turn about: what a worker asks of the queue (claims of eight jobs, their intents, and
all of it taken back) is timed alone, then beside a real `cleanupjobs` process that is stopped by SIGTERM after it.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import mean
from uuid import uuid4

from benchmarks.claims import _fill, _settle
from benchmarks.database import database

LEAST_RATIO = 0.85
LONGEST_CLAIM = 100.0  # milliseconds
LANE, SEATS = "openai", 8

ATTEMPTS = """
    INSERT INTO capture_attempt (id, job_id, number, worker, base_url, simulated, started_at, deadline, ended_at, live,
        outcome, reason, error, spent)
    SELECT gen_random_uuid(), id, 1, gen_random_uuid(), '', true, finished_at, finished_at, finished_at, false,
        'replied', '', '', true
    FROM capture_capturejob WHERE status = 'done'
"""


Turn = tuple[float, list[float]]  # jobs a second, and how long each claim took in milliseconds


def _work(seconds: float) -> Turn:
    from capture import queue
    from tests.factories import routes

    worker, jobs = uuid4(), 0
    claims: list[float] = []
    began = time.perf_counter()
    while time.perf_counter() - began < seconds:
        before = time.perf_counter()
        tickets = queue.claim(LANE, worker, routes(["chatgpt"]), SEATS)
        claims.append(1000 * (time.perf_counter() - before))
        queue.release_strays(worker, [])
        jobs += len(tickets)
    return jobs / (time.perf_counter() - began), claims


@contextmanager
def _cleaning() -> Iterator[None]:
    from capture.models import CaptureJob
    from tests.process.running import ROOT, environment, until

    before = _old(CaptureJob)
    with subprocess.Popen(
        [sys.executable, "manage.py", "cleanupjobs", "--days", "0"],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.DEVNULL,
    ) as process:
        until(lambda: _old(CaptureJob) < before)
        try:
            yield
        finally:
            process.send_signal(signal.SIGTERM)


def _pace(turns: list[Turn]) -> float:
    return mean(pace for pace, _ in turns)


def _claims(turns: list[Turn]) -> str:
    """How long claims took; a disk that is busy with something else shows alone as well."""
    times = sorted(time for _, claims in turns for time in claims)
    over = sum(time > LONGEST_CLAIM for time in times)
    return f"median {times[len(times) // 2]:.1f}, longest {times[-1]:.0f} ms; {over} of {len(times):,} over 100 ms"


def _old(jobs: type) -> int:
    return int(jobs.objects.final().count())  # type: ignore[attr-defined]


def _measure(options: argparse.Namespace, say: Callable[[str], None]) -> bool:
    from django.db import connection

    from capture import lanes
    from capture.models import CaptureJob, Lane
    from tests.factories import make_check

    lanes.make_missing()
    Lane.objects.update(limit=10_000)
    make_check(prompts=tuple(f"{number}?" for number in range(100)))
    _fill("done", options.old)
    with connection.cursor() as cursor:
        cursor.execute(ATTEMPTS)
    _settle()
    _work(2)
    alone, beside, deleted = [], [], []
    for _ in range(options.turns):
        alone.append(_work(options.seconds))
        with _cleaning():
            before, began = _old(CaptureJob), time.perf_counter()
            beside.append(_work(options.seconds))
            deleted.append((before - _old(CaptureJob)) / (time.perf_counter() - began))
    ratio = _pace(beside) / _pace(alone)
    longest = max(time for _, claims in beside for time in claims)
    say(f"jobs a second      {_pace(alone):.0f} alone, {_pace(beside):.0f} beside")
    say(f"their ratio        {ratio:.2f} (least {LEAST_RATIO})")
    say(f"claims alone       {_claims(alone)}")
    say(f"claims beside      {_claims(beside)} (none may be)")
    say(f"deleted a second   {mean(deleted):,.0f}; of {options.old:,} jobs {_old(CaptureJob):,} are left")
    return ratio >= LEAST_RATIO and longest < LONGEST_CLAIM


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", type=int, default=1_000_000, help="jobs to delete (1000000)")
    parser.add_argument("--seconds", type=float, default=20, help="of each half of a turn (20)")
    parser.add_argument("--turns", type=int, default=3, help="alone and beside, one after the other (3)")
    options = parser.parse_args()
    with database():
        return 0 if _measure(options, print) else 1


if __name__ == "__main__":
    sys.exit(main())
