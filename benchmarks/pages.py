"""Pages: server time and queries of a check's page and of a brand's history, by Django's client on PostgreSQL.

A check is large or small. A third of it is answered, a part is in hand, the rest stands in line behind another team's
2,000 jobs; 20,000 other captures are in the table. The history is that of benchmarks.history.
"""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import Any

from benchmarks import history
from benchmarks.database import analyze, database
from benchmarks.frame.found import Found, Measured, Requirement, Table
from benchmarks.frame.world import World

TITLE = "Pages"
SAYS = (
    "Server time of a page, by Django's test client on PostgreSQL, without a network. A check's page asks again while "
    "it is open: *unchanged* where nothing has changed since, else *changed*. A third of the check is answered, a part "
    "is in hand, and another team's 2,000 jobs are before the rest; 20,000 other captures are in the table.",
    "A brand's history is that of a year with a check a day, 100,100 answers with 400,400 sources.",
    "*Of work* is the time of a processor, which other programs on the machine make hardly longer.",
)
ANSWER = "Northwind is liked by many, and costs less than Contoso. " * 60  # about 3 kB
OTHERS_WAITING, OTHERS_CAPTURES = 2_000, 20_000
LATER = 1_000_000  # a turn


@dataclass(frozen=True)
class Size:
    """Of a check.

    Arguments:
        answered, in_hand: jobs of each lane.
        changes: cells that change between two questions.
    """

    jobs: int
    prompts: int
    systems: tuple[str, ...]
    samples: int
    answered: int
    in_hand: int
    changes: int


SYSTEMS = ("chatgpt", "perplexity", "copilot", "gemini", "google_ai")
SMALL = Size(32, 8, SYSTEMS[:4], 1, answered=3, in_hand=2, changes=8)
LARGE = Size(504, 63, SYSTEMS, 2, answered=42, in_hand=15, changes=20)


@dataclass
class Asked:
    """One kind of request.

    Arguments:
        limit: most milliseconds, in the median.
        most: most queries; None for no limit.
        seconds: of each time, by the clock.
        worked: of each time, of the processor.
    """

    name: str
    limit: int
    most: int | None = None
    seconds: list[float] = field(default_factory=list)
    worked: list[float] = field(default_factory=list)
    queries: int = 0


def run(world: World) -> Found:
    times = world.rounds * world.of(10, 1)
    with database():
        asked = [*_of_checks(times, _scenes(world)), *_of_history(times, world.of(history.DAYS, 5))]
    clock = [Measured(one.name, _in_rounds(one.seconds, world.rounds)) for one in asked]
    work = [Measured(one.name, _in_rounds(one.worked, world.rounds)) for one in asked]
    queries = [Measured(one.name, [one.queries]) for one in asked]
    required = []
    for one, median in zip(asked, clock, strict=True):
        required.append(Requirement.at_most(one.name, median.median, one.limit, "ms"))
        if one.most:
            required.append(Requirement.at_most(one.name, one.queries, one.most, "queries"))
    tables = [Table("ms", clock, digits=1), Table("ms of work", work, digits=1), Table("queries", queries)]
    return Found(TITLE, SAYS, tables, required)


