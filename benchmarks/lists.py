"""`python -m benchmarks.lists`: server time and queries of long lists, by Django's client on PostgreSQL.

A team has 10,000 checks of 500 brands, with four questions and four captures each; another team has as many.
"""

from __future__ import annotations

import argparse
import statistics
import time
from datetime import timedelta
from typing import Any

from benchmarks.database import database

CHECKS = 10_000
BRANDS = 500
PROMPTS = 4
AT_ONCE = 1_000
LIMIT = 300  # milliseconds

PAGES = {
    "my checks": "/",
    "the last page": "/?page=200",
    "search, common": "/?search=espresso",
    "search, rare": "/?search=number+1234%3F",
    "search, none": "/?search=nowhere",
    "my brands": "/brands/",
    "brand search": "/brands/?search=brand+77",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=20, help="how often each is measured (20)")
    times = parser.parse_args().times
    with database():
        found = measured(times)
    print(f"{'':<16} {'median':>9} {'95 %':>9} {'queries':>8}")
    for name, (durations, queries) in found.items():
        worst = statistics.quantiles(durations, n=20)[-1] * 1000
        print(f"{name:<16} {statistics.median(durations) * 1000:6.1f} ms {worst:6.1f} ms {queries:8}")
    return 0 if all(statistics.median(durations) * 1000 < LIMIT for durations, _ in found.values()) else 1


def measured(times: int) -> dict[str, tuple[list[float], int]]:
    """Seconds and number of queries of each page."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from tests.factories import make_user

    user = make_user("ada")
    fill(user)
    fill(make_user("bob"))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    client = Client()
    client.force_login(user)
    found = {}
    for name, path in PAGES.items():
        with CaptureQueriesContext(connection) as queries:
            client.get(path)  # templates are read once
        number = len(queries)
        found[name] = ([seconds_of(client, path) for _ in range(times)], number)
    return found


def seconds_of(client: Any, path: str) -> float:
    began = time.perf_counter()
    response = client.get(path)
    took = time.perf_counter() - began
    if response.status_code != 200:
        raise RuntimeError(f"{path}: {response.status_code}")
    return took


def fill(user: Any) -> None:
    """Write the checks of a user's team, the jobs of which are cleaned up."""
    from django.utils import timezone

    from capture.models import Brand, Capture, Check, Prompt, Team

    team = Team.objects.of(user)
    brands = Brand.objects.bulk_create(Brand(team=team, name=f"Brand {number}") for number in range(BRANDS))
    now = timezone.now()
    for start in range(0, CHECKS, AT_ONCE):
        checks = Check.objects.bulk_create(
            Check(
                team=team,
                brand=(brand := brands[number % BRANDS]),
                names={"brand": brand.as_asked(), "competitors": []},
                providers=["chatgpt"],
                submit_token=str(number),
                created_at=now - timedelta(minutes=CHECKS - number),
            )
            for number in range(start, start + AT_ONCE)
        )
        prompts = Prompt.objects.bulk_create(
            Prompt(
                of_check=check,
                position=position,
                text=f"Which espresso machine is best for office number {check.submit_token}? And the {position}th?",
                key="",
                branded=False,
            )
            for check in checks
            for position in range(1, PROMPTS + 1)
        )
        Capture.objects.bulk_create(
            Capture(
                team=team,
                of_check_id=prompt.of_check_id,
                prompt=prompt,
                provider="chatgpt",
                outcome="answered",
                text="Northwind is liked by many. " * 20,
                surface="",
                attempts=1,
                simulated=True,
                answered_at=now,
            )
            for prompt in prompts
        )


if __name__ == "__main__":
    raise SystemExit(main())
