"""The application as tests serve it: it outlives the rows that it remembers, and has pages that go wrong.

Between two tests all tables are emptied, and content types, which Django keeps in mind, come back with other numbers.
It hashes passwords as the tests do, to read theirs.
"""

from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.core.signals import request_started
from django.http import HttpRequest, HttpResponse
from django.urls import path

from aicontrol.wsgi import application
from tests.conftest import QUICK_HASHERS

__all__ = ["application"]


settings.PASSWORD_HASHERS = QUICK_HASHERS


def forget(**_: Any) -> None:
    from django.contrib.contenttypes.models import ContentType

    ContentType.objects.clear_cache()


request_started.connect(forget)


def breaks(request: HttpRequest) -> HttpResponse:
    raise ZeroDivisionError


def refuses(request: HttpRequest) -> HttpResponse:
    raise PermissionDenied


def add_pages() -> None:
    """Pages that show what is seen of an error, and of what is not allowed."""
    from aicontrol.urls import urlpatterns

    urlpatterns[:0] = [path("breaks/", breaks), path("refuses/", refuses)]


add_pages()
