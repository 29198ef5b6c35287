"""`python -m benchmarks.pages`: server time and queries of a large check's page, by Django's client on PostgreSQL.

The check has 504 jobs: 63 questions, five systems, two samples where a system takes two. A third is answered, sixty
are in hand, the rest stands in line behind another team's 2,000; 20,000 other captures are in the table.

What is limited is the median; the processor's time beside it tells how much of it was waiting, such as on a machine
that has other things to do. Exit code 1 if a limit does not hold.
"""

from __future__ import annotations

import argparse
import re
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from html import unescape
from typing import Any

from benchmarks.database import analyze, database

PROMPTS = 63
SYSTEMS = ("chatgpt", "perplexity", "copilot", "gemini", "google_ai")
SAMPLES = 2
ANSWER = "Northwind is liked by many, and costs less than Contoso. " * 60  # about 3 kB
ANSWERED_IN_A_LANE, IN_HAND_IN_A_LANE = 42, 15
OTHERS_WAITING, OTHERS_CAPTURES = 2_000, 20_000
CHANGES = 20  # cells between two questions


@dataclass
class Measured:
    """One kind of request.

    Arguments:
        limit: most milliseconds, in the median.
        most: most queries; None for no limit.
    """

    name: str
    limit: int
    most: int | None
    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    queries: int = 0

    @property
    def median(self) -> float:
        return statistics.median(self.seconds) * 1000

    @property
    def holds(self) -> bool:
        return self.median < self.limit and (self.most is None or self.queries <= self.most)

    def __str__(self) -> str:
        worst = statistics.quantiles(self.seconds, n=20)[-1] * 1000
        processor = statistics.median(self.processor) * 1000
        times = f"{self.median:7.1f} ms {worst:7.1f} ms {processor:7.1f} ms {self.limit:5} ms"
        return f"{self.name:<12}{times} {self.queries:8} {self.most or '–':>6}   {'holds' if self.holds else 'FAILS'}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=50, help="how often each is measured (50)")
    options = parser.parse_args()
    with database():
        found = measured(options.times)
    print(f"{'':<12}{'median':>10}{'95 %':>11}{'processor':>11}{'limit':>9} {'queries':>8} {'limit':>6}")
    print(*found, sep="\n")
    return 0 if all(one.holds for one in found) else 1


def measured(times: int) -> list[Measured]:
    """Each kind of request, so many times."""
    check, client, path = _scene()
    paint, changed, unchanged = (
        Measured("first paint", 300, None),
        Measured("changed", 50, 6),
        Measured("unchanged", 10, 3),
    )
    for _ in range(times + 1):
        shown = _shown_on(_measure(paint, lambda: client.get(path), 200))
        headers = {"HX-Request": "true", "Shown": shown}
        _measure(unchanged, lambda: client.get(path, headers=headers), 204)  # noqa: B023  called at once
        _change(check)
        news = _measure(changed, lambda: client.get(path, headers=headers), 200)  # noqa: B023
        assert news.content.count(b'class="cell"') == CHANGES, "another number of cells has changed"
    for one in (paint, changed, unchanged):  # the first time, templates and plans are made
        del one.seconds[0], one.processor[0]
    return [paint, changed, unchanged]


def _measure(one: Measured, ask: Callable[[], Any], status: int) -> Any:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    begin, worked = time.perf_counter(), time.process_time()
    response = ask()
    one.seconds.append(time.perf_counter() - begin)
    one.processor.append(time.process_time() - worked)
    assert response.status_code == status, response.status_code
    with CaptureQueriesContext(connection) as queries:  # counting them takes time, so the same is asked again
        ask()
    one.queries = max(one.queries, len(queries))
    return response


def _shown_on(response: Any) -> str:
    """What the page says that it shows."""
    found = re.search(r"""hx-headers='{"Shown": "([^"]*)"}'""", unescape(response.content.decode()))
    assert found
    return found[1]


def _change(check: Any) -> None:
    """Change what twenty cells say: calls that are worked at were started a second later."""
    from datetime import timedelta

    from django.db.models import F

    from capture.models import CaptureJob

    worked_at = CaptureJob.objects.waiting().filter(of_check=check).order_by("pk")[:CHANGES]
    CaptureJob.objects.filter(pk__in=worked_at.values("pk")).update(asked_at=F("asked_at") + timedelta(seconds=1))


# -------------------------------------------------------------------------------------------------------- the rows


def _scene() -> tuple[Any, Any, str]:
    """The check, a client that is logged in, and the path of the check's page."""
    from django.test import Client

    from capture import heartbeat, lanes, reports
    from capture.models import Lane
    from tests.factories import WORKER, make_user

    lanes.make_missing()
    heartbeat.register(WORKER, SYSTEMS, 8)
    Lane.objects.update(limit=1_000)
    user = make_user("ada")
    check = _half_way(user)
    _others()
    Lane.objects.update(limit=20)
    analyze()
    client = Client()
    client.force_login(user)
    return check, client, reports.check_url(check)


def _half_way(user: Any) -> Any:
    from capture import queue
    from capture.providers import registry
    from tests.factories import ACCOUNT, PATIENCE, WORKER, answer, claim, make_check

    prompts = tuple(f"Which espresso machine is best for an office of {number} people?" for number in range(PROMPTS))
    check = make_check(user, prompts=prompts, providers=SYSTEMS, samples=SAMPLES)
    for lane in sorted({registry.by_slug[slug].lane for slug in SYSTEMS}):
        for ticket in claim(lane, ANSWERED_IN_A_LANE):
            queue.start(ticket, WORKER, ACCOUNT, PATIENCE)
            queue.complete(ticket, answer(ANSWER))
        for ticket in claim(lane, IN_HAND_IN_A_LANE):
            queue.start(ticket, WORKER, ACCOUNT, PATIENCE)
            queue.wait(ticket, f"id-{ticket.job}", after=3_600)
    return check


def _others() -> None:
    """What other teams have in line, before everything of ours, and what they have kept."""
    from capture.models import Capture, CaptureJob
    from tests.factories import make_check

    four = ("chatgpt", "perplexity", "gemini", "copilot")
    waiting = make_check(prompts=_questions(OTHERS_WAITING // len(four)), providers=four)
    CaptureJob.objects.filter(of_check=waiting).update(turn=-1)
    kept = make_check(prompts=_questions(OTHERS_CAPTURES))
    kept.jobs.all().delete()
    usual = {"team": kept.team, "of_check": kept, "provider": "chatgpt", "outcome": "answered", "text": ANSWER[:500]}
    known = {"surface": "", "attempts": 1, "seconds": 12, "simulated": True, "answered_at": kept.created_at}
    prompts = kept.prompts.values_list("pk", flat=True)
    Capture.objects.bulk_create([Capture(prompt_id=prompt, **usual, **known) for prompt in prompts], batch_size=1_000)


def _questions(number: int) -> tuple[str, ...]:
    return tuple(f"Question {place}?" for place in range(number))


if __name__ == "__main__":
    raise SystemExit(main())
