"""Schedules of checks that are repeated: when each is due, and why one is paused."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.admin import EmptyFieldListFilter
from django.utils.safestring import SafeString

from capture.admin.base import ReadOnlyAdmin, link_to, list_link
from capture.models import Check, Schedule


@admin.register(Schedule)
class ScheduleAdmin(ReadOnlyAdmin):
    list_display = ("brand", "team", "every", "hour", "zone", "next_due", "paused_because", "asks", "checks")
    list_display_links = ("brand",)
    list_select_related = ("team", "template__brand")
    list_filter = ("every", ("paused_because", EmptyFieldListFilter), "next_due")
    search_fields = ("team__name", "template__brand__name", "paused_because")
    fields = ("brand", "team", "every", "hour", "zone", "next_due", "paused_because", "asks", "checks")
    readonly_fields = ("brand", "zone", "asks", "checks")
    ordering = ("next_due", "pk")

    @admin.display(description="brand", ordering="template__brand__name")
    def brand(self, schedule: Schedule) -> str:
        return str(schedule.template.brand)

    @admin.display(description="time zone")
    def zone(self, schedule: Schedule) -> str:
        return schedule.team.time_zone

    @admin.display(description="what is repeated")
    def asks(self, schedule: Schedule) -> SafeString | str:
        return link_to(schedule.template)

    @admin.display(description="checks so far")
    def checks(self, schedule: Schedule) -> SafeString:
        return list_link(Check, "checks", schedule__id__exact=schedule.pk)
