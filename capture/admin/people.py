"""What is people's: teams and their members, brands and their competitors. It can be edited."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from capture import budgets, schedules
from capture.admin.base import UNWRITTEN, Dated, ModelAdmin, TabularInline, list_link
from capture.forms.named import NamedForm
from capture.forms.team import TeamForm
from capture.models import Brand, CaptureJob, Charge, Competitor, Membership, Team
from capture.models.brands import editing


class MembershipInline(Dated, TabularInline):
    model = Membership
    extra = 0
    autocomplete_fields = ("user",)
    readonly_fields = ("made",)
    exclude = UNWRITTEN


@admin.register(Team)
class TeamAdmin(Dated, ModelAdmin):
    form = TeamForm
    list_display = ("name", "time_zone", "monthly_budget", "created_at")
    search_fields = ("name", "memberships__user__username")
    readonly_fields = ("this_month", "jobs", "made")
    inlines = (MembershipInline,)

    def save_model(self, request: HttpRequest, obj: Team, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if "time_zone" in form.changed_data:
            schedules.move_to_zone(obj)

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: bool = False) -> Any:
        """Of a budget also what it was and what it is now: the log is all that is left of the former."""
        told = super().construct_change_message(request, form, formsets, add)
        if not add and "monthly_budget" in form.changed_data:
            was, now = form.initial["monthly_budget"], form.cleaned_data["monthly_budget"]
            label = str(form.fields["monthly_budget"].label)
            fields = told[0]["changed"]["fields"]
            fields[fields.index(label)] = f"{label}: {_dollars(was)} → {_dollars(now)}"
        return told

    @admin.display(description="this month")
    def this_month(self, team: Team) -> SafeString | str:
        if team.pk is None:
            return "-"
        room = budgets.room(team)
        spent = f"${room.charged:.2f} of ${room.budget:.2f} spent, and about ${room.expected:.2f} for open jobs"
        return list_link(Charge, spent, team__id__exact=team.pk)

    @admin.display(description="jobs")
    def jobs(self, team: Team) -> SafeString | str:
        return list_link(CaptureJob, "all jobs", team=team.pk) if team.pk else "-"


def _dollars(budget: Decimal | None) -> str:
    return "the usual one" if budget is None else f"${budget:,.2f}"


@admin.register(Membership)
class MembershipAdmin(Dated, ModelAdmin):
    list_display = ("user", "team", "created_at")
    list_select_related = ("user", "team")
    search_fields = ("user__username", "team__name")
    autocomplete_fields = ("user", "team")
    readonly_fields = ("made",)
    exclude = UNWRITTEN


class CompetitorInline(Dated, TabularInline):
    model = Competitor
    form = NamedForm
    extra = 0
    readonly_fields = ("made",)
    exclude = UNWRITTEN
    can_delete = False  # archived instead: an answer that is on its way may name it


@admin.register(Brand)
class BrandAdmin(Dated, ModelAdmin):
    form = NamedForm
    list_display = ("name", "team", "created_at", "archived_at")
    list_select_related = ("team",)
    search_fields = ("name", "team__name")
    autocomplete_fields = ("team",)
    readonly_fields = ("made",)
    exclude = (*UNWRITTEN, "edition", "edited_at", "read_edition", "read_matcher")
    inlines = (CompetitorInline,)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Its answers are its team's: with another team they would be seen by others."""
        return ("team", *self.readonly_fields) if obj else self.readonly_fields

    def changeform_view(self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any) -> Any:
        """What is saved here is another edition of the names, as on the brand's own page."""
        change = super().changeform_view
        brand = Brand.objects.filter(pk=_number(object_id))
        return _edited(request, brand, lambda: change(request, object_id, *args, **kwargs))


@admin.register(Competitor)
class CompetitorAdmin(Dated, ModelAdmin):
    form = NamedForm
    list_display = ("name", "brand", "created_at", "archived_at")
    list_select_related = ("brand",)
    search_fields = ("name", "brand__name")
    autocomplete_fields = ("brand",)
    readonly_fields = ("made",)
    exclude = UNWRITTEN

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """The answers that name it are its brand's."""
        return ("brand", *self.readonly_fields) if obj else self.readonly_fields

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Archived instead: an answer that is on its way may name it."""
        return False

    def changeform_view(self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any) -> Any:
        """What is saved here is another edition of its brand's names."""
        change = super().changeform_view
        brand = Brand.objects.filter(competitors=_number(object_id))
        return _edited(request, brand, lambda: change(request, object_id, *args, **kwargs))


def _edited(request: HttpRequest, brands: QuerySet[Brand], change: Callable[[], Any]) -> Any:
    brand = brands.first() if request.method == "POST" else None
    if brand is None:
        return change()
    with transaction.atomic(), editing(brand):
        return change()


def _number(object_id: str | None) -> int:
    """A row's number; 0, which none has, for what is no number."""
    return int(object_id) if object_id and object_id.isdecimal() and len(object_id) < 20 else 0
