"""Middleware: requests that can only be mistakes or attacks are answered before anything looks at them."""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse

NUL = "\x00"


class RefuseNul:
    """No address of ours holds U+0000, and PostgreSQL cannot even be asked for it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer 400 where the path or the query holds it.

        Raises:
            BadRequest: it does; Django makes the page of it.
        """
        asked = [request.path, *request.GET, *(value for values in request.GET.lists() for value in values[1])]
        if any(NUL in text for text in asked):
            raise BadRequest("U+0000 in the address")
        return self.get_response(request)
