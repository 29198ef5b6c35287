"""Workers."""

from __future__ import annotations

from django.contrib import admin

from capture.admin.base import ReadOnlyAdmin
from capture.models import Worker


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
