"""What is people's: teams and their members, brands and their competitors. It can be edited."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.safestring import SafeString

from capture import budgets, schedules
from capture.admin.base import ModelAdmin, TabularInline, list_link
from capture.forms.team import TeamForm
from capture.models import Brand, Charge, Competitor, Membership, Team


class MembershipInline(TabularInline):
    model = Membership
    extra = 0
    autocomplete_fields = ("user",)
    readonly_fields = ("created_at",)


@admin.register(Team)
class TeamAdmin(ModelAdmin):
    form = TeamForm
    list_display = ("name", "time_zone", "monthly_budget", "created_at")
    search_fields = ("name", "memberships__user__username")
    readonly_fields = ("this_month", "created_at")
    inlines = (MembershipInline,)

    def save_model(self, request: HttpRequest, obj: Team, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if "time_zone" in form.changed_data:
            schedules.move_to_zone(obj)

    @admin.display(description="this month")
    def this_month(self, team: Team) -> SafeString | str:
        if team.pk is None:
            return "-"
        room = budgets.room(team)
        spent = f"${room.charged:.2f} of ${room.budget:.2f} spent, and about ${room.expected:.2f} for open jobs"
        return list_link(Charge, spent, team__id__exact=team.pk)


@admin.register(Membership)
class MembershipAdmin(ModelAdmin):
    list_display = ("user", "team", "created_at")
    list_select_related = ("user", "team")
    search_fields = ("user__username", "team__name")
    autocomplete_fields = ("user", "team")
    readonly_fields = ("created_at",)


class CompetitorInline(TabularInline):
    model = Competitor
    extra = 0
    readonly_fields = ("created_at",)


@admin.register(Brand)
class BrandAdmin(ModelAdmin):
    list_display = ("name", "team", "created_at", "archived_at")
    list_select_related = ("team",)
    search_fields = ("name", "team__name")
    autocomplete_fields = ("team",)
    readonly_fields = ("created_at",)
    inlines = (CompetitorInline,)


@admin.register(Competitor)
class CompetitorAdmin(ModelAdmin):
    list_display = ("name", "brand", "created_at", "archived_at")
    list_select_related = ("brand",)
    search_fields = ("name", "brand__name")
    autocomplete_fields = ("brand",)
    readonly_fields = ("created_at",)
