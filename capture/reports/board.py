"""The board of a check: how each of its places stands at one moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from django.utils.translation import ngettext

from capture import systems
from capture.models import Check, Outcome, Prompt
from capture.reports.cells import Cell, State, cell_of
from capture.reports.columns import System, system_of
from capture.reports.glance import Glance
from capture.reports.rows import Kept, OpenJob, Place, kept, open_jobs
from capture.reports.waiting import Wait, placed, waits_in


@dataclass(frozen=True, slots=True)
class Group:
    """The samples of one question at one AI system."""

    system: System
    cells: tuple[Cell, ...]

    @property
    def anchor(self) -> str:
        """The name of these samples within their page."""
        return f"{self.cells[0].prompt.position}-{self.system.slug}"

    @property
    def naming(self) -> str:
        """In how many of several samples the brand is named; empty for one sample, and where it is not known yet."""
        known = [cell.place for cell in self.cells if cell.place is not None]
        if len(self.cells) == 1 or not known:
            return ""
        named = sum(place > 0 for place in known)
        return ngettext("%(named)s of %(number)s sample named", "%(named)s of %(number)s samples named", len(known)) % {
            "named": named,
            "number": len(known),
        }


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
    def groups(self) -> Iterator[Group]:
        return (group for row in self.rows for group in row.groups)

    @property
    def total(self) -> int:
        return len(self.cells)

    @cached_property
    def open(self) -> int:
        return sum(cell.is_open for cell in self.cells)

    @property
    def finished(self) -> int:
        return self.total - self.open

    @property
    def called_off(self) -> int:
        return sum(cell.outcome is Outcome.CANCELLED for cell in self.cells)

    @property
    def done(self) -> int:
        """Those that came to an end by themselves."""
        return self.finished - self.called_off

    @property
    def unasked(self) -> int:
        """Those that can be called off: nothing was sent for them yet."""
        return sum(cell.unasked for cell in self.cells)

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


def board_of(check: Check, glance: Glance | None = None) -> Board:
    """How a check stands now. Three queries, whatever its size.

    Arguments:
        glance: of just before; with it, open places say why they wait.
    """
    columns = tuple(system_of(slug) for slug in check.providers)
    prompts = check.prompts.order_by("position")
    # Jobs before captures: one that ends in between is still shown as open, rather than as neither.
    jobs = open_jobs(check)
    cells = _Cells(check, jobs, kept(check), _waits(jobs.values(), glance) if glance else {})
    rows = tuple(
        Row(prompt, tuple(Group(system, tuple(cells.of(prompt, system))) for system in columns)) for prompt in prompts
    )
    return Board(check, columns, rows)


@dataclass(frozen=True, slots=True)
class _Cells:
    """What was read of a check, to be dealt to its places."""

    check: Check
    jobs: Mapping[Place, OpenJob]
    kept: Mapping[Place, Kept]
    waits: Mapping[int, Wait]

    def of(self, prompt: Prompt, system: System) -> Iterator[Cell]:
        for sample in range(1, systems.samples_of(system.slug, self.check.samples) + 1):
            place = (prompt.pk, system.slug, sample)
            job = self.jobs.get(place)
            wait = self.waits.get(job.pk) if job else None
            yield cell_of(prompt, system, sample, job, self.kept.get(place), wait)


def _waits(jobs: Iterable[OpenJob], glance: Glance) -> dict[int, Wait]:
    waits = waits_in(jobs, glance.lanes, glance.alive)
    in_line = placed(waits, glance.ahead)
    return waits | {job: replace(wait, follows=job in glance.following) for job, wait in in_line.items()}
