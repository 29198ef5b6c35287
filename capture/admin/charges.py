"""Charges, with their sums."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse

from capture.admin.base import ReadOnlyAdmin
from capture.admin.filters import MonthFilter, ProviderFilter
from capture.models import Charge
from capture.reports import spend


@admin.register(Charge)
class ChargeAdmin(ReadOnlyAdmin):
    list_display = ("day", "team", "provider", "amount", "basis", "simulated", "check_uuid")
    list_select_related = ("team",)
    list_filter = (MonthFilter, "team", ProviderFilter, "simulated", "basis")
    search_fields = ("check_uuid", "attempt", "team__name")
    # By the day first: its index brings one month in this order.
    ordering = ("-day", "-id")

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list with the sums of all that it holds, on whichever page."""
        response = super().changelist_view(request, extra_context)
        context: dict[str, Any] = getattr(response, "context_data", None) or {}
        if "cl" in context:
            context["spend"] = spend.summary(context["cl"].queryset)
        return response
