"""The table: what was done, what became of it, and what is wrong, if anything is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tests.killtest.arguments import Arguments
from tests.killtest.fleet import Death
from tests.killtest.ledgers import Books, Finding, percentile
from tests.killtest.plan import Interruption
from tests.killtest.points import POINTS


@dataclass(frozen=True, slots=True)
class Done:
    """What the test has done.

    Arguments:
        requeued: failed jobs with a live call that were asked for again at the end.
        seconds: how long all of it took.
    """

    arguments: Arguments
    deaths: Sequence[Death]
    interruptions: Sequence[Interruption]
    requeued: int
    seconds: float


def table(done: Done, books: Books, findings: Iterable[Finding]) -> str:
    """The table in Markdown, as it stands in the README."""
    rows = [*_deeds(done), *_outcomes(books), *_findings(findings, books)]
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])


def _deeds(done: Done) -> Iterator[tuple[str, object]]:
    yield "workers killed", f"{len(done.deaths)}, {done.arguments.workers} at work at once"
    at_points = [death for death in done.deaths if death.kill.point]
    reached = Counter(death.kill.point for death in at_points if death.reached)
    yield "at a random moment", len(done.deaths) - sum(reached.values())
    planned = Counter(death.kill.point for death in at_points)
    for point in POINTS:
        missed = planned[point] - reached[point]
        yield point, f"{reached[point]}" + (f" ({missed} more did not get there in time)" if missed else "")
    counts = Counter(done.interruptions)
    for interruption in Interruption:
        if counts[interruption]:
            yield f"the test {interruption.value}", counts[interruption]
    yield "failed jobs with a live call, requeued at the end", done.requeued
    yield "time taken", f"{done.seconds:.0f} s"


def _outcomes(books: Books) -> Iterator[tuple[str, object]]:
    jobs = Counter(job.status for job in books.jobs)
    yield "jobs", ", ".join([f"{len(books.jobs)}", *(f"{count} {status}" for status, count in sorted(jobs.items()))])
    reasons = Counter(job.reason for job in books.jobs if job.status == "failed")
    yield "why jobs failed", ", ".join(f"{count} {reason}" for reason, count in reasons.most_common()) or "none did"
    attempts = Counter(attempt.outcome for job in books.jobs for attempt in job.attempts)
    yield "attempts", ", ".join(f"{count} {outcome}" for outcome, count in sorted(attempts.items()))
    for kind in ("starts", "cached", "charges"):
        yield f"{kind} at the systems", sum(tally["total"] for tally in books.counts[kind].values())
    yield "jobs taken back", len(books.logs.taken_back)
    yield "from a worker's death to recovery", _spread(books.recovery.from_death)
    yield "from the next start of a worker to recovery", _spread(books.recovery.from_start)


def _spread(seconds: Sequence[float]) -> str:
    median, slow = percentile(seconds, 0.5), percentile(seconds, 0.95)
    if median is None or slow is None:
        return "nobody died with jobs in hand"
    return f"median {median:.2f} s, p95 {slow:.2f} s, most {seconds[-1]:.2f} s ({len(seconds)} workers)"


def _findings(findings: Iterable[Finding], books: Books) -> Iterator[tuple[str, object]]:
    for finding in findings:
        yield finding.what, f"**{finding.count}**" + (f" {finding.examples}" if finding.count else "")
