"""A check's answers and sources as files, sent while they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from django.http import HttpRequest, StreamingHttpResponse
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.utils.timezone import localtime
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from capture import reports
from capture.formatting.spreadsheet import csv_lines
from capture.models import Check
from capture.views.one_check import for_check

CSV, JSON = "text/csv; charset=utf-8", "application/json"
NAME_LENGTH = 60


@require_safe
@never_cache
@for_check
def answers_csv(request: HttpRequest, check: Check) -> StreamingHttpResponse:
    """A row for every place of the check, answered or not."""
    return _file(request, check, "answers.csv", CSV, lambda: csv_lines(reports.answer_rows(check)))


@require_safe
@never_cache
@for_check
def sources_csv(request: HttpRequest, check: Check) -> StreamingHttpResponse:
    """A row for every source of every answer."""
    return _file(request, check, "sources.csv", CSV, lambda: csv_lines(reports.source_rows(check)))


@require_safe
@never_cache
@for_check
def answers_json(request: HttpRequest, check: Check) -> StreamingHttpResponse:
    """The check with its answers, and these with their sources."""
    return _file(request, check, "answers.json", JSON, lambda: reports.json_pieces(check))


@require_safe
@never_cache
@for_check
def summary_csv(request: HttpRequest, check: Check) -> StreamingHttpResponse:
    """A row for every figure of every system."""
    return _file(request, check, "figures.csv", CSV, lambda: csv_lines(reports.figure_rows(check)))


@require_safe
@never_cache
@for_check
def sites_csv(request: HttpRequest, check: Check) -> StreamingHttpResponse:
    """A row for every site that answers cite."""
    return _file(request, check, "sites.csv", CSV, lambda: csv_lines(reports.site_rows(check)))


@require_safe
@never_cache
@for_check
def summary_json(request: HttpRequest, check: Check) -> StreamingHttpResponse:
    """Figures and sites."""
    return _file(request, check, "figures.json", JSON, lambda: iter([reports.summary_json(check)]))


def _file(
    request: HttpRequest, check: Check, what: str, kind: str, pieces: Callable[[], Iterator[str]]
) -> StreamingHttpResponse:
    """A download; whoever asks only for its headers has none of it read."""
    brand = slugify(check.names["brand"]["name"], allow_unicode=True)[:NAME_LENGTH] or "check"
    name = f"{brand}-{localtime(check.created_at):%Y-%m-%d}-{what}"
    disposition = str(content_disposition_header(as_attachment=True, filename=name))
    content = iter(()) if request.method == "HEAD" else pieces()
    return StreamingHttpResponse(content, content_type=kind, headers={"Content-Disposition": disposition})
