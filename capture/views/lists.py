"""What long lists share: a search, and pages. Of a page only the keys are looked for; its report reads the rest."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest

PER_PAGE = 50
MOST_WORDS = 200  # characters of a search


def search_words(request: HttpRequest) -> str:
    """What is searched for; empty for nothing."""
    return " ".join(request.GET.get("search", "").split())[:MOST_WORDS]


def page_of(request: HttpRequest, rows: QuerySet[Any]) -> Page[int]:
    """The page of the rows' keys that the address asks for; the nearest one where there is none such.

    All keys are read at once: a search that were run twice, to count and to show, would take twice as long.
    """
    keys = list(rows.values_list("pk", flat=True))
    return Paginator(keys, PER_PAGE).get_page(request.GET.get("page"))
