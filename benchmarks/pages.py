"""`python -m benchmarks.pages`: server time and queries of a large check's page, by Django's client on PostgreSQL.

The check has 504 jobs (63 questions, five systems, two samples where a system takes two): a third answered, sixty in
hand, the rest in line behind another team's 2,000; twenty thousand other captures are in the table.
"""

from __future__ import annotations

import argparse
import re
import statistics
import time
from collections.abc import Callable
from html import unescape
from typing import Any

from benchmarks.database import database

PROMPTS = 63
SYSTEMS = ("chatgpt", "perplexity", "copilot", "gemini", "google_ai")
SAMPLES = 2
ANSWER = "Northwind is liked by many, and costs less than Contoso. " * 60  # about 3 kB
OTHERS_WAITING = 2_000
OTHERS_CAPTURES = 20_000
CHANGES = 20

LIMITS = {"first paint": (300, 0), "changed": (50, 6), "unchanged": (10, 3)}  # milliseconds; queries, if limited


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=30, help="how often each is measured (30)")
    times = parser.parse_args().times
    with database():
        found = {**measured(times)}
    ok = True
    print(f"{'':<12} {'median':>9} {'95 %':>9} {'limit':>7} {'queries':>8} {'limit':>6}")
    for name, (durations, queries) in found.items():
        milliseconds, most = LIMITS[name]
        median = statistics.median(durations) * 1000
        worst = statistics.quantiles(durations, n=20)[-1] * 1000
        print(f"{name:<12} {median:6.1f} ms {worst:6.1f} ms {milliseconds:4} ms {queries:8} {most or '–':>6}")
        ok &= median < milliseconds and (not most or queries <= most)
    return 0 if ok else 1


def measured(times: int) -> dict[str, tuple[list[float], int]]:
    """Seconds and number of queries of each kind of request."""
    from django.test import Client

    from capture import reports
    from tests.factories import make_user

    user = make_user("ada")
    fill(user)
    check = user_check(user)
    client = Client()
    client.force_login(user)
    path = reports.check_url(check)

    def first() -> Any:
        return client.get(path)

    def changed() -> Any:
        shown = shown_on(client.get(path))
        move(check)
        return timed(lambda: client.get(path, headers={"HX-Request": "true", "Shown": shown}))

    def unchanged() -> Any:
        shown = shown_on(client.get(path))
        return timed(lambda: client.get(path, headers={"HX-Request": "true", "Shown": shown}))

    return {
        "first paint": repeated(lambda: timed(first), times, 200),
        "changed": repeated(changed, times, 200),
        "unchanged": repeated(unchanged, times, 204),
    }


def repeated(ask: Callable[[], tuple[Any, float, int]], times: int, status: int) -> tuple[list[float], int]:
    ask()  # templates are read once
    answers = [ask() for _ in range(times)]
    assert all(response.status_code == status for response, _, _ in answers), {a[0].status_code for a in answers}
    if status == 200 and "Shown" in answers[0][0].request.get("headers", {}):
        assert answers
    return [seconds for _, seconds, _ in answers], max(queries for _, _, queries in answers)


def timed(ask: Callable[[], Any]) -> tuple[Any, float, int]:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    begin = time.perf_counter()
    response = ask()
    seconds = time.perf_counter() - begin
    with CaptureQueriesContext(connection) as queries:
        ask()
    return response, seconds, len(queries)


def shown_on(response: Any) -> str:
    """What the page says that it shows."""
    found = re.search(r"hx-headers='([^']*)'", response.content.decode())
    assert found
    return unescape(found[1]).split('"')[3]


def fill(user: Any) -> None:
    """The rows."""
    from capture import heartbeat, lanes, queue
    from capture.models import Capture, Check, Lane
    from capture.providers import registry
    from tests.factories import ACCOUNT, PATIENCE, WORKER, answer, claim, make_check

    lanes.make_missing()
    Lane.objects.update(limit=5_000)
    heartbeat.register(WORKER, SYSTEMS, 8)
    check = make_check(
        user,
        prompts=tuple(f"Which espresso machine is best for an office of {number} people?" for number in range(PROMPTS)),
        providers=SYSTEMS,
        samples=SAMPLES,
    )
    each = sorted({registry.by_slug[slug].lane for slug in SYSTEMS})
    for lane in each:
        for ticket in claim(lane, 42):
            queue.start(ticket, WORKER, ACCOUNT, PATIENCE)
            queue.complete(ticket, answer(ANSWER))
        for ticket in claim(lane, 15):
            queue.start(ticket, WORKER, ACCOUNT, PATIENCE)
            queue.wait(ticket, f"id-{ticket.job}", after=3600)
    kept = Capture.objects.filter(of_check=check).first()
    assert kept
    other = make_check(
        brand="Other", prompts=tuple(f"Question {number}?" for number in range(OTHERS_CAPTURES)), providers=("chatgpt",)
    )
    other.jobs.all().delete()
    Capture.objects.bulk_create(
        [
            Capture(
                team=other.team,
                of_check=other,
                prompt_id=prompt,
                provider="chatgpt",
                outcome="answered",
                text=ANSWER[:500],
                surface="",
                attempts=1,
                seconds=12,
                simulated=True,
                answered_at=kept.answered_at,
            )
            for prompt in other.prompts.values_list("pk", flat=True)
        ],
        batch_size=1000,
    )
    make_check(
        brand="Third",
        prompts=tuple(f"Question {number}?" for number in range(OTHERS_WAITING // 4)),
        providers=("chatgpt", "perplexity", "gemini", "copilot"),
    )
    queue.entry.CaptureJob.objects.filter(of_check__brand__name="Third").update(turn=-1)
    Lane.objects.update(limit=20)
    assert Check.objects.count() == 3
    from django.db import connection

    connection.cursor().execute("VACUUM ANALYZE")


def user_check(user: Any) -> Any:
    from capture.models import Check

    return Check.objects.get(created_by=user)


def move(check: Any) -> None:
    """Change twenty cells: ten calls are started, ten get their answer."""
    from django.db.models import F

    from capture.models import CaptureJob

    # Only what is shown of them, so that it can be done as often as one likes.
    some = list(
        CaptureJob.objects.open().filter(of_check=check, remote_id__isnull=False).values_list("pk", flat=True)[:CHANGES]
    )
    assert len(some) == CHANGES
    CaptureJob.objects.filter(pk__in=some).update(attempts=F("attempts") % 4 + 1)


if __name__ == "__main__":
    raise SystemExit(main())
