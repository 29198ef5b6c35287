"""The admin: people's rows can be edited; what the machine owns can be looked at, and jobs asked again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from capture import ledger, queue, user_admin  # noqa: F401  importing the last one registers users
from capture.forms.team import TeamForm
from capture.models import (
    Attempt,
    AttemptOutcome,
    Brand,
    Capture,
    CaptureJob,
    Charge,
    Check,
    Competitor,
    Lane,
    Membership,
    Prompt,
    Source,
    Team,
    Worker,
)
from capture.models.jobs import JobQuerySet
from capture.reports import check_url

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
    TabularInline = admin.TabularInline[Any, Any]
else:  # generic in the type checker only
    ModelAdmin = admin.ModelAdmin
    TabularInline = admin.TabularInline

admin.site.site_header = admin.site.site_title = "AI Control"


# -------------------------------------------------------------------------------------------------- what all share


class Untouched:
    """Nobody may write what the machine owns; the machine would not know of it."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class ReadOnlyAdmin(Untouched, ModelAdmin):
    show_full_result_count = False
    list_per_page = 50


class ReadOnlyInline(Untouched, TabularInline):
    extra = 0


def link_to(row: Model | None) -> SafeString | str:
    """A link to a row's page in the admin."""
    if row is None:
        return "-"
    name = f"admin:{row._meta.app_label}_{row._meta.model_name}_change"
    return format_html('<a href="{}">{}</a>', reverse(name, args=[row.pk]), row)


def shortened(prompt: Prompt) -> str:
    """The beginning of a question, which may be long, for a column."""
    return Truncator(prompt.text).chars(60)


def list_link(model: type[Model], words: str, **query: Any) -> SafeString:
    """A link to those rows of a model that have these values."""
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"
    return format_html('<a href="{}?{}">{}</a>', reverse(name), urlencode(query), words)


# --------------------------------------------------------------------------------------------------- people's rows


class MembershipInline(TabularInline):
    model = Membership
    extra = 0
    autocomplete_fields = ("user",)
    readonly_fields = ("created_at",)


@admin.register(Team)
class TeamAdmin(ModelAdmin):
    form = TeamForm
    list_display = ("name", "time_zone", "monthly_budget", "created_at")
    search_fields = ("name", "memberships__user__username")
    readonly_fields = ("created_at",)
    inlines = (MembershipInline,)


@admin.register(Membership)
class MembershipAdmin(ModelAdmin):
    list_display = ("user", "team", "created_at")
    list_select_related = ("user", "team")
    search_fields = ("user__username", "team__name")
    autocomplete_fields = ("user", "team")
    readonly_fields = ("created_at",)


class CompetitorInline(TabularInline):
    model = Competitor
    extra = 0
    readonly_fields = ("created_at",)


@admin.register(Brand)
class BrandAdmin(ModelAdmin):
    list_display = ("name", "team", "created_at", "archived_at")
    list_select_related = ("team",)
    search_fields = ("name", "team__name")
    autocomplete_fields = ("team",)
    readonly_fields = ("created_at",)
    inlines = (CompetitorInline,)


@admin.register(Competitor)
class CompetitorAdmin(ModelAdmin):
    list_display = ("name", "brand", "created_at", "archived_at")
    list_select_related = ("brand",)
    search_fields = ("name", "brand__name")
    autocomplete_fields = ("brand",)
    readonly_fields = ("created_at",)


# -------------------------------------------------------------------------------------------- checks and their jobs


class PromptInline(ReadOnlyInline):
    model = Prompt
    fields = ("position", "text", "branded", "key")


