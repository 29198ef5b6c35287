"""My brands."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from capture import reports
from capture.models import Team
from capture.views import for_team
from capture.views.lists import page_of, search_words


@require_safe
@for_team
def brands(request: HttpRequest, team: Team) -> HttpResponse:
    """The team's brands, with what was checked last."""
    words = search_words(request)
    page = page_of(request, reports.brands_of(team, words))
    return render(request, "capture/brands.html", {"page": page, "lines": reports.brand_lines(page), "words": words})
