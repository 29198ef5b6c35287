"""The list of a team's checks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from capture import systems
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
    country: str
    language: str
    first_prompt: str
    prompts: int
    total: int
    open: int
    answered: int
    simulated: bool

    @property
    def without_answer(self) -> int:
        return self.total - self.open - self.answered

    @property
    def more_prompts(self) -> int:
        return self.prompts - 1


def checks_of(team: Team, words: str = "") -> QuerySet[Check]:
    """The team's checks, newest first.

    Arguments:
        words: what the brand's name or a question has to contain, in any case; empty for all checks.
    """
    checks = Check.objects.of_team(team).order_by("-created_at", "-pk")
    if not words:
        return checks
    asked = Prompt.objects.filter(of_check=OuterRef("pk"), text__icontains=words)
    brand = Q(names__brand__name__icontains=words) | Q(brand__name__icontains=words)
    return checks.filter(brand | Exists(asked))


def lines(checks: Iterable[int]) -> dict[int, CheckLine]:
    """Checks as lines, by their keys and in the order of these. One query, whatever their number."""
    keys = list(checks)
    found = {check.pk: _line(check) for check in _counted(keys)}
    return {key: found[key] for key in keys if key in found}


def _counted(checks: list[int]) -> QuerySet[Check]:
    this = OuterRef("pk")
    prompts = Prompt.objects.filter(of_check=this)
    return Check.objects.filter(pk__in=checks).annotate(
        first_prompt=Subquery(prompts.order_by("position").values("text")[:1]),
        prompt_count=_count(prompts),
        open_count=_count(CaptureJob.objects.open().filter(of_check=this)),
        answer_count=_count(Capture.objects.answered().filter(of_check=this)),
        has_simulated=Exists(Capture.objects.filter(of_check=this, simulated=True)),
    )


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
        country=check.country,
        language=check.language,
        first_prompt=check.first_prompt or "",
        prompts=check.prompt_count,
        total=check.prompt_count * sum(systems.samples_of(slug, check.samples) for slug in check.providers),
        open=check.open_count,
        answered=check.answer_count,
        simulated=check.has_simulated or asks_simulator,
    )