@admin.register(Check)
class CheckAdmin(ReadOnlyAdmin):
    list_display = ("uuid", "brand", "team", "created_by", "created_at", "providers", "samples", "jobs", "captures")
    list_select_related = ("brand", "team", "created_by")
    list_filter = ("created_at",)
    search_fields = ("uuid", "brand__name", "team__name")
    readonly_fields = ("jobs", "captures")
    inlines = (PromptInline,)

    def view_on_site(self, obj: Check) -> str:
        return check_url(obj)

    @admin.display(description="jobs")
    def jobs(self, check: Check) -> SafeString:
        return list_link(CaptureJob, "jobs", of_check__id__exact=check.pk)

    @admin.display(description="captures")
    def captures(self, check: Check) -> SafeString:
        return list_link(Capture, "captures", of_check__id__exact=check.pk)


class AttemptInline(ReadOnlyInline):
    model = Attempt
    ordering = ("number",)
    fields = ("number", "started_at", "ended_at", "outcome", "reason", "error", "remote_id", "worker", "simulated")


@admin.register(CaptureJob)
class CaptureJobAdmin(ReadOnlyAdmin):
    list_display = ("id", "status", "provider", "sample", "attempts", "reason", "run_after", "check_link", "question")
    list_select_related = ("prompt", "of_check")
    list_filter = ("status", "provider", "lane")
    search_fields = ("of_check__uuid", "remote_id", "reason", "worker", "prompt__text")
    readonly_fields = ("check_link", "capture_link")
    ordering = ("-id",)
    inlines = (AttemptInline,)
    actions = ("requeue", "cancel")

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Whether the actions may be used. The rows themselves nobody may change."""
        return bool(request.user.has_perm("capture.change_capturejob"))

    @admin.action(description="Ask again the selected jobs that have no answer", permissions=["operate"])
    def requeue(self, request: HttpRequest, jobs: JobQuerySet) -> None:
        chosen = jobs.count()
        self._tell(request, queue.requeue(_plain(jobs)), chosen, "asked again", "open, or have an answer")

    @admin.action(description="Cancel the selected jobs that were not asked yet", permissions=["operate"])
    def cancel(self, request: HttpRequest, jobs: JobQuerySet) -> None:
        chosen = jobs.count()
        self._tell(request, queue.cancel(_plain(jobs)), chosen, "cancelled", "already asked, or final")

    def _tell(self, request: HttpRequest, done: int, chosen: int, what: str, others: str) -> None:
        rest = f" {chosen - done} left as they are: {others}." if done < chosen else ""
        level = messages.SUCCESS if done else messages.WARNING
        self.message_user(request, f"{done} of {chosen} jobs {what}.{rest}", level)

    @admin.display(description="question")
    def question(self, job: CaptureJob) -> str:
        return shortened(job.prompt)

    @admin.display(description="check", ordering="of_check")
    def check_link(self, job: CaptureJob) -> SafeString | str:
        return link_to(job.of_check)

    @admin.display(description="capture")
    def capture_link(self, job: CaptureJob) -> SafeString | str:
        place = {"prompt": job.prompt_id, "provider": job.provider, "sample": job.sample}
        return link_to(Capture.objects.filter(**place).first())


def _plain(jobs: JobQuerySet) -> JobQuerySet:
    """The chosen jobs without the list's joins and order, which an UPDATE has no use for."""
    return CaptureJob.objects.filter(pk__in=list(jobs.values_list("pk", flat=True)))


class UnsettledFilter(admin.SimpleListFilter):
    """Attempts of which a person has to find out whether they were charged."""

    title = "unknown outcome"
    parameter_name = "unsettled"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "not settled yet")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() != "yes":
            return queryset
        return queryset.filter(outcome=AttemptOutcome.UNKNOWN, settled__isnull=True)


