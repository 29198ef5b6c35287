"""Middleware: requests that can only be mistakes or attacks, and the pages that say so."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

NUL = "\x00"
BAD_REQUEST = 400
NOT_ALLOWED = 405

GetResponse = Callable[[HttpRequest], HttpResponse]


class RefuseNul:
    """No address of ours holds U+0000, and PostgreSQL cannot even be asked for it."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer 400 where the path or the query holds it, before anything looks at them. The log has a line of it."""
        asked = [request.path, *request.GET, *(value for values in request.GET.lists() for value in values[1])]
        if any(NUL in text for text in asked):
            return HttpResponse(render_to_string("400.html", {"address": True}), status=BAD_REQUEST)
        return self.get_response(request)


class PageOfRefusal:
    """Django says nothing where an address does not take a method; people read a page."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code == NOT_ALLOWED and not response.streaming and not response.content:
            response.content = render_to_string("405.html", request=request).encode()
        return response
