"""Captures with their sources, and what they cost."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from capture.admin.base import FoundByName, ReadOnlyInline, as_number, as_uuid, link_to, shortened
from capture.models import Capture, CaptureJob, Check, Source


class SourceInline(ReadOnlyInline):
    model = Source
    ordering = ("position",)
    fields = ("position", "domain", "title", "url", "cited")


@admin.register(Capture)
class CaptureAdmin(FoundByName):
    list_display = ("id", "question", "outcome", "reason", "provider", "attempts", "cost", "simulated", "check_link")
    list_select_related = ("prompt", "of_check")
    list_filter = ("outcome", "provider", "simulated", "answered_at")
    search_help_text = "The number of a capture; the uuid of a check or an attempt; a call’s id at its system."
    readonly_fields = ("check_link", "job_link")
    ordering = ("-id",)
    inlines = (SourceInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Capture]:
        return super().get_queryset(request).defer("text", "detail")

    def found(self, rows: QuerySet[Any], words: str) -> QuerySet[Any]:
        if number := as_number(words):
            return rows.filter(pk=number)
        if uuid := as_uuid(words):
            return rows.filter(Q(of_check__in=Check.objects.filter(uuid=uuid)) | Q(attempt=uuid))
        return rows.filter(remote_id=words)

    @admin.display(description="question")
    def question(self, capture: Capture) -> SafeString:
        return shortened(capture.prompt)

    @admin.display(description="check", ordering="of_check")
    def check_link(self, capture: Capture) -> SafeString | str:
        return link_to(capture.of_check)

    @admin.display(description="job")
    def job_link(self, capture: Capture) -> SafeString | str:
        place = {"prompt": capture.prompt_id, "provider": capture.provider, "sample": capture.sample}
        return link_to(CaptureJob.objects.filter(**place).first())
