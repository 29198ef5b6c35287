"""Middleware: requests that can only be mistakes or attacks, and the pages that say so."""

from __future__ import annotations

import codecs
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.template.loader import render_to_string

NUL = "\x00"
BAD_REQUEST = 400
NOT_ALLOWED = 405
TOO_LARGE = 413

MEGABYTE = 1_000_000
METHODS = ("GET", "HEAD", "POST")

GetResponse = Callable[[HttpRequest], HttpResponse]


class RefuseUnreadable:
    """Refuses what no page of ours sends, before anything looks at it; nothing of a body is read for that."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method not in METHODS:
            return HttpResponseNotAllowed(METHODS, render_to_string("405.html"))
        if _length(request) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            most = {"megabytes": settings.DATA_UPLOAD_MAX_MEMORY_SIZE // MEGABYTE}
            return HttpResponse(render_to_string("413.html", most), status=TOO_LARGE)
        if not _is_utf8(request) or _has_nul(request):
            return HttpResponse(render_to_string("400.html", {"unreadable": True}), status=BAD_REQUEST)
        return self.get_response(request)


def _length(request: HttpRequest) -> int:
    """What the body says of its length; where that is no number, none of it is read."""
    said = request.META.get("CONTENT_LENGTH") or ""
    return int(said[:20]) if said.isdecimal() else 0


def _is_utf8(request: HttpRequest) -> bool:
    """Whether it is in the encoding of all our pages; in others there is text that can neither be read nor stored."""
    try:
        return codecs.lookup((request.content_params or {}).get("charset", "utf-8")).name in {"utf-8", "ascii"}
    except (LookupError, ValueError):
        return False


def _has_nul(request: HttpRequest) -> bool:
    """Whether path, query or a cookie holds U+0000, for which PostgreSQL cannot even be asked."""
    queried = (text for name, values in request.GET.lists() for text in (name, *values))
    return any(NUL in text for text in (request.path, *queried, *request.COOKIES.values()))


class PageOfRefusal:
    """Django says nothing where an address does not take a method; people read a page."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code == NOT_ALLOWED and not response.streaming and not response.content:
            response.content = render_to_string("405.html", request=request).encode()
        return response
