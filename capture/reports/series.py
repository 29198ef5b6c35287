"""A check that is repeated, and its repetitions: when the next one is due, or why there is none, and where they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from capture import systems
from capture.models import Check, Membership, Schedule
from capture.models.clock import database_now
from capture.reports.columns import system_of
from capture.reports.status import check_url

# So many of the newest are listed; to the others leads the way from each to the one before.
MOST_RUNS = 30


@dataclass(frozen=True, slots=True)
class Run:
    """A check of a series."""

    url: str
    asked_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """What a check's page says of its repetition.

    Arguments:
        schedule: of all checks of the series; None where the check was never to be repeated.
        overdue: the next one should have been asked by now.
        obstacle: why the next one would not be asked as things stand, in a sentence.
        left_out: the systems that cannot be asked now; the others are.
        newest: the newest checks of the series.
    """

    schedule: Schedule | None = None
    overdue: bool = False
    obstacle: str = ""
    left_out: Sequence[str] = ()
    earlier: Run | None = None
    later: Run | None = None
    newest: Sequence[Run] = ()

    @property
    def is_on(self) -> bool:
        return self.schedule is not None and self.schedule.next_due is not None

    @property
    def paused(self) -> str:
        """Why there was or will be none: what stands in the way now says more than what once did."""
        because = self.schedule.paused_because if self.schedule else ""
        return self.obstacle or (because and _(because))


def series_of(check: Check) -> Series:
    """The series of a check; no query for one that is in none, a few for others."""
    if check.schedule_id is None:
        return Series()
    schedule = Schedule.objects.select_related("team", "template__brand").get(pk=check.schedule_id)
    runs = Check.objects.filter(schedule=schedule).only("uuid", "created_at").order_by("-pk")
    is_on = schedule.next_due is not None
    return Series(
        schedule=schedule,
        overdue=schedule.next_due is not None and schedule.next_due <= database_now(),
        obstacle=obstacle_to(schedule) if is_on else "",
        left_out=_left_out(schedule.template) if is_on else (),
        earlier=_run(runs.filter(pk__lt=check.pk).first()),
        later=_run(runs.filter(pk__gt=check.pk).order_by("pk").first()),
        newest=[Run(check_url(run), run.created_at) for run in runs[:MOST_RUNS]],
    )


def obstacle_to(schedule: Schedule) -> str:
    """What keeps a schedule from being asked, whatever it would cost, in a sentence; empty if nothing does."""
    if schedule.template.brand.archived_at:
        return _("The brand is archived.")
    if not Membership.objects.filter(team=schedule.team_id).exists():
        return _("The team has no members.")
    if not set(schedule.template.providers) & systems.configured().keys():
        return _("None of its AI systems can be asked here now.")
    return ""


def _left_out(check: Check) -> list[str]:
    return [system_of(slug).label for slug in check.providers if slug not in systems.configured()]


def _run(check: Check | None) -> Run | None:
    return Run(check_url(check), check.created_at) if check else None
