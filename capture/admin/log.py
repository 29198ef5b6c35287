"""Django's log of what staff have done, for all of them; nobody can change it here."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from capture.admin.base import FoundByName, as_number
from capture.models import CaptureJob


@admin.register(LogEntry)
class LogAdmin(FoundByName):
    list_display = ("action_time", "user", "content_type", "row", "what")
    list_display_links = None
    list_select_related = ("user", "content_type")
    list_filter = ("action_flag", ("user", admin.RelatedOnlyFieldListFilter))
    search_help_text = "The number of a job, or the name of a user."
    ordering = ("-id",)

    def found(self, rows: QuerySet[Any], words: str) -> QuerySet[Any]:
        if number := as_number(words):
            jobs = ContentType.objects.get_for_model(CaptureJob)
            return rows.filter(object_id=str(number), content_type=jobs)
        return rows.filter(user__username__iexact=words)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    @admin.display(description="row")
    def row(self, entry: LogEntry) -> SafeString | str:
        path = None if entry.is_deletion() else entry.get_admin_url()
        return format_html('<a href="{}">{}</a>', path, entry.object_repr) if path else entry.object_repr

    @admin.display(description="what")
    def what(self, entry: LogEntry) -> str:
        return entry.get_change_message() or entry.get_action_flag_display()
