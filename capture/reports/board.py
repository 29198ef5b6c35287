"""The board of a check: how each of its places stands at one moment."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, TypeVar

from django.db.models import OuterRef, QuerySet, Subquery

from capture import reasons, systems
from capture.models import Attempt, Capture, CaptureJob, Check, Outcome, Prompt, Status
from capture.reports.columns import System, system_of

Place = tuple[int, str, int]  # prompt, AI system, sample
PlacedT = TypeVar("PlacedT", CaptureJob, Capture)


class State(StrEnum):
    """How a place of a check stands, as people read it; in the order in which totals are shown."""

    ANSWERED = "answered"
    REFUSED = "refused"
    BLOCKED = "blocked"
    EMPTY = "empty"
    INCOMPLETE = "incomplete"
    FAILED = "failed"
    CANCELLED = "cancelled"
    WORKING = "working"
    ASKING = "asking"
    WAITING = "waiting"

    @property
    def words(self) -> str:
        return "working at the system" if self is State.WORKING else self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One place of a check: a question, an AI system, a sample.

    Arguments:
        status: as a job has it; known without a job as well.
        outcome: what came of it; None while it is open.
        reason: the short name of why there is no answer, or of the last trouble while it is open.
        version: changes with what came of it.
    """

    prompt: Prompt
    system: System
    sample: int
    state: State
    status: Status
    outcome: Outcome | None = None
    attempts: int = 0
    simulated: bool = False
    reason: str = ""
    version: str = ""

    @property
    def anchor(self) -> str:
        """The name of this place within its page."""
        return f"{self.prompt.position}-{self.system.slug}-{self.sample}"

    @property
    def why(self) -> str:
        return reasons.in_words(self.reason)

    @property
    def is_open(self) -> bool:
        return self.outcome is None


@dataclass(frozen=True, slots=True)
class Group:
    """The samples of one question at one AI system."""

    system: System
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """A question with its places, a group for each AI system."""

    prompt: Prompt
    groups: tuple[Group, ...]


@dataclass(frozen=True)
class Board:
    """How a check stands at one moment, without the answers' texts."""

    check: Check
    systems: tuple[System, ...]
    rows: tuple[Row, ...]

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        return tuple(cell for row in self.rows for group in row.groups for cell in group.cells)

    @property
    def total(self) -> int:
        return len(self.cells)

    @property
    def open(self) -> int:
        return sum(cell.is_open for cell in self.cells)

    @property
    def finished(self) -> int:
        return self.total - self.open

    @property
    def answered(self) -> int:
        return sum(cell.outcome is Outcome.ANSWERED for cell in self.cells)

    @property
    def simulated(self) -> bool:
        """Whether any answer is or will be the simulator's."""
        return any(cell.simulated for cell in self.cells)

    @property
    def notes(self) -> list[str]:
        """What does not go as the check says, system by system; one sentence once."""
        return list(dict.fromkeys(note for system in self.systems for note in system.notes_on(self.check)))

    @property
    def by_state(self) -> list[tuple[State, int]]:
        """How many places stand how, without those states that there are none of."""
        counts = Counter(cell.state for cell in self.cells)
        return [(state, counts[state]) for state in State if counts[state]]

    @property
    def digest(self) -> str:
        """Stays the same exactly as long as nothing that is shown has changed."""
        shown = (
            f"{cell.anchor} {cell.state} {cell.attempts} {cell.simulated} {cell.reason} {cell.version}"
            for cell in self.cells
        )
        return hashlib.sha256("\n".join(shown).encode()).hexdigest()[:16]


def board_of(check: Check) -> Board:
    """How a check stands now. Three queries, whatever its size."""
    columns = tuple(system_of(slug) for slug in check.providers)
    prompts = check.prompts.order_by("position")
    # Jobs before captures: one that ends in between is still shown as open, rather than as neither.
    jobs = by_place(_open_jobs(check))
    captures = by_place(_captures_without_text(check))
    rows = tuple(
        Row(prompt, tuple(Group(system, _samples(check, prompt, system, jobs, captures)) for system in columns))
        for prompt in prompts
    )
    return Board(check, columns, rows)


def _open_jobs(check: Check) -> QuerySet[CaptureJob]:
    fields = ("prompt_id", "provider", "sample", "status", "remote_id", "attempts", "reason")
    asked = Attempt.objects.filter(job=OuterRef("pk")).order_by("-number").values("simulated")[:1]
    return CaptureJob.objects.open().filter(of_check=check).only(*fields).annotate(asked_at_simulator=Subquery(asked))


def _captures_without_text(check: Check) -> QuerySet[Capture]:
    return check.captures.defer("text", "detail")


def by_place(rows: Iterable[PlacedT]) -> dict[Place, PlacedT]:
    return {(row.prompt_id, row.provider, row.sample): row for row in rows}


def _samples(
    check: Check,
    prompt: Prompt,
    system: System,
    jobs: Mapping[Place, CaptureJob],
    captures: Mapping[Place, Capture],
) -> tuple[Cell, ...]:
    samples = range(1, systems.samples_of(system.slug, check.samples) + 1)
    places = [(prompt.pk, system.slug, sample) for sample in samples]
    return tuple(_cell(prompt, system, place[2], jobs.get(place), captures.get(place)) for place in places)


def _cell(prompt: Prompt, system: System, sample: int, job: CaptureJob | None, capture: Capture | None) -> Cell:
    """An open job wins over what an earlier turn of the same place left behind."""
    if job is not None:
        found = _of_job(job, system)
    elif capture is not None:
        found = _of_capture(capture)
    else:
        gone = Outcome.CANCELLED
        found = {"state": State.CANCELLED, "status": Status.CANCELLED, "outcome": gone, "reason": "removed"}
    return Cell(prompt=prompt, system=system, sample=sample, **found)


def _of_job(job: CaptureJob, system: System) -> dict[str, Any]:
    asked_at_simulator: bool | None = getattr(job, "asked_at_simulator", None)
    return {
        "state": _state_of(job),
        "status": Status(job.status),
        "attempts": job.attempts,
        # Where it was asked; before that, where it would be asked now.
        "simulated": system.simulated if asked_at_simulator is None else asked_at_simulator,
        "reason": job.reason,
    }


def _state_of(job: CaptureJob) -> State:
    if job.status == Status.PENDING:
        return State.WAITING
    # With an id it is in the system's hands, also while somebody looks after it.
    return State.WORKING if job.remote_id else State.ASKING


def _of_capture(capture: Capture) -> dict[str, Any]:
    outcome = Outcome(capture.outcome)
    unanswered = {Outcome.FAILED: Status.FAILED, Outcome.CANCELLED: Status.CANCELLED}
    return {
        "state": State(outcome.value),
        "status": unanswered.get(outcome, Status.DONE),
        "outcome": outcome,
        "attempts": capture.attempts,
        "simulated": capture.simulated,
        "reason": capture.reason,
        "version": f"{capture.pk}-{capture.answered_at.timestamp():.0f}",
    }