@admin.register(Attempt)
class AttemptAdmin(ReadOnlyAdmin):
    list_display = ("id", "job_link", "number", "started_at", "ended_at", "outcome", "reason", "worker", "simulated")
    list_select_related = ("job",)
    list_filter = (UnsettledFilter, "outcome", "simulated", "started_at")
    search_fields = ("id", "remote_id", "reason", "error", "worker")
    readonly_fields = ("job_link",)
    ordering = ("-started_at",)
    actions = ("settle_as_charged", "settle_as_not_charged")

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("capture.change_attempt"))

    @admin.action(description="Settle: it was charged", permissions=["operate"])
    def settle_as_charged(self, request: HttpRequest, attempts: QuerySet[Attempt]) -> None:
        self._settle(request, attempts, charged=True)

    @admin.action(description="Settle: it was not charged", permissions=["operate"])
    def settle_as_not_charged(self, request: HttpRequest, attempts: QuerySet[Attempt]) -> None:
        self._settle(request, attempts, charged=False)

    def _settle(self, request: HttpRequest, attempts: QuerySet[Attempt], *, charged: bool) -> None:
        chosen = list(attempts.select_related("job"))
        settled = [attempt for attempt in chosen if ledger.settle(attempt, charged=charged)]
        for attempt in settled:
            self.log_change(request, attempt, f"settled as {'' if charged else 'not '}charged")
        level = messages.SUCCESS if settled else messages.WARNING
        self.message_user(request, f"{len(settled)} of {len(chosen)} attempts settled.", level)

    @admin.display(description="job", ordering="job")
    def job_link(self, attempt: Attempt) -> SafeString | str:
        return link_to(attempt.job)


class SourceInline(ReadOnlyInline):
    model = Source
    ordering = ("position",)
    fields = ("position", "domain", "title", "url", "cited")


@admin.register(Capture)
class CaptureAdmin(ReadOnlyAdmin):
    list_display = ("id", "outcome", "reason", "provider", "attempts", "cost", "simulated", "check_link", "question")
    list_select_related = ("prompt", "of_check")
    list_filter = ("outcome", "provider", "simulated", "answered_at")
    search_fields = ("of_check__uuid", "attempt", "prompt__text")
    readonly_fields = ("check_link", "job_link")
    ordering = ("-id",)
    inlines = (SourceInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Capture]:
        return super().get_queryset(request).defer("text", "detail")

    @admin.display(description="question")
    def question(self, capture: Capture) -> str:
        return shortened(capture.prompt)

    @admin.display(description="check", ordering="of_check")
    def check_link(self, capture: Capture) -> SafeString | str:
        return link_to(capture.of_check)

    @admin.display(description="job")
    def job_link(self, capture: Capture) -> SafeString | str:
        place = {"prompt": capture.prompt_id, "provider": capture.provider, "sample": capture.sample}
        return link_to(CaptureJob.objects.filter(**place).first())


# ----------------------------------------------------------------------------------------- money, lanes and workers


@admin.register(Charge)
class ChargeAdmin(ReadOnlyAdmin):
    list_display = ("day", "team", "provider", "amount", "basis", "simulated", "check_uuid")
    list_select_related = ("team",)
    list_filter = ("day", "provider", "basis", "simulated")
    search_fields = ("check_uuid", "attempt", "team__name")
    ordering = ("-id",)


@admin.register(Lane)
class LaneAdmin(ModelAdmin):
    """Its limits and switches are staff's; where it stands is the machine's."""

    list_display = ("name", "enabled", "paused", "limit", "cooling_until", "cooling_reason")
    fields = (
        *("name", "enabled", "paused", "limit", "least_seconds_between_starts"),
        *("last_start_at", "cooling_since", "cooling_until", "cooling_reason", "turn"),
    )
    readonly_fields = ("name", "last_start_at", "cooling_since", "cooling_until", "cooling_reason", "turn")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Lane | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Lane, form: Any, change: bool) -> None:
        """Write what was changed and nothing else: the machine may have moved the rest since the page was made."""
        obj.save(update_fields=form.changed_data)


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    list_display = (
        "id",
        "host",
        "pid",
        "seats",
        "stuck",
        "providers",
        "started_at",
        "beat_at",
        "stopped_at",
        "lost_at",
    )
    list_filter = ("host",)
    search_fields = ("id", "host")
    ordering = ("-started_at",)
