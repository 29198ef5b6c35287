"""Three ledgers of the same calls: the database, the simulator, the logs. Where they disagree, something is wrong.

The simulator's is the one that counts money: what it was asked and what it charged. It knows a call by its system and
its question, of which there is only one in the test, and those systems that take our id of an attempt by that as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.killtest.logs import Logs, Recovery

EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Attempt:
    """One row of attempts.

    Arguments:
        charged: whether a charge of more than nothing stands for it.
    """

    id: str
    outcome: str
    remote_id: str | None = None
    live: bool = False
    charged: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """One row of jobs with all that belongs to it."""

    id: int
    system: str
    question: str
    status: str
    attempts: Sequence[Attempt]
    captures: int
    reason: str = ""

    def attempts_that(self, *outcomes: str) -> list[Attempt]:
        return [attempt for attempt in self.attempts if attempt.outcome in outcomes]

    def __str__(self) -> str:
        return f"job {self.id} ({self.system}, {self.status})"


@dataclass(frozen=True, slots=True)
class Books:
    """All three ledgers, at the end.

    Arguments:
        asked: the systems and questions that were enqueued.
        counts: of the simulator.
        connections: of workers, when no worker is left.
        serving: workers that count as serving, when none is left.
        untidy: workers that did not end tidily when they were told to, or that ended by themselves.
    """

    asked: Sequence[tuple[str, str]]
    jobs: Sequence[Job]
    counts: Mapping[str, Any]
    logs: Logs
    connections: int = 0
    serving: int = 0
    untidy: Sequence[str] = ()
    recovery: Recovery = field(default_factory=Recovery)


@dataclass
class Finding:
    """What must not be, how often it is, and where.

    Arguments:
        what: in words.
    """

    what: str
    count: int = 0
    where: list[str] = field(default_factory=list)

    def add(self, count: int, where: object) -> None:
        if count > 0:
            self.count += count
            self.where.append(f"{where}: {count}" if count > 1 else str(where))

    @property
    def examples(self) -> str:
        return "; ".join(self.where[:EXAMPLES])


OPEN, FINAL = ("pending", "claimed", "running", "waiting"), ("done", "failed", "cancelled")
ATTEMPTS, UNKNOWNS = 5, 2  # by whose end a job may fail; the defaults of the settings
MOST_RECOVERY = 5.0  # seconds, for 95 of 100 deaths


def compare(books: Books) -> list[Finding]:
    """All that was looked for; what was not found has a count of 0."""
    return [check(books) for check in CHECKS]


def lost(books: Books) -> Finding:
    """A question that nobody knows of any more, or that came to an end of which nothing was kept."""
    finding = Finding("jobs lost")
    here = Counter((job.system, job.question) for job in books.jobs)
    for place in books.asked:
        finding.add(1 - here[place], place)
    for job in books.jobs:
        finding.add(int(job.status in FINAL and not job.captures), job)
    return finding


def failed_too_early(books: Books) -> Finding:
    """Given up, though neither its attempts nor its unknown outcomes nor its workers' deaths are used up."""
    finding = Finding("jobs failed too early")
    for job in books.jobs:
        used_up = len(job.attempts) >= ATTEMPTS or len(job.attempts_that("unknown")) >= UNKNOWNS
        finding.add(int(job.status == "failed" and not used_up and job.reason != "crashed"), job)
    return finding


def doubled(books: Books) -> Finding:
    """More than one capture, or more than one time that a job was said to be done."""
    finding = Finding("captures doubled")
    for job in books.jobs:
        finding.add(max(job.captures, books.logs.done[job.id]) - 1, job)
    return finding


def unexplained_starts(books: Books) -> Finding:
    """Start calls beyond the first that no unknown outcome and no error explains, or of which no attempt knows."""
    finding = Finding("start calls unexplained")
    for job in books.jobs:
        starts = _starts(books, job)
        explained = len(job.attempts_that("unknown", "error"))
        by_id = sum(_starts_of(books, job, attempt) - 1 for attempt in job.attempts if _starts_of(books, job, attempt))
        finding.add(max(starts - 1 - explained, starts - len(job.attempts), by_id), job)
    known = {attempt.id for job in books.jobs for attempt in job.attempts}
    for system, tally in books.counts["starts"].items():
        for run, count in tally["by_run"].items():
            finding.add(count if run not in known else 0, f"{system}, run {run}")
    return finding


