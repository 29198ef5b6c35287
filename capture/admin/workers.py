"""Workers and their beats."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from capture.admin.base import ReadOnlyAdmin
from capture.models import Worker
from capture.reports.crew import health_of, with_silence
from capture.reports.times import span


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    list_display = (
        *("id", "host", "pid", "health", "last_beat", "seats", "stuck", "providers", "started_at"),
        *("stopped_at", "lost_at", "taken_back"),
    )
    list_filter = ("host",)
    readonly_fields = ("health", "last_beat")
    search_fields = ("id", "host")
    ordering = ("-started_at",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return with_silence(super().get_queryset(request))

    @admin.display(description="state")
    def health(self, worker: Any) -> str:
        return health_of(worker).value

    @admin.display(description="last beat", ordering="beat_at")
    def last_beat(self, worker: Any) -> str:
        return f"{span(worker.silence.total_seconds())} ago"
