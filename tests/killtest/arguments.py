"""What can be asked of the kill test."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

JOBS_PER_KILL = 4
FEWEST_JOBS = 100
KILLS_PER_CRASH = 40  # as in the table of the README


@dataclass(frozen=True, slots=True)
class Arguments:
    """How much is killed.

    Arguments:
        crashes: restarts of the database, tidy and not.
    """

    kills: int
    workers: int
    jobs: int
    seed: int
    crashes: int


def read(words: Sequence[str] | None = None) -> Arguments:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="bin/killtest",
        description="Kill workers while they work, and compare what database, simulator and logs say of it.",
    )
    parser.add_argument("--kills", type=_count, default=200, metavar="N", help="processes to kill (200)")
    parser.add_argument("--workers", type=_count, default=4, metavar="W", help="processes at once (4)")
    parser.add_argument("--jobs", type=_count, metavar="M", help=f"questions to ask ({JOBS_PER_KILL} for each kill)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="another seed is another plan (1)")
    parser.add_argument(
        "--database-crashes",
        type=_count_or_none,
        metavar="D",
        help=f"restarts of the database (one for {KILLS_PER_CRASH} kills)",
    )
    found = parser.parse_args(words)
    return Arguments(
        kills=found.kills,
        workers=found.workers,
        jobs=found.jobs or max(FEWEST_JOBS, JOBS_PER_KILL * found.kills),
        seed=found.seed,
        crashes=found.kills // KILLS_PER_CRASH if found.database_crashes is None else found.database_crashes,
    )


def _count(text: str) -> int:
    return _whole(text, 1)


def _count_or_none(text: str) -> int:
    return _whole(text, 0)


def _whole(text: str, least: int) -> int:
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"a whole number from {least} up")
    return int(text)
