"""What a claim costs, and whether rows that cannot be claimed make it dearer.

    .venv/bin/python -m benchmarks.claims
    .venv/bin/python -m benchmarks.claims --finished 100000 --postponed 10000

One run, one database: claims of eight jobs are timed first beside nothing else, then beside finished jobs and jobs that
are not yet due, then beside nothing again, since a machine's speed drifts. And one claimer is frozen while it holds its
lane's lock.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Callable, Sequence
from statistics import median
from uuid import uuid4

from benchmarks.database import database

ROUNDS = 200
SEATS = 8
LANE = "openai"

ROWS = """
    INSERT INTO capture_capturejob (
        team_id, of_check_id, prompt_id, provider, lane, sample, status, turn, run_after, polls,
        attempts, unknowns, crashes, reason, estimate, finished_at
    )
    SELECT %(team)s, %(check)s, %(prompt)s + number / 10000, 'chatgpt', 'openai', 2 + number %% 10000, %(status)s,
        number, CASE WHEN %(status)s = 'pending' THEN now() + interval '1 day' + number * interval '1 ms' END, 1,
        1, 0, 0, '', 0, CASE WHEN %(status)s = 'done' THEN now() - number * interval '1 ms' END
    FROM generate_series(0, %(count)s - 1) AS number
"""


def _prompts(count: int) -> int:
    """So many prompts in a row; gives the number of the first."""
    from capture.models import Prompt
    from tests.factories import make_check

    check = make_check()
    made = Prompt.objects.bulk_create(
        Prompt(of_check=check, position=2 + place, text=f"{place}?", key="", branded=False) for place in range(count)
    )
    return made[0].pk


def _fill(status: str, count: int) -> None:
    from django.db import connection

    from capture.models import Prompt

    first = _prompts(count // 10_000 + 1)
    prompt = Prompt.objects.select_related("of_check").get(pk=first)
    check = prompt.of_check
    place = {"team": check.team_id, "check": check.pk, "prompt": first}
    with connection.cursor() as cursor:
        cursor.execute(ROWS, place | {"status": status, "count": count})


def _settle() -> None:
    """What a running system has: fresh statistics and no dead rows of the filling."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE capture_capturejob")


def _claim_seconds(rounds: int) -> float:
    """The median time of a claim that takes eight jobs, and of the hand-back that makes them claimable again."""
    from capture import queue
    from tests.factories import routes

    worker, times = uuid4(), []
    for _ in range(rounds):
        began = time.perf_counter()
        tickets = queue.claim(LANE, worker, routes(["chatgpt"]), SEATS)
        times.append(time.perf_counter() - began)
        assert len(tickets) == SEATS
        queue.release_strays(worker, [])
    return median(times)


def _frozen(idle: float) -> tuple[float, float]:
    """One claimer freezes in its claim: seconds until its lane is served again, and the longest claim of another."""
    from django.db import InternalError, connection

    from capture import lanes, queue
    from capture.queue import claims
    from tests.factories import routes

    held, done = threading.Event(), threading.Event()

    def freeze(*_: object) -> list[object]:
        held.set()
        done.wait(idle + 10)
        return []

    def claim() -> None:
        try:
            queue.claim(LANE, uuid4(), routes(["chatgpt"]), SEATS)
        except InternalError:
            pass  # the server has ended its transaction, as it should
        finally:
            connection.close()

    take, claims._lock = claims._lock, freeze  # type: ignore[assignment]
    frozen = threading.Thread(target=claim)
    frozen.start()
    held.wait()
    claims._lock = take
    began, others, worker = time.perf_counter(), [], uuid4()
    while True:
        before = time.perf_counter()
        queue.claim("perplexity", worker, routes(["perplexity"]), SEATS)
        others.append(time.perf_counter() - before)
        try:
            queue.claim(LANE, worker, routes(["chatgpt"]), SEATS)
            break
        except lanes.LaneBusyError:
            time.sleep(0.01)
    seconds = time.perf_counter() - began
    done.set()
    frozen.join()
    return seconds, max(others)


def _measure(options: argparse.Namespace, say: Callable[[str], None]) -> None:
    from capture import lanes
    from capture.models import Lane
    from capture.models.lanes import IDLE_TIMEOUT
    from tests.factories import make_check

    lanes.make_missing()
    Lane.objects.update(limit=10_000)
    make_check(prompts=tuple(f"{number}?" for number in range(100)), providers=("chatgpt", "perplexity"))
    _settle()
    _claim_seconds(20)
    before = _claim_seconds(options.rounds)
    _fill("done", options.finished)
    _fill("pending", options.postponed)
    _settle()
    beside = _claim_seconds(options.rounds)
    say(f"claim of {SEATS} jobs, median of {options.rounds}: {1000 * before:.2f} ms")
    say(f"beside {options.finished:,} finished and {options.postponed:,} not yet due: {1000 * beside:.2f} ms")
    say(f"ratio: {beside / before:.2f}")
    seconds, other = _frozen(IDLE_TIMEOUT.total_seconds())
    say(f"a frozen claimer: its lane is served again after {seconds:.2f} s")
    say(f"longest claim of another lane meanwhile: {1000 * other:.1f} ms")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--finished", type=int, default=1_000_000)
    parser.add_argument("--postponed", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    with database():
        _measure(parser.parse_args(arguments), print)


if __name__ == "__main__":
    main()
