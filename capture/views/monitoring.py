"""What machines ask: is this process alive, can the installation do its work, and how does the queue stand?"""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from capture import database
from capture.reports import metrics, readiness

PATIENCE = 5.0  # seconds for all that is asked of the database

UNAUTHORIZED = 401
UNAVAILABLE = 503


@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """This process answers. It asks nobody else: whoever restarts what does not answer must not do so for others."""
    return JsonResponse({"alive": True})


@require_safe
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """Whether questions that are asked now would be worked on: 200, or 503 and what is missing."""
    with database.bounded(PATIENCE):
        missing = readiness.missing()
    return JsonResponse({"ready": not missing, "missing": missing}, status=UNAVAILABLE if missing else 200)


@require_safe
@never_cache
def figures(request: HttpRequest) -> HttpResponse:
    """The queue's figures for Prometheus, for whoever has the token; without METRICS_TOKEN there are none."""
    if not settings.METRICS_TOKEN:
        raise Http404
    if not constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {settings.METRICS_TOKEN}"):
        return HttpResponse(status=UNAUTHORIZED, headers={"WWW-Authenticate": "Bearer"})
    with database.bounded(PATIENCE):
        text, content_type = metrics.exposition(request.headers.get("Accept", ""))
    return HttpResponse(text, content_type=content_type)
