"""How the queue stands at one moment, and what of it needs a person; for monitoring.

Quick however many jobs there ever were: nothing is counted over all rows of a table that grows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from capture.models import Attempt
from capture.models.clock import database_now
from capture.models.jobs import AttemptQuerySet
from capture.providers import registry
from capture.reports.backlog import Backlog, Oldest, backlog_at
from capture.reports.crew import Crew, WorkerLine, crew_at
from capture.reports.spend import Spend, spent_today
from capture.reports.standings import Standing, standings
from capture.reports.times import span

MOST_UNSETTLED = 10_000

# A lane that cools for longer does not get well by itself.
LONG_COOLING = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that needs a person.

    Arguments:
        kind: `no_worker`, `not_asked`, `orphans` or `cooling`.
    """

    kind: str
    words: str


@dataclass(frozen=True, kw_only=True)
class QueueStatus:
    """How the queue stands.

    Arguments:
        at: by the database's clock.
        unsettled: attempts of which nobody knows yet whether they were charged; `MOST_UNSETTLED` means so many or more.
    """

    at: datetime
    backlog: Backlog
    lanes: Mapping[str, Standing]
    crew: Crew
    unsettled: int
    spend: Spend

    @property
    def troubles(self) -> list[Trouble]:
        """What needs a person, the gravest first."""
        return [*self._without_worker(), *self._overdue(), *self._cooling_long()]

    def _without_worker(self) -> Iterable[Trouble]:
        waiting = self.backlog.open
        if waiting and not self.crew.alive:
            yield Trouble("no_worker", f"no worker is alive; open jobs: {sum(waiting.values())}")
            return
        asked = {slug for worker in self.crew.alive for slug in worker.providers}
        for slug, jobs in waiting.items():
            if slug not in asked:
                yield Trouble("not_asked", f"no worker asks {label_of(slug)}; open jobs: {jobs}")

    def _overdue(self) -> Iterable[Trouble]:
        orphans = self.crew.orphans
        if orphans.overdue:
            heard = f"nothing was heard of their workers for up to {span(orphans.silent_seconds)}"
            yield Trouble("orphans", f"jobs that nobody takes back: {orphans.overdue}; {heard}")

    def _cooling_long(self) -> Iterable[Trouble]:
        for lane in self.lanes.values():
            cooled = self.at - lane.cooling_since if lane.cooling_since else timedelta()
            # Between two coolings it waits for a call to try, which there may be none of.
            if cooled > LONG_COOLING and (not lane.probing or self._is_wanted(lane)):
                so_long = span(cooled.total_seconds())
                yield Trouble("cooling", f"lane {lane.name} has been cooling for {so_long}: {lane.why}")

    def _is_wanted(self, lane: Standing) -> bool:
        return any(provider.lane == lane.name for provider in registry.PROVIDERS if provider.slug in self.backlog.open)

    def as_json(self) -> dict[str, Any]:
        """For programs. Names and meanings stay; README lists them."""
        return {
            "at": _iso(self.at),
            "ok": not self.troubles,
            "troubles": [asdict(trouble) for trouble in self.troubles],
            "jobs": {slug: dict(counts) for slug, counts in self.backlog.jobs.items()},
            "jobs_complete": self.backlog.complete,
            "oldest_waiting": _oldest_json(self.backlog.oldest),
            "lanes": {name: _lane_json(lane) for name, lane in self.lanes.items()},
            "workers": [_worker_json(worker) for worker in self.crew.workers],
            "orphans": asdict(self.crew.orphans),
            "recovered": asdict(self.crew.recovered),
            "unknown_outcomes": self.unsettled,
            "spend_today": {
                "day": self.at.date().isoformat(),
                "real": str(self.spend.amount),
                "estimated": str(self.spend.estimated),
                "simulated": str(self.spend.simulated),
            },
        }


def queue_status() -> QueueStatus:
    """How the queue stands now, in a fixed number of queries."""
    now = database_now()
    return QueueStatus(
        at=now,
        backlog=backlog_at(now),
        lanes=standings(),
        crew=crew_at(now),
        unsettled=unsettled()[:MOST_UNSETTLED].count(),
        spend=spent_today(),
    )


def label_of(slug: str) -> str:
    """An AI system's name; one that was taken out of the product is shown as it was named."""
    provider = registry.by_slug.get(slug)
    return provider.label if provider else slug


def unsettled() -> AttemptQuerySet:
    """Attempts of which a person has to find out whether they were charged."""
    return Attempt.objects.unsettled()


# ---------------------------------------------------------------------------------------------------- for programs


def _iso(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def _oldest_json(oldest: Oldest | None) -> dict[str, Any] | None:
    if oldest is None:
        return None
    return {
        "job": oldest.job,
        "provider": oldest.provider,
        "enqueued_at": _iso(oldest.enqueued_at),
        "seconds": oldest.seconds,
        "kind": oldest.wait.kind.value,
        "why": oldest.wait.words,
    }


def _lane_json(lane: Standing) -> dict[str, Any]:
    return {
        "enabled": lane.enabled,
        "paused": lane.paused,
        "limit": lane.limit,
        "in_flight": lane.in_flight,
        "least_seconds_between_starts": lane.spacing,
        "cooling_since": _iso(lane.cooling_since),
        "cooling_until": _iso(lane.cooling_until),
        "cooling_reason": lane.cooling_reason,
    }


def _worker_json(worker: WorkerLine) -> dict[str, Any]:
    return {**asdict(worker), "health": worker.health.value, "beat_at": _iso(worker.beat_at)}
