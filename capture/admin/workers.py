"""Workers and their beats."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from capture.admin.base import ReadOnlyAdmin
from capture.models import Worker
from capture.models.workers import LEASE
from capture.reports.crew import Health, health_of, with_silence
from capture.reports.times import span


class HealthFilter(admin.SimpleListFilter):
    """How it is with workers, as `health_of` tells it."""

    title = _("state")
    parameter_name = "health"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(health.value, health.value) for health in Health]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        match self.value():
            case Health.ALIVE:
                return queryset.serving().filter(silence__lte=LEASE)  # type: ignore[attr-defined, no-any-return]
            case Health.SILENT:
                return queryset.serving().filter(silence__gt=LEASE)  # type: ignore[attr-defined, no-any-return]
            case Health.STOPPED:
                return queryset.filter(stopped_at__isnull=False, lost_at__isnull=True)
            case Health.LOST:
                return queryset.filter(lost_at__isnull=False)
        return queryset


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    list_display = (
        *("id", "host", "pid", "health", "last_beat", "seats", "stuck", "providers", "started_at"),
        *("stopped_at", "lost_at", "taken_back"),
    )
    list_filter = (HealthFilter,)
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
