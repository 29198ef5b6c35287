"""Jobs: why they wait, each one's whole story, and what staff do to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.admin.options import get_content_type_for_model
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST

from capture import staff_actions
from capture.admin.acting import Kind, may_act, offer, offers_for, proposed
from capture.admin.attempts import AttemptInline
from capture.admin.base import (
    FoundByName,
    as_number,
    as_uuid,
    in_words,
    link_to,
    page_of,
    shortened,
)
from capture.admin.filters import ProviderFilter
from capture.admin.job_filters import AgeFilter, ReasonFilter, StateFilter, TeamFilter, UnsettledFilter
from capture.models import Attempt, Capture, CaptureJob, Worker
from capture.reports import Wait, waits_of

MOST_LOGGED = 100


class WaitingList(ChangeList):
    """A list of jobs that says why they wait, read for all of a page at once."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        tell_waits(self.result_list)


def tell_waits(jobs: Iterable[CaptureJob]) -> None:
    """Give each job its `wait`, or None if it is final."""
    waits = waits_of(jobs)
    for job in jobs:
        job.wait = waits.get(job.pk)  # type: ignore[attr-defined]  # for display


@admin.register(CaptureJob)
class CaptureJobAdmin(FoundByName):
    list_display = ("id", "question", "status", "provider", "why", "attempts", "team", "check_short")
    list_select_related = ("prompt", "of_check", "team")
    list_filter = (StateFilter, ProviderFilter, ReasonFilter, UnsettledFilter, TeamFilter, AgeFilter)
    search_help_text = "The number of a job; the uuid of a check, an attempt or a worker; a call’s id at its system."
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("status", "waits_for"),
                    "trouble",
                    "whole_question",
                    ("provider", "sample", "lane"),
                    "team_link",
                )
            },
        ),
        ("What came of it", {"fields": ("check_link", "capture_link")}),
        (
            "In the queue",
            {
                "fields": (
                    *(("created_at", "finished_at"), ("asked_at", "run_after"), ("attempts", "unknowns", "crashes")),
                    *(("polls", "turn", "estimate"), "worker_link", "remote_id"),
                )
            },
        ),
    )
    readonly_fields = (
        *("waits_for", "trouble", "whole_question", "team_link", "check_link", "capture_link", "worker_link"),
    )
    ordering = ("-id",)
    inlines = (AttemptInline,)
    actions = tuple(offer(kind) for kind in Kind)
    change_form_template = "admin/capture/capturejob/change_form.html"

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return WaitingList

    def has_act_permission(self, request: HttpRequest) -> bool:
        return may_act(request)

    def found(self, rows: Any, words: str) -> Any:
        if number := as_number(words):
            return rows.filter(pk=number)
        if uuid := as_uuid(words):
            attempts = Attempt.objects.filter(pk=uuid).values("job")
            once = Attempt.objects.filter(worker=uuid).values("job")
            in_hand = rows.held().filter(worker=uuid)
            of_worker = in_hand if in_hand.exists() else rows.filter(pk__in=once)
            chosen = (rows.filter(of_check__uuid=uuid), rows.filter(pk__in=attempts), of_worker)
            return next((each for each in chosen if each.exists()), rows.none())
        return rows.filter(pk__in=_jobs_of_call(words))

    # ------------------------------------------------------------------------------------------------- one job

    def get_urls(self) -> list[URLPattern]:
        act = self.admin_site.admin_view(require_POST(self.act_on_one))
        own = path("<int:number>/act/", act, name="capture_capturejob_act")
        return [own, *super().get_urls()]

    def act_on_one(self, request: HttpRequest, number: int) -> HttpResponse:
        """What a button of a job's page does: the same as the list, for this one."""
        if not may_act(request):
            raise PermissionDenied
        job = get_object_or_404(CaptureJob, pk=number)
        kind = request.POST.get("kind", "")
        if kind not in Kind.values:
            raise PermissionDenied
        targets = staff_actions.targets_of(kind, CaptureJob.objects.filter(pk=job.pk))
        return proposed(self, request, Kind(kind), targets, page_of(job)) or redirect(page_of(job))

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> CaptureJob | None:
        job: CaptureJob | None = super().get_object(request, object_id, from_field)
        if job is not None:
            tell_waits([job])
        return job

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        job = kwargs.get("obj")
        if job is not None:
            context |= {"log": log_of(job), "offers": offers_for(job) if may_act(request) else []}
        return super().render_change_form(request, context, *args, **kwargs)

    @admin.display(description="why it waits")
    def waits_for(self, job: CaptureJob) -> str:
        wait: Wait | None = getattr(job, "wait", None)
        return wait.words if wait else "-"

    @admin.display(description="why it waits or has failed")
    def why(self, job: CaptureJob) -> str:
        """One column for both: a job that waits for something has not failed."""
        wait: Wait | None = getattr(job, "wait", None)
        return wait.words if wait else in_words(job.reason)

    @admin.display(description="last trouble")
    def trouble(self, job: CaptureJob) -> str:
        return in_words(job.reason)

    @admin.display(description="question")
    def question(self, job: CaptureJob) -> SafeString:
        return shortened(job.prompt)

    @admin.display(description="question")
    def whole_question(self, job: CaptureJob) -> str:
        return job.prompt.text

    @admin.display(description="team")
    def team_link(self, job: CaptureJob) -> SafeString | str:
        return link_to(job.team)

    @admin.display(description="worker that has it")
    def worker_link(self, job: CaptureJob) -> SafeString | str:
        return link_to(Worker.objects.filter(pk=job.worker).first()) if job.worker else "-"

    @admin.display(description="check")
    def check_link(self, job: CaptureJob) -> SafeString | str:
        return link_to(job.of_check)

    @admin.display(description="check")
    def check_short(self, job: CaptureJob) -> SafeString | str:
        return link_to(job.of_check, f"{str(job.of_check.uuid)[:8]}…")

    @admin.display(description="capture")
    def capture_link(self, job: CaptureJob) -> SafeString | str:
        place = {"prompt": job.prompt_id, "provider": job.provider, "sample": job.sample}
        return link_to(Capture.objects.filter(**place).defer("text", "detail").first())


def _jobs_of_call(remote_id: str) -> list[int]:
    """Jobs by their call's id at its system: calls in hand, and what is kept of those that have ended."""
    in_hand = CaptureJob.objects.in_flight().filter(remote_id=remote_id)
    found = set(in_hand.values_list("pk", flat=True))
    places = Capture.objects.filter(remote_id=remote_id).values("prompt", "provider", "sample")[:MOST_LOGGED]
    for place in places:
        found |= set(CaptureJob.objects.filter(**place).values_list("pk", flat=True))
    return sorted(found)


def log_of(job: CaptureJob) -> QuerySet[LogEntry]:
    """What staff have done to a job, the newest first."""
    kind = get_content_type_for_model(job)
    entries = LogEntry.objects.filter(content_type=kind, object_id=str(job.pk))
    return entries.select_related("user").order_by("-action_time", "-pk")[:MOST_LOGGED]
