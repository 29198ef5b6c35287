"""The application as tests serve it: it outlives the rows that it remembers.

Between two tests all tables are emptied, and content types, which Django keeps in mind, come back with other numbers.
"""

from typing import Any

from django.core.signals import request_started

from aicontrol.wsgi import application

__all__ = ["application"]


def forget(**_: Any) -> None:
    from django.contrib.contenttypes.models import ContentType

    ContentType.objects.clear_cache()


request_started.connect(forget)
