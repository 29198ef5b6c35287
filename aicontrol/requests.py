"""Requests as the web server hands them over."""

from __future__ import annotations

from typing import Any

from django.core.handlers.wsgi import WSGIRequest
from django.utils.http import parse_header_parameters


class Request(WSGIRequest):
    """A request that is read as UTF-8, whatever it says of itself; `capture.middleware` refuses what says otherwise.

    Django would read query and form by any encoding that Python has, some of which are no encodings of text, and raises
    for those before it has anything that could answer.
    """

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        try:
            self.content_type, self.content_params = parse_header_parameters(meta.get("CONTENT_TYPE", ""))
        except ValueError:
            self.content_type, self.content_params = "", {}
