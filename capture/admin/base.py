"""What all pages of the admin share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from capture.models import Prompt

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
    TabularInline = admin.TabularInline[Any, Any]
else:  # generic in the type checker only
    ModelAdmin = admin.ModelAdmin
    TabularInline = admin.TabularInline


class Untouched:
    """Nobody may write what the machine owns; the machine would not know of it."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class ReadOnlyAdmin(Untouched, ModelAdmin):
    show_full_result_count = False
    list_per_page = 50


class ReadOnlyInline(Untouched, TabularInline):
    extra = 0


def link_to(row: Model | None) -> SafeString | str:
    """A link to a row's page in the admin."""
    if row is None:
        return "-"
    name = f"admin:{row._meta.app_label}_{row._meta.model_name}_change"
    return format_html('<a href="{}">{}</a>', reverse(name, args=[row.pk]), row)


def shortened(prompt: Prompt) -> str:
    """The beginning of a question, which may be long, for a column."""
    return Truncator(prompt.text).chars(60)


def list_link(model: type[Model], words: str, **query: Any) -> SafeString:
    """A link to those rows of a model that have these values."""
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"
    return format_html('<a href="{}?{}">{}</a>', reverse(name), urlencode(query), words)
