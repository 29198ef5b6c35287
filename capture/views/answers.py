"""An answer on a page of its own, at an address that stays; htmx puts the same into the page of its check."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers
from django_htmx.http import push_url

from capture import reports
from capture.models import Check
from capture.reports import Answer
from capture.views import _htmx
from capture.views.one_check import for_check


@require_safe
@never_cache
@vary_on_headers("HX-Request")
@for_check
def answer(request: HttpRequest, check: Check, position: int, provider: str, sample: int) -> HttpResponse:
    """What came of one place of a check, or how it stands."""
    found = _answer(check, position, provider, sample)
    template = "capture/_answer.html" if _htmx(request) else "capture/answer.html"
    response = render(request, template, {"check": check, "answer": found, "asking": reports.asking([found.cell])})
    # Within the page of the check, the address stays that of the check.
    return push_url(response, False)


@require_safe
@never_cache
@for_check
def answer_text(request: HttpRequest, check: Check, position: int, provider: str, sample: int) -> HttpResponse:
    """The answer as the system wrote it, with its sources, to be copied or kept."""
    found = _answer(check, position, provider, sample)
    return HttpResponse(found.plain, content_type="text/plain; charset=utf-8")


def _answer(check: Check, position: int, provider: str, sample: int) -> Answer:
    found = reports.answer_at(check, position, provider, sample)
    if found is None:
        raise Http404
    return found
