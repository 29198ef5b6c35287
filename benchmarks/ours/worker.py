"""`python -m benchmarks.ours.worker`: `runworkers`, with AI systems that answer within the process.

At once, unless BENCH_SCALE says how long a second of theirs is to take; then BENCH_SEED chooses how long each takes.
With SIMULATOR_URL, it is the simulator that is asked, as ever.

All else is as ever: the loop, its seats, the intents, attempts, charges, captures, sources and mentions. Arguments are
those of `runworkers`.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from typing import Any

import django

from benchmarks.frame import durations
from benchmarks.frame.stamps import stamp
from benchmarks.ours import trace

TEXT = (
    "For a small office, Northwind is named most often: its machines are quiet, and parts are easy to get. "
    "Reviewers like that it heats up within a minute. Contoso costs less, and its water tank is larger. "
) + "Before you choose, count the cups of an ordinary day, and ask who will clean the machine. " * 10
SCALE, SEED = float(os.environ.get("BENCH_SCALE", "0")), os.environ.get("BENCH_SEED", "")
SYSTEMS = ("chatgpt", "perplexity", "copilot", "gemini", "google_ai")


def systems() -> Mapping[str, Any]:
    """All AI systems, each of which answers in its start call: with three sources, two of the names, and a charge."""
    from capture.providers import registry
    from capture.providers.base import Account, Provider
    from capture.providers.replies import Answered, Basis, Cost, Question, Source

    urls = [f"https://reviews{number}.example/espresso-machines" for number in range(3)]
    answer = Answered(
        text=TEXT,
        sources=tuple(Source(url, url, "Espresso machines", cited=True) for url in urls),
        model="instant",
        cost=Cost(Decimal("0.01"), Basis.COMPUTED),
    )

    def start(self: Provider, question: Question) -> Answered:
        takes = durations.seconds(SEED, self.slug, question.text, SCALE) if SCALE else 0.0
        stamp(takes)
        time.sleep(takes)
        return answer

    account = Account(api_key="simulated", base_url="http://127.0.0.1:9/x", simulated=True)
    made = {slug: type(slug, (registry.by_slug[slug],), {"start": start}) for slug in SYSTEMS}
    return {slug: system(account, None) for slug, system in made.items()}


def main() -> None:
    django.setup()
    from django.core.management import call_command

    from capture import systems as module

    if not os.environ.get("SIMULATOR_URL"):
        module.configured = cache(systems)
    trace.trace_if_asked()
    call_command("runworkers", *sys.argv[1:])


if __name__ == "__main__":
    main()
