"""The AI systems: a simulator whose calls and counts outlive it, so that it can be killed as well."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.killtest.tethered import tethered
from tests.process.running import ROOT, Simulator

SPEED = "20"


class Systems:
    """A running simulator.

    Arguments:
        folder: where its script, its journal and what it says are kept.
    """

    def __init__(self, folder: Path, script: Sequence[dict[str, Any]]) -> None:
        self._script = folder / "script.json"
        self._state = folder / "simulator.state"
        self._log = folder / "simulator.log"
        self._script.write_text(json.dumps(list(script)))
        self._state.unlink(missing_ok=True)
        self._process, self.url = self._start(port="0")

    def kill(self) -> None:
        """Kill it and start it again, at the same address and with the same calls."""
        self._process.kill()
        self._process.wait()
        self._process, self.url = self._start(port=self.url.rpartition(":")[2])

    def counts(self) -> Any:
        return Simulator(self.url).counts()

    def _start(self, port: str) -> tuple[subprocess.Popen[str], str]:
        command = tethered("-m", "simulator", "--port", port, "--speed", SPEED)
        command = [*command, "--state", str(self._state), "--script", str(self._script)]
        with self._log.open("a") as log:
            process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=log, text=True)
        assert process.stdout
        said = process.stdout.readline()
        assert said, f"the simulator did not start; see {self._log}"
        return process, said.split()[-1].rstrip("/")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait()
