"""What a board is made of: its open jobs, and what has come of the others. Slim rows, since a page reads hundreds."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from django.db.models import F, Func, JSONField, OuterRef, Subquery, Value

from capture.models import Attempt, Capture, CaptureJob, Check
from capture.models.clock import StatementTimestamp

Place = tuple[int, str, int]  # prompt, AI system, sample


class OpenJob(NamedTuple):
    """An open job.

    Arguments:
        asked_at_simulator: whether its last call went to the simulator; None before the first one.
        asked_ago: how long ago its live call was started.
    """

    pk: int
    prompt_id: int
    provider: str
    sample: int
    lane: str
    status: str
    worker: UUID | None
    remote_id: str | None
    attempts: int
    reason: str
    run_after: datetime | None
    asked_at: datetime | None
    asked_at_simulator: bool | None
    asked_ago: timedelta | None


class Kept(NamedTuple):
    """What has come of a place, without its text.

    Arguments:
        matcher: by whose rules names were looked for in it; 0 where nobody has.
        named_keys: whom it names, in the order in which it first does.
    """

    pk: int
    prompt_id: int
    provider: str
    sample: int
    outcome: str
    reason: str
    attempts: int
    simulated: bool
    answered_at: datetime
    matcher: int
    named_keys: list[str]


PlacedT = TypeVar("PlacedT", OpenJob, Kept, Capture)


def open_jobs(check: Check) -> dict[Place, OpenJob]:
    """The open jobs of a check by their place, in one query."""
    asked = Attempt.objects.filter(job=OuterRef("pk")).order_by("-number").values("simulated")[:1]
    jobs: Any = CaptureJob.objects.open().filter(of_check=check)
    jobs = jobs.annotate(asked_at_simulator=Subquery(asked), asked_ago=StatementTimestamp() - F("asked_at"))
    return by_place(map(OpenJob._make, jobs.values_list(*OpenJob._fields)))


def kept(check: Check) -> dict[Place, Kept]:
    """What has come of a check by its place, in one query."""
    keys = Func(F("named"), Value("$[*].key"), function="jsonb_path_query_array", output_field=JSONField())
    captures: Any = check.captures.annotate(named_keys=keys).values_list(*Kept._fields)
    return by_place(map(Kept._make, captures))


def by_place(rows: Iterable[PlacedT]) -> dict[Place, PlacedT]:
    return {(row.prompt_id, row.provider, row.sample): row for row in rows}
