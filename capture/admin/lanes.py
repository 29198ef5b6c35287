"""Lanes: their limits and switches are staff's, where they stand is the machine's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from capture import cooling, lanes
from capture.admin.base import ModelAdmin
from capture.models import Lane
from capture.providers import registry
from capture.reports.standings import standing_of, with_standing

STAFFS = ("enabled", "paused", "limit", "least_seconds_between_starts")
STANDS = ("name", "systems", "in_flight", "state")
SPACED = "last_start_at"  # kept only where starts are so many seconds apart
COOLING = ("cooling_since", "cooling_until", "cooling_repeats")


@admin.register(Lane)
class LaneAdmin(ModelAdmin):
    list_display = ("name", "systems", "in_flight", "limit", "state", "least_seconds_between_starts")
    readonly_fields = (*STANDS, SPACED, *COOLING, "opened_at")
    empty_value_display = _("none yet")
    formfield_overrides = {  # noqa: RUF012  Django's way
        models.FloatField: {"min_value": 0, "max_value": 3_600},
        models.PositiveSmallIntegerField: {
            "min_value": 1,
            "help_text": _("At least 1; pause a lane to start nothing."),
        },
    }
    ordering = ("name",)
    actions = ("pause", "resume")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return with_standing(super().get_queryset(request))

    def get_fields(self, request: HttpRequest, obj: Lane | None = None) -> tuple[str, ...]:
        """What there is to know of it now: of cooling only while it cools, of having answered again only if it has."""
        told = (*COOLING, "opened_at") if obj and obj.cooling_since else ("opened_at",)
        spaced = (SPACED,) if obj and obj.least_seconds_between_starts else ()
        return (*STAFFS, *STANDS, *spaced, *(name for name in told if getattr(obj, name, None)))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Lane | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Lane, form: Any, change: bool) -> None:
        lanes.change([obj.name], **{name: getattr(obj, name) for name in form.changed_data})

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: bool = False) -> Any:
        """What it was and what it is now: the log is all that is left of the former."""
        return "; ".join(
            f"{form.fields[name].label}: {form.initial[name]} → {form.cleaned_data[name]}" for name in form.changed_data
        )

    @admin.action(description="Pause: start nothing new", permissions=["change"])
    def pause(self, request: HttpRequest, chosen: QuerySet[Lane]) -> None:
        rows = list(chosen)
        lanes.change([lane.name for lane in rows], paused=True)
        self._tell(request, rows, "paused")

    @admin.action(description="Resume: end the pause, and any cooling", permissions=["change"])
    def resume(self, request: HttpRequest, chosen: QuerySet[Lane]) -> None:
        rows = list(chosen)
        cooling.resume([lane.name for lane in rows])
        self._tell(request, rows, "resumed")

    def _tell(self, request: HttpRequest, changed: Iterable[Lane], what: str) -> None:
        for lane in changed:
            self.log_change(request, lane, what)
        self.message_user(request, f"{what.capitalize()}: {', '.join(lane.name for lane in changed)}.")

    @admin.display(description="AI systems")
    def systems(self, lane: Lane) -> str:
        return ", ".join(provider.label for provider in registry.PROVIDERS if provider.lane == lane.name)

    @admin.display(description="calls in flight", ordering="in_flight")
    def in_flight(self, lane: Any) -> int:
        return standing_of(lane).in_flight

    @admin.display(description="state")
    def state(self, lane: Any) -> str:
        return standing_of(lane).words
