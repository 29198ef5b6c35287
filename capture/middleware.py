"""Middleware: requests that can only be mistakes or attacks, and the pages that say so."""

from __future__ import annotations

import codecs
import logging
import traceback
from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.db import DataError
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string

log = logging.getLogger(__name__)

OURS = {"aicontrol", "capture"}

NUL = "\x00"
BAD_REQUEST = 400
NOT_ALLOWED = 405
TOO_LARGE = 413

MEGABYTE = 1_000_000
METHODS = ("GET", "HEAD", "POST")

GetResponse = Callable[[HttpRequest], HttpResponse]


class HeadersOnly:
    """Answers HEAD as GET is answered, without the body: for a web server one there is a fault of ours."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.method == "HEAD" and isinstance(response, HttpResponse):
            length = response.get("Content-Length", str(len(response.content)))
            response.content = b""
            response["Content-Length"] = length
        elif request.method == "HEAD" and isinstance(response, StreamingHttpResponse):
            response.streaming_content = []
        return response


class RefuseUnreadable:
    """Refuses what no page of ours sends, before anything looks at it; nothing of a body is read for that."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        length = request.META.get("CONTENT_LENGTH") or "0"
        if request.method not in METHODS:
            return HttpResponseNotAllowed(METHODS, render_to_string("405.html"))
        if not (length.isdecimal() and _is_utf8(request)) or _has_nul(request):
            return _not_understood()
        if int(length[:20]) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            most = {"megabytes": settings.DATA_UPLOAD_MAX_MEMORY_SIZE // MEGABYTE}
            return HttpResponse(render_to_string("413.html", most), status=TOO_LARGE)
        return self.get_response(request)


def _not_understood() -> HttpResponse:
    return HttpResponse(render_to_string("400.html", {"unreadable": True}), status=BAD_REQUEST)


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


class RefuseNonsense:
    """Makes a bad request of what Django's admin cannot make sense of, where it would be an error of ours.

    It puts what is sent into queries as it is: numbers of rows, names of fields, values of filters. What our own code
    raises stays an error.
    """

    NONSENSE = (ValueError, OverflowError, TypeError, IndexError, ValidationError, FieldDoesNotExist, DataError)

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        in_admin = request.resolver_match is not None and request.resolver_match.app_name == "admin"
        if not in_admin or not isinstance(exception, self.NONSENSE) or _is_ours(exception):
            return None
        log.warning("%s: what was sent makes no sense", request.path, exc_info=exception)
        return _not_understood()


def _is_ours(exception: Exception) -> bool:
    """Whether the last that was called before it was raised is in this product."""
    *_, (frame, _line) = traceback.walk_tb(exception.__traceback__)
    return str(frame.f_globals.get("__name__")).partition(".")[0] in OURS


class PageOfRefusal:
    """Django says nothing where an address does not take a method; people read a page."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code == NOT_ALLOWED and not response.streaming and not response.content:
            response.content = render_to_string("405.html", request=request).encode()
        return response
