"""What all pages of the admin share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from capture import reasons
from capture.models import Prompt

if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin[Any]
    TabularInline = admin.TabularInline[Any, Any]
    _Paginator = Paginator[Any]
else:  # generic in the type checker only
    _ModelAdmin = admin.ModelAdmin
    TabularInline = admin.TabularInline
    _Paginator = Paginator

MOST_COUNTED = 10_000


class AtLeast(int):
    """A number that was counted no further; it says so wherever it is shown."""

    def __str__(self) -> str:
        return _("over %(number)s") % {"number": f"{self - 1:,}"}


class BoundedPaginator(_Paginator):
    """Pages of a list that is counted up to a bound, since to count a million rows is to read them."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        found = rows.order_by()[: MOST_COUNTED + 1].count()
        return AtLeast(found) if found > MOST_COUNTED else int(found)


class OwnActions:
    """Django answers an action that somebody may not use as if none had been chosen; here it is refused."""

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        wanted = {action for action in request.POST.getlist("action") if action}
        if wanted - self.get_actions(request).keys():  # type: ignore[attr-defined]  # of the ModelAdmin beside it
            raise PermissionDenied
        return super().changelist_view(request, extra_context)  # type: ignore[misc, no-any-return]


class ModelAdmin(OwnActions, _ModelAdmin):
    """Quick however many rows there are: nothing is counted to its end, neither all rows nor those of each filter."""

    paginator = BoundedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_per_page = 50
    list_max_show_all = 200


UNWRITTEN = ("created_at",)  # by nobody; to be left out of the forms of what is dated


class Dated:
    """When a row was made; nothing where it is yet to be made."""

    @admin.display(description=_lazy("created at"))
    def made(self, row: Any) -> str:
        return "-" if row._state.adding else date_format(localtime(row.created_at), "DATETIME_FORMAT")


class Untouched:
    """Nobody may write what the machine owns; the machine would not know of it."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class ReadOnlyAdmin(Untouched, ModelAdmin):
    """A list is in its own order only, in which there is an index."""

    sortable_by = ()


class FoundByName(ReadOnlyAdmin):
    """Rows that are searched for by what names them, each by an index; never by a part of a text."""

    search_fields = ("pk",)  # so that Django shows the field; what is looked for says `found`

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        words = search_term.strip()
        return (self.found(queryset, words) if words else queryset), False

    def found(self, rows: QuerySet[Any], words: str) -> QuerySet[Any]:
        """The rows that these words name."""
        raise NotImplementedError


class ReadOnlyInline(Untouched, TabularInline):
    extra = 0


def as_number(words: str) -> int | None:
    """A row's number, as in "123", "#123" or "job 123"; None if it is none that a row may have."""
    found = re.fullmatch(r"(?:job|#)?\s*([0-9]{1,18})", words, re.IGNORECASE)
    return int(found[1]) if found else None


def as_uuid(words: str) -> UUID | None:
    try:
        return UUID(words)
    except ValueError:
        return None


def link_to(row: Model | None, words: str = "") -> SafeString | str:
    """A link to a row's page in the admin."""
    if row is None:
        return "-"
    return format_html('<a href="{}">{}</a>', page_of(row), words or row)


def page_of(row: Model) -> str:
    """The path of a row's page in the admin."""
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])


def in_words(reason: str) -> str:
    """A reason in words, with the name that it has."""
    return f"{reasons.in_words(reason)} ({reason})" if reason else "-"


def shortened(prompt: Prompt) -> SafeString:
    """The beginning of a question, which may be long, for a column; all of it is told where it is pointed at."""
    return format_html('<span title="{}">{}</span>', prompt.text, Truncator(prompt.text).chars(60))


def list_of(model: type[Model], **query: Any) -> str:
    """The path of the list of those rows of a model that have these values."""
    path = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    return f"{path}?{urlencode(query)}" if query else path


def list_link(model: type[Model], words: str, **query: Any) -> SafeString:
    """A link to it."""
    return format_html('<a href="{}">{}</a>', list_of(model, **query), words)
