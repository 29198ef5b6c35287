"""The application as a web server loads it: refuses to start on a bad deployment, with one line a reason."""

import os
import sys
from typing import NoReturn

from django.conf import settings
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.core.handlers.wsgi import WSGIHandler
from django.core.wsgi import get_wsgi_application

from aicontrol import environment as env
from aicontrol.requests import Request

# Gunicorn takes this exit code of a worker for "the application can't be loaded", and ends instead of trying again.
CANNOT_LOAD = 4


def load() -> WSGIHandler:
    """Return the application, or end the process with the reasons on standard error."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "aicontrol.settings")
    os.environ["AICONTROL_PROCESS"] = "aicontrol web"
    try:
        application = get_wsgi_application()
    except ImproperlyConfigured as error:
        _refuse(str(error))
    if settings.DEBUG and not env.text("DEBUG"):
        _refuse(
            "DEBUG is on, since neither DATABASE_URL nor SECRET_KEY is set. Set both for a server (see .env.example), "
            "or DEBUG=on if you want that; bin/demo runs a demonstration."
        )
    errors = [message for message in checks.run_checks(tags=["deployment"]) if message.is_serious()]
    if errors:
        _refuse(*(f"{error.id}: {error.msg} {error.hint}" for error in errors))
    application.request_class = Request
    return application


def _refuse(*reasons: str) -> NoReturn:
    for reason in reasons:
        print(f"aicontrol does not start: {reason}", file=sys.stderr)  # noqa: T201  logging may not be set up
    sys.exit(CANNOT_LOAD)


application = load()
