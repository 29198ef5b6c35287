"""What log lines look like: plain for people, or JSON for a collector; and what never stands in one.

Prompts and answers are customers' texts. Our own lines name jobs and checks by number. What an exception says may hold
anything (Python quotes the value that it stumbles over, PostgreSQL the row that it refuses), so tracebacks show where
and by which exception something failed, and its words only where those are known to be harmless.
"""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import psycopg
from django.core.exceptions import ImproperlyConfigured
from pythonjsonlogger.core import RESERVED_ATTRS
from pythonjsonlogger.json import JsonFormatter

from aicontrol.request_ids import current_request

FORMATS: tuple[str, ...] = ("PLAIN", "JSON")
LEVELS: tuple[str, ...] = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")

# Their words are about hosts, files and settings.
HARMLESS = (OSError, ImproperlyConfigured)

# Django adds the request and its status to a record; the request would be written with its query.
UNTOLD = ("request", "status_code", "server_time", "sql", "params", "color_message")
NAMES = {"levelname": "level", "name": "logger", "exc_info": "exception", "request_id": "request"}

MAILED_LINK = re.compile(r"(/password/set/[^/\s]+/)[^/\s]+")

Failure = Any  # what `logging` hands to a formatter of exceptions


def configuration(shape: str, level: str) -> dict[str, Any]:
    """The configuration for `logging.config.dictConfig`: everything goes to standard error, one line a record.

    Arguments:
        shape: one of `FORMATS`.
        level: one of `LEVELS`.
    """
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {
            "request": {"()": WithRequest},
            "links": {"()": WithoutLinks},
            "refusals": {"()": WithoutTraceOfRefusals},
        },
        "formatters": {"line": {"()": {"PLAIN": Plain, "JSON": Json}[shape]}},
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "line",
                "filters": ["request", "links", "refusals"],
            }
        },
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Django gives its own logger handlers of their own; here all goes one way. At DEBUG it writes all SQL.
            "django": {"handlers": [], "level": "INFO", "propagate": True},
            # These write every address that is asked at INFO, and some systems take the key in the address.
            "httpx": {"level": "WARNING"},
            "httpcore": {"level": "WARNING"},
            # Its own handler would write lines of its own make.
            "gunicorn.error": {"handlers": [], "propagate": True},
            "axes": {"level": "WARNING"},  # INFO is several lines for each login
        },
    }


class WithRequest(logging.Filter):
    """Adds the id of the request that is being answered, if one is."""

    def filter(self, record: logging.LogRecord) -> bool:
        if request := current_request.get():
            record.request_id = request
        return True


class WithoutLinks(logging.Filter):
    """Takes out the token of a mailed link, which opens an account: Django names the path of whatever it refuses."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(_without_token(each) for each in record.args)
        return True


class WithoutTraceOfRefusals(logging.Filter):
    """Leaves out where a request was refused, which is no failure: Django adds that to each 403."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name == "django.request" and getattr(record, "status_code", 500) < 500:
            record.exc_info = record.exc_text = None
        return True


def _without_token(word: object) -> object:
    return MAILED_LINK.sub(r"\1…", word) if isinstance(word, str) else word


class Plain(logging.Formatter):
    """A line as people read it."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  logging's name
        request = getattr(record, "request_id", "")
        return super().formatMessage(record) + (f" [request {request}]" if request else "")

    def formatException(self, ei: Failure) -> str:  # noqa: N802  logging's name
        return discreet(ei[1])


class Json(JsonFormatter):
    """One JSON object a line: time (ISO 8601, UTC), level, logger, message, and request, job, exception if any."""

    def __init__(self) -> None:
        reserved = [*RESERVED_ATTRS, *UNTOLD]
        super().__init__(["time", "levelname", "name", "message"], rename_fields=NAMES, reserved_attrs=reserved)

    def format(self, record: logging.LogRecord) -> str:
        record.time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        return super().format(record)

    def formatException(self, ei: Failure) -> str:  # noqa: N802  logging's name
        return discreet(ei[1])


def discreet(error: BaseException) -> str:
    """A traceback that quotes no value: of the error, and before it of those that led to it."""
    return "\n\n".join(_one(each) for each in reversed(list(_led_by(error))))


def _one(error: BaseException) -> str:
    where = "".join(traceback.format_tb(error.__traceback__))
    name = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    words = _words(error)
    return f"Traceback (most recent call last):\n{where}{name}{': ' if words else ''}{words}"


def _words(error: BaseException) -> str:
    if isinstance(error, psycopg.Error):
        return error.diag.message_primary or _first_line(error) if _is_of_the_server(error) else ""
    return _first_line(error) if isinstance(error, HARMLESS) else ""


def _is_of_the_server(error: psycopg.Error) -> bool:
    """Whether its first line names tables and columns, but no value; errors of data (class 22) may quote one."""
    return not (error.sqlstate or "").startswith("22")


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]


def _led_by(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
