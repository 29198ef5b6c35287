"""Jobs, and why they wait; they can be asked again and cancelled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.views.main import ChangeList
from django.http import HttpRequest
from django.utils.safestring import SafeString

from capture import queue
from capture.admin.base import ReadOnlyAdmin, ReadOnlyInline, link_to, shortened
from capture.models import Attempt, Capture, CaptureJob
from capture.models.jobs import JobQuerySet
from capture.reports import Wait, waits_of


class AttemptInline(ReadOnlyInline):
    model = Attempt
    ordering = ("number",)
    fields = ("number", "started_at", "ended_at", "outcome", "reason", "error", "remote_id", "worker", "simulated")


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
class CaptureJobAdmin(ReadOnlyAdmin):
    list_display = ("id", "status", "provider", "sample", "attempts", "why", "reason", "check_link", "question")
    list_select_related = ("prompt", "of_check")
    list_filter = ("status", "provider", "lane")
    search_fields = ("of_check__uuid", "remote_id", "reason", "worker", "prompt__text")
    readonly_fields = ("why", "check_link", "capture_link")
    ordering = ("-id",)
    inlines = (AttemptInline,)
    actions = ("requeue", "cancel")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return WaitingList

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> CaptureJob | None:
        job: CaptureJob | None = super().get_object(request, object_id, from_field)
        if job is not None:
            tell_waits([job])
        return job

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

    @admin.display(description="why it waits", empty_value="-")
    def why(self, job: CaptureJob) -> str | None:
        wait: Wait | None = getattr(job, "wait", None)
        return wait.words if wait else None

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
