"""`python -m benchmarks.open_pages`: 300 open progress pages beside workers at work, and what each costs the other.

Real processes: gunicorn with 2 workers, `runworkers` with the simulator, and a load generator in which each page polls
every 2 seconds with what it shows, as the page's own htmx would if it never slowed down. The pages are of 100 checks of
10 teams, 50 jobs each, which all go on. By turns the jobs go on with no page open and with all of them; told are how
long polls took, how many had an error, and the pace of the jobs with and without pages, as their ratio.

On a machine that does other things meanwhile only the ratio means something, as both are measured in one run.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any

from benchmarks.database import analyze, database

TEAMS, CHECKS_OF_A_TEAM, PROMPTS = 10, 10, 10
SYSTEMS = ("chatgpt", "perplexity", "copilot", "gemini", "google_ai")
SLOWEST, LEAST_RATIO = 300, 0.85  # milliseconds for 95 of 100 polls; of the pace without pages
PATIENCE = 30.0  # seconds for an answer, and for the lanes to fill
FINE = {"200", "204"}

SHOWN = re.compile(r"""hx-headers='{"Shown": "([^"]*)"}'""")


@dataclass
class Polls:
    """What became of the polls."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)

    @property
    def errors(self) -> int:
        return sum(count for status, count in self.statuses.items() if status not in FINE)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds) * 1000

    @property
    def p95(self) -> float:
        return statistics.quantiles(self.seconds, n=20)[-1] * 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=300, help="pages that are open (300)")
    parser.add_argument("--every", type=float, default=2.0, help="seconds between two polls of a page (2)")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each turn (60)")
    parser.add_argument("--turns", type=int, default=3, help="without and with pages, one after the other (3)")
    parser.add_argument("--speed", default="1", help="of the simulator (1: calls take as long as real ones)")
    options = parser.parse_args()
    with database(), tempfile.TemporaryDirectory() as folder:
        polls, without, beside = measured(options, Path(folder))
    ratio = statistics.mean(beside) / statistics.mean(without)
    print(f"polls           {len(polls.seconds):,}: {dict(polls.statuses)}")
    print(f"errors          {polls.errors}")
    print(f"median, 95 %    {polls.median:.0f} ms, {polls.p95:.0f} ms (limit {SLOWEST} ms)")
    print(f"jobs a second   {_told(without)} without pages, {_told(beside)} with")
    print(f"their ratio     {ratio:.2f} (least {LEAST_RATIO})")
    return 0 if not polls.errors and polls.p95 < SLOWEST and ratio >= LEAST_RATIO else 1


def _told(paces: list[float]) -> str:
    return f"{statistics.mean(paces):.2f} ({', '.join(f'{pace:.2f}' for pace in paces)})"


def measured(options: argparse.Namespace, folder: Path) -> tuple[Polls, list[float], list[float]]:
    """The polls of all turns; jobs a second in each turn without pages and in each turn beside them."""
    from tests.process.running import simulator, worker

    polls, without, beside = Polls(), [], []
    with ExitStack() as running:
        system = running.enter_context(simulator("--speed", options.speed))
        pages = _scene(options.pages)
        port = running.enter_context(_web(folder / "web.log", system.url))
        running.enter_context(worker(log=folder / "worker.log", SIMULATOR_URL=system.url))
        time.sleep(PATIENCE)
        for _ in range(options.turns):
            without.append(_pace(lambda: time.sleep(options.seconds)))
            beside.append(asyncio.run(_pace_beside(port, pages, options, polls)))
    return polls, without, beside


def _pace(wait: Any) -> float:
    """Jobs a second that end while something is waited for."""
    begin, before = time.monotonic(), _ended()
    wait()
    return (_ended() - before) / (time.monotonic() - begin)


def _ended() -> int:
    from capture.models import CaptureJob

    return CaptureJob.objects.final().count()


# -------------------------------------------------------------------------------------------------- the open pages


