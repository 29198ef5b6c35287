"""Real processes for tests: the simulator and workers, on the test's own database."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.db import connection

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 60.0  # seconds; only a failure waits for so long


def until(true: Callable[[], Any], *, within: float = PATIENCE) -> Any:
    """Wait for something that another process does, and return it; polls, since nothing tells us."""
    deadline = time.monotonic() + within
    while not (value := true()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)
    return value


class Simulator:
    """A running simulator, seen through its control endpoint."""

    def __init__(self, url: str) -> None:
        self.url = url

    def counts(self) -> Any:
        return self._call("counts")

    def script(self, *steps: dict[str, Any]) -> None:
        self._call("script", list(steps))

    def clear_script(self) -> None:
        self._call("script", method="DELETE")

    def _call(self, name: str, body: Any = None, method: str | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/__control__/{name}", data, method=method)
        with urllib.request.urlopen(request) as response:
            return json.load(response)


@contextmanager
def simulator(*arguments: str) -> Iterator[Simulator]:
    command = [sys.executable, "-m", "simulator", "--port", "0", *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        address = process.stdout.readline().split()[-1]
        try:
            yield Simulator(address.rstrip("/"))
        finally:
            process.terminate()


def environment(**variables: str) -> dict[str, str]:
    """The environment of a process that works on this test's database and knows no real key."""
    settings = connection.settings_dict
    folder = quote(connection.get_connection_params()["host"])
    kept = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_BASE_URL"))}
    return kept | {
        "AICONTROL_ENV": os.devnull,
        "DEBUG": "on",
        "DATABASE_URL": f"postgres://{settings['USER'] or 'aicontrol'}@/{folder}/{settings['NAME']}",
        "PYTHONWARNINGS": "error",
        **variables,
    }


MANAGE = (sys.executable, "manage.py")


@contextmanager
def worker(
    *arguments: str, log: Path, program: Sequence[str] = MANAGE, **variables: str
) -> Iterator[subprocess.Popen[bytes]]:
    """A running `runworkers`, whose output goes to a file; killed when the test is over.

    Arguments:
        program: what runs `manage.py`.
    """
    command = [*program, "runworkers", "--poll", "0.1", *arguments]
    with (
        log.open("ab") as output,
        subprocess.Popen(command, cwd=ROOT, env=environment(**variables), stdout=output, stderr=output) as process,
    ):
        try:
            yield process
        finally:
            process.kill()
