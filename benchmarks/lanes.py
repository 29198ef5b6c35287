"""Whether a lane's places are taken all the time, and never one too many.

    .venv/bin/python -m benchmarks.lanes
    .venv/bin/python -m benchmarks.lanes --jobs 60

Real worker processes, the simulator over real HTTP, calls that take two seconds at the system. A place is taken from
the start of a call until its answer is stored.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

from benchmarks.database import database

LIMIT = 3
EDGE = 10  # jobs at the beginning and at the end, while the lane fills and empties


def taken(spans: Sequence[tuple[datetime, datetime]], limit: int) -> float:
    """The share of a lane's places that are taken between the first and the last ten jobs.

    Arguments:
        spans: of each job, when its call was started and when its answer was stored.
    """
    begin = sorted(end for _, end in spans)[EDGE - 1]
    finish = sorted(start for start, _ in spans)[-EDGE]
    seconds = sum(max(0.0, (min(end, finish) - max(start, begin)).total_seconds()) for start, end in spans)
    return seconds / (limit * (finish - begin).total_seconds())


def _measure(options: argparse.Namespace) -> None:
    from capture import lanes
    from capture.models import Attempt, CaptureJob, Lane
    from tests.factories import make_check
    from tests.process.running import simulator, until, worker

    lanes.make_missing()
    Lane.objects.update(limit=LIMIT)
    prompts = tuple(f"Which espresso machine is best for {number} people?" for number in range(options.jobs))
    make_check(prompts=prompts, providers=("chatgpt",))
    with ExitStack() as stack:
        system = stack.enter_context(simulator("--speed", "1000"))
        system.script({"system": "chatgpt", "call": "start", "times": None, "do": {"pending_for_s": 2}})
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for number in range(options.workers):
            log = folder / f"{number}.log"
            stack.enter_context(worker("--concurrency", "8", log=log, SIMULATOR_URL=system.url))
        until(lambda: not CaptureJob.objects.open().exists(), within=10 * options.jobs)
        most = system.counts()["by_system"]["chatgpt"]["max_in_hand"]
    spans = [(start, end) for start, end in Attempt.objects.values_list("started_at", "ended_at") if end]
    share = taken(spans, LIMIT)
    print(f"{options.jobs} jobs of 2 s, {options.workers} processes x 8 seats, limit {LIMIT}")
    print(f"most in hand at the system: {most}; places taken: {100 * share:.1f} %")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=300)
    parser.add_argument("--workers", type=int, default=4)
    with database():
        _measure(parser.parse_args(arguments))


if __name__ == "__main__":
    main()
