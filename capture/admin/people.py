"""What is people's: teams and their members, brands and their competitors. It can be edited."""

from __future__ import annotations

from django.contrib import admin

from capture.admin.base import ModelAdmin, TabularInline
from capture.models import Brand, Competitor, Membership, Team


class MembershipInline(TabularInline):
    model = Membership
    extra = 0
    autocomplete_fields = ("user",)
    readonly_fields = ("created_at",)


@admin.register(Team)
class TeamAdmin(ModelAdmin):
    list_display = ("name", "time_zone", "monthly_budget", "created_at")
    search_fields = ("name", "memberships__user__username")
    readonly_fields = ("created_at",)
    inlines = (MembershipInline,)


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
