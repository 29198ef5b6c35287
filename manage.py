#!/usr/bin/env python3
"""Django's command line."""

import os
import sys

CANNOT_RUN = 2


def main() -> None:
    """Run a command; bad settings and a database that can't be reached are one line, not a stack trace.

    A command whose reader goes ends there, quietly.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "aicontrol.settings")
    os.environ["AICONTROL_PROCESS"] = " ".join(["aicontrol", *sys.argv[1:2]])
    try:
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line
        from django.db.utils import OperationalError
    except ImportError:
        sys.exit("Django is not installed in this Python. Run bin/demo once, then .venv/bin/python manage.py.")
    try:
        execute_from_command_line(sys.argv)
    except BrokenPipeError:
        pass  # whoever read it has gone, as after `| head`, and has seen enough
    except (ImproperlyConfigured, OperationalError) as error:
        if "--traceback" in sys.argv or not (isinstance(error, ImproperlyConfigured) or is_unreachable(error)):
            raise
        print(f"manage.py: {' '.join(str(error).split())}", file=sys.stderr)  # noqa: T201  a program's error output
        sys.exit(CANNOT_RUN)
    finally:
        flush()


def flush() -> None:
    """Write what is still to be written; where nobody reads it, Python would try once more at its end, and complain."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def is_unreachable(error: Exception) -> bool:
    """Return whether the database could not be reached, or went away, rather than answered with an error.

    Errors that a server reports have an SQLSTATE; its class 57 is "operator intervention", such as a shutdown.
    """
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or state.startswith("57")


if __name__ == "__main__":
    main()
