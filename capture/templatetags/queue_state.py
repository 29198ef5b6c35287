"""The state of the queue, for the front page of the admin."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django import template

from capture.models import StaffAction, Status
from capture.reports.backlog import MOST_FINISHED
from capture.reports.failures import MOST_FAILED, Failure, failures_at
from capture.reports.queue_status import MOST_UNSETTLED, QueueStatus, label_of, queue_status
from capture.reports.times import span

register = template.Library()


@dataclass(frozen=True, slots=True)
class Cell:
    """A number of jobs, with the query of the list that shows them."""

    count: int
    query: str


@dataclass(frozen=True, slots=True)
class State:
    """What the front page shows.

    Arguments:
        systems: a row for each AI system: its name, and a cell for each state.
    """

    status: QueueStatus
    failures: list[Failure]
    actions: list[StaffAction]

    @property
    def states(self) -> list[str]:
        return [str(status.value) for status in Status]

    @property
    def systems(self) -> list[tuple[str, list[Cell]]]:
        jobs = self.status.backlog.jobs
        return [(label_of(slug), [_cell(slug, *each) for each in counts.items()]) for slug, counts in jobs.items()]

    @property
    def more_unsettled(self) -> bool:
        return self.status.unsettled >= MOST_UNSETTLED

    @property
    def more_failed(self) -> bool:
        return sum(failure.day for failure in self.failures) >= MOST_FAILED

    @property
    def most_finished(self) -> int:
        return MOST_FINISHED


def _cell(slug: str, status: str, count: int) -> Cell:
    final = {"age": "ended-1d"} if status in {Status.DONE, Status.FAILED, Status.CANCELLED} else {}
    return Cell(count, urlencode({"state": status, "provider": slug, **final}))


@register.simple_tag
def queue_state() -> State:
    """How the queue stands now."""
    status = queue_status()
    under_way = list(StaffAction.objects.under_way().select_related("user")[:20])
    return State(status, failures_at(status.at), under_way)


@register.filter
def as_span(seconds: float) -> str:
    """Seconds in words."""
    return span(seconds)
