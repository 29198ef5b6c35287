"""Charges."""

from __future__ import annotations

from django.contrib import admin

from capture.admin.base import ReadOnlyAdmin
from capture.models import Charge


@admin.register(Charge)
class ChargeAdmin(ReadOnlyAdmin):
    list_display = ("day", "team", "provider", "amount", "basis", "simulated", "check_uuid")
    list_select_related = ("team",)
    list_filter = ("day", "provider", "basis", "simulated")
    search_fields = ("check_uuid", "attempt", "team__name")
    ordering = ("-id",)
