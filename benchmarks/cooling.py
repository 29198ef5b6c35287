"""Whether a lane that was told to wait holds up the others.

    .venv/bin/python -m benchmarks.cooling

Two rounds by real workers: in the second, one call of ChatGPT is answered with 429 and `Retry-After: 20`. Compared is
how fast the jobs of Perplexity go; said is when ChatGPT was asked again.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.database import database

WAIT = 20  # seconds
TOLD = {
    "system": "chatgpt",
    "call": "start",
    "times": 1,
    "do": {"shape": "rate_limit_header", "wait_s": WAIT},
}


def _round(options: argparse.Namespace, *steps: dict[str, Any]) -> tuple[float, float]:
    """Jobs of Perplexity a second, and the longest pause between two starts of ChatGPT."""
    from capture.models import Attempt, CaptureJob
    from tests.factories import make_check
    from tests.process.running import simulator, until, worker

    CaptureJob.objects.all().delete()
    prompts = tuple(f"Which espresso machine is best for {number} people?" for number in range(options.jobs))
    make_check(prompts=prompts[:40], providers=("chatgpt",))
    check = make_check(prompts=prompts, providers=("perplexity",))
    with ExitStack() as stack:
        system = stack.enter_context(simulator("--speed", "1000"))
        system.script(*steps)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        began = time.monotonic()
        for number in range(options.workers):
            log = folder / f"{number}.log"
            stack.enter_context(worker("--concurrency", "8", log=log, SIMULATOR_URL=system.url))
        until(lambda: not check.jobs.open().exists(), within=600)
        seconds = time.monotonic() - began
        until(lambda: not CaptureJob.objects.open().exists(), within=600)
    starts = sorted(Attempt.objects.filter(job__provider="chatgpt").values_list("started_at", flat=True))
    pause = max((after - before).total_seconds() for before, after in pairwise(starts))
    spent = CaptureJob.objects.exclude(attempts=1).count()
    print(f"jobs whose attempts are not one: {spent}")
    return options.jobs / seconds, pause


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(arguments)
    with database():
        from capture import lanes
        from capture.models import Lane

        lanes.make_missing()
        Lane.objects.update(limit=20)
        without, _ = _round(options)
        beside, pause = _round(options, TOLD)
        print(f"jobs a second, without and beside a lane that cools: {without:.1f} and {beside:.1f}")
        print(f"ratio: {beside / without:.2f}; longest pause between two starts of the other: {pause:.1f} s")


if __name__ == "__main__":
    main()
