"""What is said when a request cannot be answered.

Django's own handlers look for a CSRF token first, and so read a body that may be why there is an error.
"""

from __future__ import annotations

import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.views import csrf

from capture.views.new_check import is_new_check, kept

TRY_AGAIN = 5  # seconds

BAD_REQUEST = 400
FORBIDDEN = 403
NOT_FOUND = 404
FAILED = 500
UNAVAILABLE = 503


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """It makes no sense; what the page says needs nothing of it."""
    return HttpResponse(render_to_string("400.html"), status=BAD_REQUEST)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """It is not for whoever asks."""
    return render(request, "403.html", status=FORBIDDEN)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """No page of ours has that address, or not for whoever asks."""
    return render(request, "404.html", status=NOT_FOUND)


def server_error(request: HttpRequest) -> HttpResponse:
    """What has failed, wherever that was: the database is away, which passes, or an error of ours."""
    if not isinstance(sys.exception(), OperationalError | InterfaceError):
        return HttpResponse(render_to_string("500.html"), status=FAILED)
    response = _unavailable(request)
    response.headers["Retry-After"] = str(TRY_AGAIN)
    return response


def _unavailable(request: HttpRequest) -> HttpResponse:
    if is_new_check(request):
        return kept(request, UNAVAILABLE, _("The database cannot be reached at the moment, and nothing was asked yet."))
    # Without the request: its context processors would ask the database who this is.
    return HttpResponse(render_to_string("503.html"), status=UNAVAILABLE)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form came without its token, mostly since somebody has logged in anew in another tab meanwhile."""
    if is_new_check(request):
        return kept(request, FORBIDDEN, _("You have logged in since this form was opened, and nothing was asked yet."))
    return csrf.csrf_failure(request, reason)
