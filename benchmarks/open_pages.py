"""`python -m benchmarks.open_pages`: 300 open progress pages beside workers at work, and what each costs the other.

Real processes: gunicorn with 2 workers, `runworkers` with the simulator, and a load generator in which each page polls
every 2 seconds with what it shows. The pages are of 100 checks of 10 teams, 50 jobs each, which all go on. By turns the
jobs go on with no page open and with all of them; told are how long polls took, how many had an error, the pace of the
jobs with and without pages, as their ratio, and what each kind of process took of the processors meanwhile.

How far it is stands on standard error. Exit code 1 if a limit does not hold; 2 if something did not work, or took
longer than `--within`, with the last words of the processes.

On a machine that does other things meanwhile only the ratio means something, as both are measured in one run.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import psutil

from benchmarks import polling
from benchmarks.at_work import CHECKS, GUNICORN, JOBS, TEAMS, checks_of_teams, gunicorn, postmaster
from benchmarks.database import database
from benchmarks.polling import Page, Polls
from benchmarks.processor import Meter

SLOWEST, LEAST_RATIO = 300, 0.85  # milliseconds for 95 of 100 polls; of the pace without pages
OPENING = 60.0  # seconds for all pages, for which there is room before each turn
BEGIN = time.monotonic()


@dataclass
class Turns:
    """What was measured in all turns.

    Arguments:
        without: jobs a second in each turn with no page open.
        beside: the same in each turn with all of them.
        shares: processors that each group of processes kept busy, in each turn with pages.
    """

    polls: Polls = field(default_factory=Polls)
    without: list[float] = field(default_factory=list)
    beside: list[float] = field(default_factory=list)
    shares: list[dict[str, float]] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        return statistics.mean(self.beside) / statistics.mean(self.without)

    @property
    def hold(self) -> bool:
        return not self.polls.errors and self.polls.p95 < SLOWEST and self.ratio >= LEAST_RATIO


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        try:
            with _bounded(options.within), database():
                _tell_settings(options)
                turns = measured(options, Path(folder))
        except (RuntimeError, AssertionError, TimeoutError) as error:
            _say(f"ends here: {error or type(error).__name__}")
            _tell_logs(Path(folder))
            return 2
    _tell(turns)
    return 0 if turns.hold else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=300, help="pages that are open (300)")
    parser.add_argument("--every", type=float, default=2.0, help="seconds between two polls of a page (2)")
    parser.add_argument("--seconds", type=float, default=45.0, help="of each turn (45)")
    parser.add_argument("--turns", type=int, default=3, help="without and with pages, one after the other (3)")
    parser.add_argument("--fill", type=float, default=45.0, help="seconds before all turns, for the lanes to fill (45)")
    parser.add_argument("--speed", default="1", help="of the simulator (1: calls take as long as real ones)")
    parser.add_argument("--within", type=float, help="seconds for all of it (what the turns need, and some)")
    options = parser.parse_args()
    turns = options.turns * (2 * options.seconds + OPENING)
    options.within = options.within or 180 + options.fill + turns
    return options


# ---------------------------------------------------------------------------------------------------------- the turns


def measured(options: argparse.Namespace, folder: Path) -> Turns:
    """All turns, one after the other."""
    from tests.process.running import simulator, worker

    turns = Turns()
    with ExitStack() as running:
        system = running.enter_context(simulator("--speed", options.speed))
        pages = _pages(options.pages)
        port, web = running.enter_context(gunicorn(folder / "web.log", system.url))
        running.enter_context(worker(log=folder / "worker.log", SIMULATOR_URL=system.url))
        groups = {"web server": [web], "PostgreSQL": [postmaster()], "pages": [os.getpid()]}
        heads = {web, *groups["PostgreSQL"]}
        groups["workers, simulator"] = [child.pid for child in psutil.Process().children() if child.pid not in heads]
        _say(f"waits {options.fill:.0f} s for the lanes to fill")
        time.sleep(options.fill)
        for number in range(1, options.turns + 1):
            with _pace(turns.without):
                time.sleep(options.seconds)
            _say(f"turn {number} of {options.turns}: {turns.without[-1]:.2f} jobs a second without pages")
            asyncio.run(polling.open_all(port, pages))
            _say(f"{len(pages)} pages are open")
            meter = Meter(groups)
            with _pace(turns.beside):
                polls = asyncio.run(polling.keep_open(port, pages, options.every, options.seconds))
            turns.shares.append(meter.shares())
            _add(turns.polls, polls)
            _say(f"turn {number}: {turns.beside[-1]:.2f} jobs a second with them; {_polls_in_words(polls)}")
    return turns


def _pages(number: int) -> list[Page]:
    """So many, which share the checks of all teams."""
    found = []
    for team, checks in enumerate(checks_of_teams(), start=1):
        found += checks
        _say(f"asked the checks of team {team} of {TEAMS}")
    return [Page(*found[place % len(found)]) for place in range(number)]


@contextmanager
def _pace(paces: list[float]) -> Iterator[None]:
    """Add how many jobs a second have ended meanwhile."""
    begin, before = time.monotonic(), _ended()
    yield
    paces.append((_ended() - before) / (time.monotonic() - begin))
    if not paces[-1]:
        raise RuntimeError("no job has ended in a whole turn")


def _ended() -> int:
    from capture.models import CaptureJob

    return CaptureJob.objects.final().count()


def _add(all_of_them: Polls, polls: Polls) -> None:
    all_of_them.seconds += polls.seconds
    all_of_them.statuses += polls.statuses


# ------------------------------------------------------------------------------------------------------ what is told


def _say(words: str) -> None:
    print(f"{time.monotonic() - BEGIN:6.1f} s  {words}", file=sys.stderr, flush=True)


def _tell_settings(options: argparse.Namespace) -> None:
    from django.db import connection

    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    with connection.cursor():
        postgresql = connection.pg_version // 10_000  # type: ignore[attr-defined]  # PostgreSQL's has it
    print(f"machine         {os.cpu_count()} processors, load {load}; {_priority()}")
    print(f"programs        Python {platform.python_version()}, PostgreSQL {postgresql}; gunicorn {' '.join(GUNICORN)}")
    print(f"pages           {options.pages}, each polling every {options.every:g} s, of {CHECKS} checks")
    print(f"jobs            {JOBS:,} of {TEAMS} teams, one runworkers, simulator at speed {options.speed}")
    print(f"turns           {options.turns} × 2 of {options.seconds:g} s, after {options.fill:g} s", flush=True)


def _priority() -> str:
    policy = {os.SCHED_OTHER: "usual priority", os.SCHED_RR: "chrt -r", os.SCHED_FIFO: "chrt -f"}
    return policy.get(os.sched_getscheduler(0), "another priority")


def _tell(turns: Turns) -> None:
    polls = turns.polls
    print(f"polls           {len(polls.seconds):,}: {_polls_in_words(polls)}")
    print(f"errors          {polls.errors} (none may be)")
    print(f"95 %            {polls.p95:.0f} ms (limit {SLOWEST} ms)")
    print(f"jobs a second   {_told(turns.without)} without pages, {_told(turns.beside)} with")
    print(f"their ratio     {turns.ratio:.2f} (least {LEAST_RATIO})")
    shares = {name: statistics.mean(share[name] for share in turns.shares) for name in turns.shares[0]}
    print("processors      " + ", ".join(f"{name} {share:.2f}" for name, share in shares.items()))
    print("                holds" if turns.hold else "                FAILS")


def _polls_in_words(polls: Polls) -> str:
    statuses = ", ".join(f"{status} {count / len(polls.seconds):.0%}" for status, count in polls.statuses.most_common())
    return f"{statuses}; median {polls.median:.0f} ms, 95 % {polls.p95:.0f} ms"


def _told(paces: list[float]) -> str:
    return f"{statistics.mean(paces):.2f} ({', '.join(f'{pace:.2f}' for pace in paces)})"


def _tell_logs(folder: Path) -> None:
    for log in sorted(folder.glob("*.log")):
        _say(f"last words of {log.stem}: {log.read_text(errors='replace')[-2_000:].strip() or 'none'}")


@contextmanager
def _bounded(seconds: float) -> Iterator[None]:
    """Give it up after so long; and end tidily when told to, so that no process stays behind."""

    def too_long(*_: Any) -> NoReturn:
        raise TimeoutError(f"it took longer than {seconds:.0f} s")

    signal.signal(signal.SIGALRM, too_long)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    raise SystemExit(main())
