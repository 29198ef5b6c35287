"""`python -m benchmarks.open_pages`: many open progress pages beside workers at work, and what each costs the other.

Real processes: gunicorn with 2 workers, `runworkers` with the simulator, and a load generator in which each of 300
pages polls every 2 seconds with what it shows, as the page's own htmx would. Every page is of a check that goes on: 30
checks of 10 teams, whose jobs the workers work off. First the jobs go on with no page open, then with all of them;
told are how long polls took, how many had an error, and the pace of the jobs with and without pages, as their ratio.

On a machine that does other things meanwhile the ratio is what counts: both are measured in one run, turn by turn.
"""

from __future__ import annotations

import argparse
import asyncio
import os
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

import httpx

from benchmarks.database import analyze, database

TEAMS, CHECKS_OF_A_TEAM = 10, 3
PROMPTS, SAMPLES = 100, 3
SYSTEMS = ("chatgpt", "perplexity", "gemini")
PLACES = 20  # of each lane
SLOWEST, LEAST_RATIO = 300, 0.85  # milliseconds for 95 of 100 polls; of the pace without pages


@dataclass
class Polls:
    """What became of the polls."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int | str] = field(default_factory=Counter)

    @property
    def errors(self) -> int:
        return sum(count for status, count in self.statuses.items() if status not in {200, 204})

    @property
    def p95(self) -> float:
        return statistics.quantiles(self.seconds, n=20)[-1] * 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=300, help="pages that are open (300)")
    parser.add_argument("--every", type=float, default=2.0, help="seconds between two polls of a page (2)")
    parser.add_argument("--seconds", type=float, default=30.0, help="of each turn (30)")
    parser.add_argument("--turns", type=int, default=3, help="with and without pages, one after the other (3)")
    parser.add_argument("--speed", default="4", help="of the simulator (4)")
    options = parser.parse_args()
    with database(), tempfile.TemporaryDirectory() as folder:
        polls, without, with_pages = measured(options, Path(folder))
    ratio = statistics.mean(with_pages) / statistics.mean(without)
    print(f"polls                {len(polls.seconds):,}: {dict(polls.statuses)}")
    print(f"errors               {polls.errors}")
    print(
        f"median, 95 %         {statistics.median(polls.seconds) * 1000:.0f} ms, {polls.p95:.0f} ms (limit {SLOWEST} ms)"
    )
    print(f"jobs a second        {_told(without)} without pages, {_told(with_pages)} with")
    print(f"ratio of the pace    {ratio:.2f} (least {LEAST_RATIO})")
    return 0 if not polls.errors and polls.p95 < SLOWEST and ratio >= LEAST_RATIO else 1


def _told(paces: list[float]) -> str:
    return f"{statistics.mean(paces):.1f} ({', '.join(f'{pace:.1f}' for pace in paces)})"


def measured(options: argparse.Namespace, folder: Path) -> tuple[Polls, list[float], list[float]]:
    """Polls of all turns with pages; jobs a second of each turn without and with them."""
    from tests.process.running import simulator, worker

    polls, without, with_pages = Polls(), [], []
    with ExitStack() as running:
        system = running.enter_context(simulator("--speed", options.speed))
        pages = _scene(options.pages)
        address = running.enter_context(_web(folder / "web.log", system.url))
        running.enter_context(worker(log=folder / "worker.log", SIMULATOR_URL=system.url))
        time.sleep(5)  # until the lanes are full
        for _ in range(options.turns):
            without.append(_pace(lambda: time.sleep(options.seconds)))
            load = _load(address, pages, options, polls)
            with_pages.append(_pace(lambda: asyncio.run(load)))  # noqa: B023  called at once
    return polls, without, with_pages


def _pace(wait: Any) -> float:
    """Jobs a second that end while something is waited for."""
    from capture.models import CaptureJob

    begin, before = time.monotonic(), CaptureJob.objects.final().count()
    wait()
    return (CaptureJob.objects.final().count() - before) / (time.monotonic() - begin)


# -------------------------------------------------------------------------------------------------- the open pages


async def _load(address: str, pages: list[tuple[str, str]], options: argparse.Namespace, polls: Polls) -> None:
    """All pages are open, and poll for as long as a turn takes."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(base_url=address, timeout=30, limits=limits) as client:
        opened = []
        for path, cookie in pages:  # one after the other: people do not come all at once
            response = await client.get(path, headers={"Cookie": cookie})
            opened.append((path, cookie, _shown_on(response.text)))
        end = time.monotonic() + options.seconds
        every = options.every
        await asyncio.gather(
            *(
                _page(client, page, every * number / len(opened), every, end, polls)
                for number, page in enumerate(opened)
            )
        )


async def _page(
    client: httpx.AsyncClient, page: tuple[str, str, str], after: float, every: float, end: float, polls: Polls
) -> None:
    path, cookie, shown = page
    await asyncio.sleep(after)
    while (begin := time.monotonic()) < end:
        try:
            headers = {"Cookie": cookie, "HX-Request": "true", "Shown": shown}
            response = await client.get(path, headers=headers)
            polls.statuses[response.status_code] += 1
            if response.status_code == httpx.codes.OK:
                shown = _shown_on(response.text)
        except httpx.HTTPError as error:
            polls.statuses[type(error).__name__] += 1
        polls.seconds.append(time.monotonic() - begin)
        await asyncio.sleep(max(0.0, begin + every - time.monotonic()))


def _shown_on(html: str) -> str:
    found = re.search(r"""hx-headers='{"Shown": "([^"]*)"}'""", unescape(html))
    return found[1] if found else ""


# --------------------------------------------------------------------------------------------------- what is running


def _scene(pages: int) -> list[tuple[str, str]]:
    """Checks that go on for longer than this takes; for each page its path and a cookie of a member of its team."""
    from django.conf import settings
    from django.test import Client

    from capture import lanes, reports
    from capture.models import Lane
    from tests.factories import make_check, make_user

    lanes.make_missing()
    Lane.objects.update(limit=PLACES)
    found = []
    for _ in range(TEAMS):
        user, client = make_user(), Client()
        client.force_login(user)
        cookie = f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
        prompts = tuple(
            f"Which espresso machine is best for an office of {number} people?" for number in range(PROMPTS)
        )
        for _ in range(CHECKS_OF_A_TEAM):
            check = make_check(user, prompts=prompts, providers=SYSTEMS, samples=SAMPLES)
            found.append((reports.check_url(check), cookie))
    analyze()
    return [found[number % len(found)] for number in range(pages)]


@contextmanager
def _web(log: Path, simulator: str) -> Iterator[str]:
    """gunicorn with 2 workers; gives its address."""
    from tests.browser.site import Site
    from tests.process.running import ROOT, environment, until

    site = Site(log, SIMULATOR_URL=simulator, LOG_LEVEL="ERROR")
    site.prepare()
    options = [f"--bind=127.0.0.1:{site.port}", "--workers=2", "--threads=4", "--log-level=error"]
    command = [sys.executable, "-m", "gunicorn", *options, "aicontrol.wsgi"]
    variables = environment(**site.variables) | {"PYTHONWARNINGS": "default"}
    with (
        log.open("ab") as output,
        subprocess.Popen(command, cwd=ROOT, env=variables, stdout=output, stderr=output) as web,
    ):
        try:
            until(lambda: _answers(site.url))
            yield site.url
        finally:
            web.terminate()


def _answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/login/").is_success
    except httpx.HTTPError:
        return False


if __name__ == "__main__":
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # the event loop here asks no database
    raise SystemExit(main())
