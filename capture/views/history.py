"""A brand's history: its figures and sources over time, as pages and as files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from capture import reports
from capture.formatting.spreadsheet import csv_lines
from capture.forms.history import HistoryForm
from capture.models import Brand, Team
from capture.views import for_team
from capture.views.exports import CSV, JSON, NAME_LENGTH

MOST_SITES = 100  # on a page; a file has all

HistoryView = Callable[[HttpRequest, Brand, HistoryForm], HttpResponseBase]


def for_brand(view: HistoryView) -> Callable[..., HttpResponseBase]:
    """Let a view have the team's brand of that address, and the filters; another team's brand is not there."""

    @require_safe
    @for_team
    @wraps(view)
    def wrapper(request: HttpRequest, team: Team, /, uuid: UUID) -> HttpResponseBase:
        found = get_object_or_404(Brand.objects.prefetch_related("competitors"), team=team, uuid=uuid)
        # What is not said is as usual, so an address without filters is one as well.
        return view(request, found, HistoryForm(request.GET, found, reports.asked_so_far(found)))

    return wrapper


@for_brand
def brand(request: HttpRequest, brand: Brand, form: HistoryForm) -> HttpResponse:
    """Its figures over time, and how they have changed."""
    return render(request, "capture/brand.html", _context(request, brand, form, history=reports.history_of(form.scope)))


@for_brand
def competitors(request: HttpRequest, brand: Brand, form: HistoryForm) -> HttpResponse:
    """The share of voice of the brand and of each competitor over time."""
    context = _context(request, brand, form, rivals=reports.rivals_of(form.scope))
    return render(request, "capture/brand_competitors.html", context)


@for_brand
def sources(request: HttpRequest, brand: Brand, form: HistoryForm) -> HttpResponse:
    """The sites that answers rest on."""
    sites = reports.sites_over_time(form.scope)
    more = max(0, len(sites) - MOST_SITES)
    context = _context(request, brand, form, sites=sites[:MOST_SITES], more=more)
    return render(request, "capture/brand_sources.html", context)


@for_brand
def history_csv(request: HttpRequest, brand: Brand, form: HistoryForm) -> StreamingHttpResponse:
    """A row for each figure of each stretch of time."""
    return _file(brand, "history.csv", CSV, csv_lines(reports.history_rows(reports.history_of(form.scope))))


@for_brand
def history_json(request: HttpRequest, brand: Brand, form: HistoryForm) -> StreamingHttpResponse:
    """Figures, shares of voice, marks and sites."""
    text = reports.history_json(reports.history_of(form.scope), reports.rivals_of(form.scope))
    return _file(brand, "history.json", JSON, iter([text]))


@for_brand
def competitors_csv(request: HttpRequest, brand: Brand, form: HistoryForm) -> StreamingHttpResponse:
    """A row for each share of voice of each stretch of time."""
    return _file(brand, "competitors.csv", CSV, csv_lines(reports.rival_rows(reports.rivals_of(form.scope))))


@for_brand
def sources_csv(request: HttpRequest, brand: Brand, form: HistoryForm) -> StreamingHttpResponse:
    """A row for each site."""
    return _file(brand, "sources.csv", CSV, csv_lines(reports.seen_site_rows(form.scope)))


def _context(request: HttpRequest, brand: Brand, form: HistoryForm, **more: Any) -> dict[str, Any]:
    about = {"brand": brand, "being_read": reports.is_being_read(brand), "query": request.GET.urlencode()}
    return {**about, "form": form, "scope": form.scope, **more}


def _file(brand: Brand, what: str, kind: str, pieces: Iterator[str]) -> StreamingHttpResponse:
    name = slugify(brand.name, allow_unicode=True)[:NAME_LENGTH] or "brand"
    disposition = str(content_disposition_header(as_attachment=True, filename=f"{name}-{what}"))
    return StreamingHttpResponse(pieces, content_type=kind, headers={"Content-Disposition": disposition})
