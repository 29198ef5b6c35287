"""Lanes."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from capture.admin.base import ModelAdmin
from capture.models import Lane


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