def never_started(books: Books) -> Finding:
    """Attempts that claim to have had a reply, and that their system knows nothing of."""
    finding = Finding("replies without a start call")
    for job in books.jobs:
        replied = [attempt for attempt in job.attempts if attempt.outcome == "replied" or attempt.remote_id]
        finding.add(len(replied) - _starts(books, job), job)
    return finding


def charged_untold(books: Books) -> Finding:
    """Money that a system took and the database does not know of."""
    finding = Finding("charges untold")
    for job in books.jobs:
        told = sum(attempt.charged for attempt in job.attempts)
        finding.add(_tally(books, "charges", job.system)["by_prompt"].get(job.question, 0) - told, job)
    return finding


def still_open(books: Books) -> Finding:
    finding = Finding("jobs still open")
    for job in books.jobs:
        finding.add(int(job.status in OPEN), job)
    return finding


def open_attempts(books: Books) -> Finding:
    """Attempts that have not ended, or whose call is forgotten while it is live."""
    finding = Finding("attempts still open")
    for job in books.jobs:
        finding.add(sum(attempt.outcome == "open" or attempt.live for attempt in job.attempts), job)
    return finding


def forgotten_ids(books: Books) -> Finding:
    """Ids that a worker had in hand, and that the database knows nothing of and does not say so."""
    finding = Finding("remote ids forgotten")
    attempts = {attempt.id: attempt for job in books.jobs for attempt in job.attempts}
    for attempt, remote_id in books.logs.remote_ids.items():
        row = attempts.get(attempt)
        kept = row is not None and (row.outcome == "unknown" or row.remote_id == remote_id)
        finding.add(int(not kept), f"{remote_id} of attempt {attempt}")
    return finding


def own_errors(books: Books) -> Finding:
    return _listed("errors of our own in the logs", books.logs.own_errors)


def untidy_ends(books: Books) -> Finding:
    return _listed("workers ended untidily or unasked", books.untidy)


def connections_left(books: Books) -> Finding:
    return Finding("connections left", books.connections)


def workers_left(books: Books) -> Finding:
    return Finding("dead workers thought to be serving", books.serving)


def slow_recovery(books: Books) -> Finding:
    """The median says how it usually is, and this how it must be."""
    slow = percentile(books.recovery.from_start, 0.95)
    return Finding(f"recovery p95 over {MOST_RECOVERY:g} s", int(slow is not None and slow > MOST_RECOVERY))


CHECKS: Sequence[Callable[[Books], Finding]] = (
    lost,
    failed_too_early,
    doubled,
    unexplained_starts,
    never_started,
    charged_untold,
    still_open,
    open_attempts,
    forgotten_ids,
    own_errors,
    untidy_ends,
    workers_left,
    connections_left,
    slow_recovery,
)


def percentile(values: Sequence[float], share: float) -> float | None:
    """The value below or at which that share of the values lies; None without values.

    Arguments:
        values: smallest first.
    """
    return values[min(len(values) - 1, int(share * len(values)))] if values else None


def _starts(books: Books, job: Job) -> int:
    count: int = _tally(books, "starts", job.system)["by_prompt"].get(job.question, 0)
    return count


def _starts_of(books: Books, job: Job, attempt: Attempt) -> int:
    count: int = _tally(books, "starts", job.system)["by_run"].get(attempt.id, 0)
    return count


def _tally(books: Books, kind: str, system: str) -> Mapping[str, Any]:
    tally: Mapping[str, Any] = books.counts[kind][system]
    return tally


def _listed(what: str, lines: Iterable[str]) -> Finding:
    finding = Finding(what)
    for line in lines:
        finding.add(1, line)
    return finding
