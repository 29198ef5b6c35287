"""Checks with their questions."""

from __future__ import annotations

from django.contrib import admin
from django.utils.safestring import SafeString

from capture.admin.base import ReadOnlyAdmin, ReadOnlyInline, list_link
from capture.models import Capture, CaptureJob, Check, Prompt
from capture.reports import check_url


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
