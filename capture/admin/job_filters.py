"""What staff narrow the list of jobs by. Each choice is found by an index, and none is found by reading all jobs."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.db import connection
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from capture import reasons
from capture.models import Attempt, CaptureJob, Status, Team
from capture.models.clock import StatementTimestamp
from capture.models.jobs import JobQuerySet

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[CaptureJob]
else:  # generic in the type checker only
    ModelAdmin = admin.ModelAdmin

OPEN = "open"
MOST_TEAMS = 100
MOST_REASONS = 100

# From one reason to the next along the index, however many jobs have it.
REASONS = """
    WITH RECURSIVE found AS (
        (SELECT reason FROM capture_capturejob WHERE reason <> '' ORDER BY reason LIMIT 1)
        UNION ALL
        SELECT (
            SELECT job.reason FROM capture_capturejob job
            WHERE job.reason <> '' AND job.reason > found.reason ORDER BY job.reason LIMIT 1
        )
        FROM found WHERE found.reason IS NOT NULL
    )
    SELECT reason FROM found WHERE reason IS NOT NULL LIMIT %s
"""


class JobFilter(admin.SimpleListFilter):
    """Narrows jobs by what is chosen, if anything is."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return queryset if value is None else self.narrowed(cast("JobQuerySet", queryset), value)

    def narrowed(self, jobs: JobQuerySet, value: str) -> JobQuerySet:
        raise NotImplementedError


class StateFilter(JobFilter):
    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, Any]]:
        return [(OPEN, _("open: not final")), *Status.choices]

    def narrowed(self, jobs: JobQuerySet, value: str) -> JobQuerySet:
        return jobs.open() if value == OPEN else jobs.filter(status=value)


class ReasonFilter(JobFilter):
    """Reasons that some job has now, in words. They are the systems' own names, so none can be listed beforehand."""

    title = _("reason of the last trouble")
    parameter_name = "reason"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        with connection.cursor() as cursor:
            cursor.execute(REASONS, [MOST_REASONS])
            return [(reason, f"{reasons.in_words(reason)} ({reason})") for (reason,) in cursor.fetchall()]

    def narrowed(self, jobs: JobQuerySet, value: str) -> JobQuerySet:
        return jobs.filter(reason=value)


class UnsettledFilter(JobFilter):
    """Jobs of which a person has to find out whether they were charged."""

    title = _("unknown outcome")
    parameter_name = "unsettled"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, Any]]:
        return [("yes", _("not settled yet"))]

    def narrowed(self, jobs: JobQuerySet, value: str) -> JobQuerySet:
        return jobs.filter(pk__in=Attempt.objects.unsettled().values("job"))


class AgeFilter(JobFilter):
    """How long jobs have been open, or how long ago they have ended."""

    title = _("age")
    parameter_name = "age"
    SPANS = {  # noqa: RUF012  Django's way
        "10min": (timedelta(minutes=10), _("10 minutes")),
        "1h": (timedelta(hours=1), _("an hour")),
        "1d": (timedelta(days=1), _("a day")),
        "7d": (timedelta(days=7), _("7 days")),
    }

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        kinds = (("open", _t("open for over %(span)s")), ("ended", _t("ended within %(span)s")))
        return [
            (f"{kind}-{name}", phrase % {"span": words})
            for kind, phrase in kinds
            for name, (_span, words) in self.SPANS.items()
        ]

    def narrowed(self, jobs: JobQuerySet, value: str) -> JobQuerySet:
        which, _dash, name = value.partition("-")
        if which not in {"open", "ended"} or name not in self.SPANS:
            raise IncorrectLookupParameters(value)
        then = StatementTimestamp() - self.SPANS[name][0]
        return (
            jobs.open().filter(created_at__lt=then) if which == "open" else jobs.final().filter(finished_at__gte=then)
        )


class TeamFilter(JobFilter):
    """Teams by name; with more than can be listed, the page of any team has a link."""

    title = _("team")
    parameter_name = "team"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        teams = Team.objects.order_by("name", "pk").values_list("pk", "name")
        listed = dict(teams[:MOST_TEAMS])
        chosen = self.used_parameters.get(self.parameter_name)
        if chosen and _number(chosen) not in listed:
            listed |= dict(teams.filter(pk=_number(chosen)))
        return [(str(number), name) for number, name in listed.items()]

    def has_output(self) -> bool:
        return True

    def narrowed(self, jobs: JobQuerySet, value: str) -> JobQuerySet:
        return jobs.filter(team=_number(value))


def _number(value: str) -> int:
    """A team's number; 0, which none has, for what is no number."""
    return int(value) if value.isdecimal() and len(value) < 19 else 0
