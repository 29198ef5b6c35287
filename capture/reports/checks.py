"""The list of a team's checks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from capture.models import Capture, CaptureJob, Check, Prompt, Team
from capture.reports.columns import System, system_of
from capture.reports.status import check_url


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckLine:
    """A check as a line of a list."""

    url: str
    brand: str
    created_at: datetime
    systems: tuple[System, ...]
    prompts: int
    total: int
    open: int
    answered: int
    simulated: bool

    @property
    def without_answer(self) -> int:
        return self.total - self.open - self.answered


def checks_of(team: Team) -> QuerySet[Check]:
    """The team's checks, newest first, with what `lines` reads of them."""
    this = OuterRef("pk")
    counted = Check.objects.of_team(team).annotate(
        prompt_count=_count(Prompt.objects.filter(of_check=this)),
        open_count=_count(CaptureJob.objects.open().filter(of_check=this)),
        answer_count=_count(Capture.objects.answered().filter(of_check=this)),
        has_simulated=Exists(Capture.objects.filter(of_check=this, simulated=True)),
    )
    return counted.order_by("-created_at", "-pk")


def lines(checks: Iterable[Check]) -> list[CheckLine]:
    """Checks of `checks_of` as lines."""
    return [_line(check) for check in checks]


def _count(rows: QuerySet[Any]) -> Coalesce:
    grouped = rows.order_by().values("of_check").annotate(count=Count("pk"))
    return Coalesce(Subquery(grouped.values("count")), 0)


def _line(check: Any) -> CheckLine:
    columns = tuple(system_of(slug) for slug in check.providers)
    asks_simulator = bool(check.open_count) and any(system.simulated for system in columns)
    return CheckLine(
        url=check_url(check),
        brand=check.names["brand"]["name"],
        created_at=check.created_at,
        systems=columns,
        prompts=check.prompt_count,
        total=check.prompt_count * len(columns) * check.samples,
        open=check.open_count,
        answered=check.answer_count,
        simulated=check.has_simulated or asks_simulator,
    )
