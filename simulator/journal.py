"""An append-only file of events, one JSON object a line.

Every line is one unbuffered write, so a killed process loses at most the line it was writing. A line
without its newline is that torn one: it is cut off, and the events before it hold.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from simulator.exchange import JSON


class JournalError(ValueError):
    """The file is not one of ours, or was damaged in its middle."""


class Journal:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO = path.open("ab", buffering=0)

    def replay(self) -> Iterator[JSON]:
        self._cut_torn_line()
        with self._path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                yield self._event(line, number)

    def append(self, event: JSON) -> None:
        self._file.write(json.dumps(event, separators=(",", ":")).encode() + b"\n")

    def clear(self) -> None:
        self._file.truncate(0)

    def close(self) -> None:
        self._file.close()

    def _event(self, line: bytes, number: int) -> JSON:
        try:
            event = json.loads(line)
        except ValueError as error:
            raise JournalError(f"{self._path}, line {number}: not JSON ({error})") from error
        if not isinstance(event, dict) or "event" not in event:
            raise JournalError(f"{self._path}, line {number}: not an event of a simulator")
        return event

    def _cut_torn_line(self) -> None:
        content = self._path.read_bytes()
        if content and not content.endswith(b"\n"):
            self._file.truncate(content.rfind(b"\n") + 1)
