"""Captures with their sources, and what they cost."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from capture.admin.base import ReadOnlyAdmin, ReadOnlyInline, link_to, shortened
from capture.models import Capture, CaptureJob, Source


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
