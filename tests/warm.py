"""A Python that has imported what each run of ours imports first, and forks into one run after another.

Most of what a short run costs is imports. None of those here reads settings: each run makes its own of its environment,
in a process of its own, and ends as any other.

A line on standard input is a run, as JSON: what `Start` holds. A line on standard output is its exit code.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import signal
import sys
from typing import TypedDict

PACKAGES = (
    *("csp.constants", "environ", "httpx", "markdown_it", "psycopg", "whitenoise.middleware"),
    *("django.contrib.admin.sites", "django.contrib.staticfiles.finders", "django.core.handlers.wsgi"),
    *("django.core.mail", "django.core.management.commands.check", "django.db.backends.postgresql.base"),
    *("django.db.models", "django.forms", "django.template.backends.django", "django.views.generic"),
)
OURS = ("aicontrol.logs", "capture.analysis.names", "capture.formatting", "capture.providers.registry")
LONGEST = 60  # seconds for a run


class Start(TypedDict):
    arguments: list[str]  # as of python
    variables: dict[str, str]  # the whole environment
    output: str  # the file of each stream
    errors: str


def main() -> None:
    """Fork into each run; a fork leaves the loop, so that its end and its errors are those of a Python."""
    for name in PACKAGES + OURS:
        importlib.import_module(name)
    gc.freeze()
    for line in sys.stdin:
        child = os.fork()
        if not child:
            become(json.loads(line))
            return
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def become(start: Start) -> None:
    """Be the Python of these arguments."""
    signal.alarm(LONGEST)
    os.environ.clear()
    os.environ.update(start["variables"])
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for stream, path in (1, start["output"]), (2, start["errors"]):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    match start["arguments"]:
        case ["-c", script, *rest]:
            sys.argv = ["-c", *rest]
            exec(script, {"__name__": "__main__"})
        case ["-m", module, *rest]:
            sys.argv = [module, *rest]
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case arguments:
            sys.argv = arguments
            runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main()
