"""The id by which a request is found in all logs, from the proxy to the last line of ours."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from contextvars import ContextVar
from uuid import uuid4

from django.conf import settings
from django.http import HttpRequest, HttpResponse

log = logging.getLogger(__name__)

HEADER = "X-Request-ID"
FIRST_OF_ERRORS = 400
READING = frozenset({"GET", "HEAD", "OPTIONS"})

current_request: ContextVar[str] = ContextVar("current_request", default="")

_a_proxys = re.compile(r"[A-Za-z0-9_.-]{8,64}").fullmatch


class RequestId:
    """Gives each request an id: the trusted proxy's, or one of our own; tells it in the response and in each log line.

    Writes a line for what changes something or fails. Pages that are only read, most of them over and over, are the
    proxy's to log.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        began = time.monotonic()
        identity = _of_proxy(request) or uuid4().hex
        token = current_request.set(identity)
        try:
            response = self.get_response(request)
            response.headers[HEADER] = identity
            if request.method not in READING or response.status_code >= FIRST_OF_ERRORS:
                milliseconds = 1000 * (time.monotonic() - began)
                log.info("%s %s: %s in %.0f ms", request.method, _path(request), response.status_code, milliseconds)
            return response
        finally:
            current_request.reset(token)


def _of_proxy(request: HttpRequest) -> str:
    """What a trusted proxy calls it; anybody else's header `aicontrol.proxies` has taken away."""
    named = request.META.get("HTTP_X_REQUEST_ID", "") if settings.TRUSTED_PROXIES else ""
    return named if _a_proxys(named) else ""


def _path(request: HttpRequest) -> str:
    """The path without its query, where people search, and without the token of a mailed link, which opens an account.

    What the address of no page is, is not told: it may be anything.
    """
    match = request.resolver_match
    if match is None:
        return "(no page of ours)"
    return request.path.replace(match.kwargs["token"], "…") if "token" in match.kwargs else request.path
