"""A process that does to one queue what a benchmark asks of it; both sides of the pipe between the two.

Each queue is asked in its own environment by code of its own, and the benchmark knows none of it. Needs nothing but
Python, as it runs in the peers' environment too.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self


def serve(commands: object) -> None:
    """Do what is asked, a line each, until there is no more; whatever the queue prints goes to standard error."""
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        name, arguments = json.loads(line)
        print(json.dumps(getattr(commands, name)(**arguments)), file=answers, flush=True)


class Hand:
    """The benchmark's side.

    Arguments:
        command: what to run.
        environment: all of its variables.
        folder: where to run it.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], folder: str) -> None:
        self._process = subprocess.Popen(
            command, env=environment, cwd=folder, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def __call__(self, name: str, **arguments: Any) -> Any:
        """Have something done, and return what came of it.

        Raises:
            RuntimeError: it could not be done; why stands on standard error.
        """
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps([name, arguments]) + "\n")
        self._process.stdin.flush()
        if not (line := self._process.stdout.readline()):
            raise RuntimeError(f"{name} failed")
        return json.loads(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()
