"""Middleware: a database that is away is a page that says so."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

log = logging.getLogger(__name__)

TRY_AGAIN = 5  # seconds


class DatabaseAway:
    """Answers 503 where a view found the database away, with a page that does not need it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Called by Django for what a view raises."""
        if not isinstance(exception, OperationalError | InterfaceError):
            return None
        log.error("%s %s: the database cannot be used now (%s)", request.method, request.path, first_line(exception))
        # Without the request: its context processors would ask the database who this is.
        page = render_to_string("503.html")
        return HttpResponse(page, status=503, headers={"Retry-After": str(TRY_AGAIN)})


def first_line(exception: Exception) -> str:
    return str(exception).strip().partition("\n")[0]
