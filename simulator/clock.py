"""The wall clock, and a sleep that a shutdown ends at once."""

import threading
import time

HOUR_S = 3600.0


class Clock:
    def __init__(self) -> None:
        self._stopped = threading.Event()

    def now(self) -> float:
        return time.time()

    def sleep(self, seconds: float | None) -> None:
        """`None` sleeps until the simulator stops."""
        if seconds is None or seconds > 0:
            self._stopped.wait(seconds)

    def stop(self) -> None:
        self._stopped.set()
