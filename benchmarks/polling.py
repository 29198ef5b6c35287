"""Open pages of checks: each polls at its times with what it shows, as its own htmx would if it never slowed down."""

from __future__ import annotations

import asyncio
import re
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import unescape

PATIENCE = 30.0  # seconds for an answer
OPENING = 4  # pages at a time; people do not open them all at once
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
        """In milliseconds."""
        return statistics.median(self.seconds) * 1000

    @property
    def p95(self) -> float:
        """In milliseconds."""
        return statistics.quantiles(self.seconds, n=20)[-1] * 1000


@dataclass
class Page:
    """An open page of a check.

    Arguments:
        shown: what it says that it shows.
    """

    path: str
    cookie: str
    shown: str = ""


async def open_all(port: int, pages: Sequence[Page]) -> None:
    """Load each page as a browser does. Raises RuntimeError for one that does not come, or does not say what it shows.

    Arguments:
        port: of the web server, on the loopback address.
    """
    await asyncio.gather(*(_open_each(port, pages[first::OPENING]) for first in range(OPENING)))


async def _open_each(port: int, pages: Sequence[Page]) -> None:
    for page in pages:
        status, body = await _get(port, page.path, {"Cookie": page.cookie})
        page.shown = _shown_on(body)
        if status != "200" or not page.shown:
            raise RuntimeError(f"{page.path} did not open: {status}")


async def keep_open(port: int, pages: Sequence[Page], every: float, seconds: float) -> Polls:
    """Let all pages poll for so long, evenly spread.

    Arguments:
        every: seconds between two polls of a page.
    """
    polls, begin, apart = Polls(), time.monotonic(), every / len(pages)
    end = begin + seconds
    await asyncio.gather(
        *(_keep_open(port, page, begin + place * apart, end, every, polls) for place, page in enumerate(pages))
    )
    return polls


async def _keep_open(port: int, page: Page, due: float, end: float, every: float, polls: Polls) -> None:
    """Poll at its times; one that would begin while another is under way is left out, as htmx does it."""
    while due < end:
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        await _poll(port, page, polls)
        due = max(due + every, time.monotonic())


async def _poll(port: int, page: Page, polls: Polls) -> None:
    begin = time.monotonic()
    status, body = await _get(port, page.path, {"Cookie": page.cookie, "HX-Request": "true", "Shown": page.shown})
    polls.seconds.append(time.monotonic() - begin)
    polls.statuses[status] += 1
    if status == "200":
        page.shown = _shown_on(body)


async def _get(port: int, path: str, headers: dict[str, str]) -> tuple[str, bytes]:
    """The status, or why there is none, and the whole answer."""
    try:
        answer = await asyncio.wait_for(_exchange(port, path, headers), PATIENCE)
    except (OSError, TimeoutError) as error:
        return type(error).__name__, b""
    return (answer.split(b" ", 2)[1].decode(), answer) if answer else ("nothing", b"")


async def _exchange(port: int, path: str, headers: dict[str, str]) -> bytes:
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
