"""`bin/bench`: what this queue costs, beside its peers and beside what no program could do better.

With names, only these benchmarks. A full run writes docs/benchmarks.json and docs/benchmarks.md; a quick one shows that
everything runs, and its figures mean nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from importlib import import_module

from benchmarks.frame import page, results
from benchmarks.frame.world import say, world

NAMES = ("throughput", "enqueue", "pickup", "example", "growth", "waiting", "pages")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for, print it, and keep it."""
    options = _read(arguments)
    os.environ.setdefault("AICONTROL_DATA", ".data/bench")
    found = {}
    with world(quick=options.quick, seed=options.seed) as here:
        for name in options.names or NAMES:
            begun = time.monotonic()
            found[name] = results.told(import_module(f"benchmarks.{name}").run(here), here)
            print(page.part(found[name]), flush=True)
            say(f"{name}: {time.monotonic() - begun:.0f} s\n")
            results.keep(found, here)
        if options.quick:
            print("Quick: one round of few jobs, to see that everything runs. These figures mean nothing.")
    return 0


def _name(text: str) -> str:
    if text not in NAMES:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(NAMES)}")
    return text


def _read(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bin/bench", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", type=_name, metavar="name", help=f"of {', '.join(NAMES)}; all without one")
    parser.add_argument("--quick", action="store_true", help="one round of few jobs, to see that everything runs")
    parser.add_argument("--seed", type=int, default=1, help="of what is random (1)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
