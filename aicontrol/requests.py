"""Requests as the web server hands them over."""

from __future__ import annotations

from typing import Any

from django.core.handlers.wsgi import WSGIRequest


class Request(WSGIRequest):
    """A request of which a header that makes no sense is no header.

    Django raises for a `Content-Type` with an encoding that is none, before it has anything that could answer.
    """

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        try:
            super()._set_content_type_params(meta)  # type: ignore[misc]  # the stubs leave it out
        except ValueError:
            self.content_type, self.content_params = "", {}
