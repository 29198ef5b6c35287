"""What staff narrow the admin's list of charges by, without reading all of it to find the choices."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.db.models import Min, QuerySet
from django.http import HttpRequest

from capture.models import Charge
from capture.models.charges import ChargeQuerySet
from capture.models.clock import database_today
from capture.providers import registry

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Charge]
else:  # generic in the type checker only
    ModelAdmin = admin.ModelAdmin

ALL = "all"


class MonthFilter(admin.SimpleListFilter):
    """A calendar month; this one unless another is chosen, since nobody asks for the sum of all years."""

    title = "month"
    parameter_name = "month"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        first = Charge.objects.aggregate(day=Min("day"))["day"]
        today = database_today()
        months = [(f"{month:%Y-%m}", f"{month:%B %Y}") for month in _months_back(today, first or today)]
        return [*months, (ALL, "All months")]

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        for value, words in self.lookup_choices:
            query = changelist.get_query_string({self.parameter_name: value})
            yield {"selected": value == self.chosen, "query_string": query, "display": words}

    @property
    def chosen(self) -> str:
        return self.value() or f"{database_today():%Y-%m}"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.chosen == ALL:
            return queryset
        try:
            month = datetime.strptime(self.chosen, "%Y-%m").replace(tzinfo=UTC).date()
        except ValueError as error:
            raise IncorrectLookupParameters(error) from error
        return cast("ChargeQuerySet", queryset).in_month(month)


class ProviderFilter(admin.SimpleListFilter):
    """An AI system that there is now; what others were charged is in the sums all the same."""

    title = "AI system"
    parameter_name = "provider"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        return [(provider.slug, provider.label) for provider in registry.PROVIDERS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(provider=self.value()) if self.value() else queryset


def _months_back(today: date, first: date) -> Iterator[date]:
    """The first days of the months from today's back to another day's."""
    month = today.replace(day=1)
    while month >= first.replace(day=1):
        yield month
        month = (month - timedelta(days=1)).replace(day=1)