@dataclass
class Page:
    """An open page of a check.

    Arguments:
        shown: what it says that it shows.
    """

    path: str
    cookie: str
    shown: str = ""


async def _pace_beside(port: int, pages: list[Page], options: argparse.Namespace, polls: Polls) -> float:
    """Jobs a second that end while all pages are open and poll."""
    for page in pages:  # one after the other; people do not open them all at once
        page.shown = _shown_on(await _get(port, page.path, {"Cookie": page.cookie}))
    begin, before = time.monotonic(), await asyncio.to_thread(_ended)
    apart = options.every / len(pages)
    kept_open = (
        _keep_open(port, page, begin + place * apart, begin + options.seconds, options.every, polls)
        for place, page in enumerate(pages)
    )
    await asyncio.gather(*kept_open)
    return (await asyncio.to_thread(_ended) - before) / (time.monotonic() - begin)


async def _keep_open(port: int, page: Page, due: float, end: float, every: float, polls: Polls) -> None:
    """Poll at its times; one that would begin while another is under way is left out, as htmx does it."""
    while due < end:
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        await _poll(port, page, polls)
        due = max(due + every, time.monotonic())


async def _poll(port: int, page: Page, polls: Polls) -> None:
    begin = time.monotonic()
    try:
        headers = {"Cookie": page.cookie, "HX-Request": "true", "Shown": page.shown}
        answer = await asyncio.wait_for(_get(port, page.path, headers), PATIENCE)
    except (OSError, TimeoutError) as error:
        answer = f"- {type(error).__name__} ".encode()
    polls.seconds.append(time.monotonic() - begin)
    status = answer.split(b" ", 2)[1].decode() if answer else "nothing"
    polls.statuses[status] += 1
    if status == "200":
        page.shown = _shown_on(answer)


async def _get(port: int, path: str, headers: dict[str, str]) -> bytes:
    """One request over a connection of its own, by plain sockets: a client library would cost as much as the server."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    try:
        return await reader.read(-1)
    finally:
        writer.close()


def _shown_on(answer: bytes) -> str:
    found = SHOWN.search(unescape(answer.decode()))
    return found[1] if found else ""


# --------------------------------------------------------------------------------------------------- what is running


def _scene(pages: int) -> list[Page]:
    """Checks that go on for longer than this takes, and pages of them, each of a member of its team."""
    from django.conf import settings
    from django.test import Client

    from capture import lanes, reports
    from tests.factories import make_check, make_user

    lanes.make_missing()
    found = []
    prompts = tuple(f"Which espresso machine is best for an office of {number} people?" for number in range(PROMPTS))
    for _ in range(TEAMS):
        user, client = make_user(), Client()
        client.force_login(user)
        cookie = f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
        for _ in range(CHECKS_OF_A_TEAM):
            check = make_check(user, prompts=prompts, providers=SYSTEMS)
            found.append((reports.check_url(check), cookie))
    analyze()
    return [Page(*found[number % len(found)]) for number in range(pages)]


@contextmanager
def _web(log: Path, simulator: str) -> Iterator[int]:
    """gunicorn with 2 workers, as the README starts it; gives its port."""
    from tests.browser.site import Site
    from tests.process.running import ROOT, environment, until

    site = Site(log, SIMULATOR_URL=simulator, LOG_LEVEL="ERROR")
    site.prepare()
    command = [sys.executable, "-m", "gunicorn", f"--bind=127.0.0.1:{site.port}", "--workers=2", "aicontrol.wsgi"]
    variables = environment(**site.variables) | {"PYTHONWARNINGS": "default"}
    with (
        log.open("ab") as output,
        subprocess.Popen([*command, "--log-level=error"], cwd=ROOT, env=variables, stdout=output, stderr=output) as web,
    ):
        try:
            until(site._answers)
            yield site.port
        finally:
            web.terminate()


if __name__ == "__main__":
    raise SystemExit(main())