def _in_rounds(seconds: list[float], rounds: int) -> list[float]:
    """The median milliseconds of each round; what was done first of all is not counted, as it makes what is kept."""
    counted = seconds[-(len(seconds) // rounds * rounds) :]
    size = len(counted) // rounds
    return [1000 * statistics.median(counted[begin : begin + size]) for begin in range(0, size * rounds, size)]


# ------------------------------------------------------------------------------------------------------ the requests


def _of_checks(times: int, scenes: Sequence[Scene]) -> list[Asked]:
    return [one for scene in scenes for one in scene.ask(times)]


def _of_history(times: int, days: int) -> list[Asked]:
    return [
        Asked(f"history, {name}", history.LIMIT, None, seconds, work, queries)
        for name, (seconds, work, queries) in history.measured(times, days).items()
    ]


@dataclass
class Scene:
    """A check, and a client that is logged in."""

    size: Size
    check: Any
    client: Any
    path: str

    def ask(self, times: int) -> list[Asked]:
        """Each kind of request, so many times and once before."""
        of = f"check of {self.size.jobs} jobs"
        paint, changed = Asked(f"{of}, first paint", 300), Asked(f"{of}, changed", 50, 6)
        unchanged = Asked(f"{of}, unchanged", 10, 3)
        for _ in range(times + 1):
            shown = _shown_on(_measure(paint, lambda: self.client.get(self.path), 200))
            headers = {"HX-Request": "true", "Shown": shown}
            _measure(unchanged, lambda: self.client.get(self.path, headers=headers), 204)  # noqa: B023  called at once
            self._change()
            news = _measure(changed, lambda: self.client.get(self.path, headers=headers), 200)  # noqa: B023
            if news.content.count(b'class="cell"') != self.size.changes:
                raise RuntimeError("another number of cells has changed")
        for one in (paint, changed, unchanged):  # the first time, templates and plans are made
            del one.seconds[0], one.worked[0]
        return [paint, changed, unchanged]

    def _change(self) -> None:
        """Change what some cells say: calls that are worked at were started a second later."""
        from datetime import timedelta

        from django.db.models import F

        from capture.models import CaptureJob

        worked_at = CaptureJob.objects.waiting().filter(of_check=self.check).order_by("pk")[: self.size.changes]
        CaptureJob.objects.filter(pk__in=worked_at.values("pk")).update(asked_at=F("asked_at") + timedelta(seconds=1))


def _measure(one: Asked, ask: Callable[[], Any], status: int) -> Any:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    begin, worked = time.perf_counter(), time.process_time()
    response = ask()
    one.seconds.append(time.perf_counter() - begin)
    one.worked.append(time.process_time() - worked)
    if response.status_code != status:
        raise RuntimeError(f"{one.name}: {response.status_code}")
    with CaptureQueriesContext(connection) as queries:  # counting them takes time, so the same is asked again
        ask()
    one.queries = max(one.queries, len(queries))
    return response


def _shown_on(response: Any) -> str:
    """What the page says that it shows."""
    found = re.search(r"""hx-headers='{"Shown": "([^"]*)"}'""", unescape(response.content.decode()))
    assert found
    return found[1]


# -------------------------------------------------------------------------------------------------------- the rows


def _scenes(world: World) -> list[Scene]:
    """A small check and, but in a quick run, a large one, both half way, and what others have."""
    from django.test import Client

    from capture import heartbeat, lanes, reports
    from capture.models import Lane
    from tests.factories import WORKER, make_user

    lanes.make_missing()
    heartbeat.register(WORKER, SYSTEMS, 8)
    Lane.objects.update(limit=1_000)
    user, client = make_user("grace"), Client()
    checks = [(size, _half_way(user, size)) for size in (SMALL, LARGE)[: world.of(2, 1)]]
    _others(world.of(OTHERS_WAITING, 40), world.of(OTHERS_CAPTURES, 200))
    Lane.objects.update(limit=20)
    analyze()
    client.force_login(user)
    return [Scene(size, check, client, reports.check_url(check)) for size, check in checks]


def _half_way(user: Any, size: Size) -> Any:
    from capture import queue
    from capture.models import CaptureJob
    from capture.providers import registry
    from tests.factories import answer, claim, make_check

    texts = tuple(f"Which espresso machine is best for an office of {number} people?" for number in range(size.prompts))
    check = make_check(user, prompts=texts, providers=size.systems, samples=size.samples)
    for lane in sorted({registry.by_slug[slug].lane for slug in size.systems}):
        for ticket in claim(lane, size.answered):
            queue.complete(ticket, answer(ANSWER))
        for ticket in claim(lane, size.in_hand):
            queue.wait(ticket, f"id-{ticket.job}", after=3_600)
    CaptureJob.objects.pending().filter(of_check=check).update(turn=LATER)  # the next check's are claimed before these
    return check


def _others(waiting: int, captures: int) -> None:
    """So many jobs that others have in line, before everything of ours, and so many answers that they have kept."""
    from capture.models import Capture, CaptureJob
    from tests.factories import make_check

    four = ("chatgpt", "perplexity", "gemini", "copilot")
    first = make_check(prompts=_questions(waiting // len(four)), providers=four)
    CaptureJob.objects.filter(of_check=first).update(turn=-1)
    kept = make_check(prompts=_questions(captures))
    kept.jobs.all().delete()
    usual = {"team": kept.team, "of_check": kept, "provider": "chatgpt", "outcome": "answered", "text": ANSWER[:500]}
    known = {"surface": "", "attempts": 1, "seconds": 12, "simulated": True, "answered_at": kept.created_at}
    prompts = kept.prompts.values_list("pk", flat=True)
    Capture.objects.bulk_create([Capture(prompt_id=prompt, **usual, **known) for prompt in prompts], batch_size=1_000)


def _questions(number: int) -> tuple[str, ...]:
    return tuple(f"Question {place}?" for place in range(number))
