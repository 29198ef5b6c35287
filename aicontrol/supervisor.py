"""Keeps a few programs running, and stops them in order.

For bin/demo, on one machine and at one terminal. A server has an init system for this.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import FrameType

from aicontrol import tether

LONGEST_DELAY = 30.0  # seconds before a program that keeps ending is started again
SETTLED = 30.0  # seconds after which a program counts as running well
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Service:
    """A program to keep running.

    Arguments:
        name: as messages call it.
        arguments: of Python.
        grace: seconds that it may take to end once it is told to.
        descriptors: open files to hand on, under the same numbers.
    """

    name: str
    arguments: Sequence[str]
    grace: float
    descriptors: tuple[int, ...] = ()


class Signals:
    """Signals as something to wait for: handlers only note them, and waiting ends at once when one comes."""

    def __init__(self) -> None:
        self.stops = 0  # how often the process was told to stop
        self._reader, self._writer = socket.socketpair()
        for end in (self._reader, self._writer):
            end.setblocking(False)
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # so that the end of a child wakes us, too
        for number in STOPS:
            # Whoever runs this under nohup does not want it to end with the terminal.
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._note)

    def wait(self, seconds: float) -> None:
        """Wait until a signal comes, but no longer than this."""
        select.select([self._reader], [], [], seconds)
        with suppress(BlockingIOError):
            self._reader.recv(4096)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.stops += 1


class _Running:
    """One service and its process, over as many starts as it takes."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._delay = 0.5
        self._restart: float | None = None  # when to start it again, once it has ended
        self.start()

    def start(self) -> None:
        command = [sys.executable, *self.service.arguments]
        self._started = time.monotonic()
        self._restart = None
        self._process = subprocess.Popen(  # noqa: S603  our own programs
            [sys.executable, "-I", tether.__file__, str(os.getpid()), *command],
            stdin=subprocess.DEVNULL,
            pass_fds=self.service.descriptors,
            start_new_session=True,  # Ctrl-C at the terminal is for the supervisor alone
        )

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def revive(self) -> None:
        """Start it again if it has ended, after a delay that grows while it keeps ending."""
        now = time.monotonic()
        if self.alive:
            return
        if self._restart is None:
            settled = now - self._started > SETTLED
            self._delay = 1.0 if settled else min(2 * self._delay, LONGEST_DELAY)
            self._restart = now + self._delay
            say(f"The {self.service.name} ended ({self._how()}); it is started again in {self._delay:.0f} s.")
        elif now >= self._restart:
            self.start()

    def _how(self) -> str:
        code = self._process.returncode
        return f"exit code {code}" if code >= 0 else signal.Signals(-code).name

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the process; SIGKILL goes to all that it has started as well."""
        with suppress(ProcessLookupError):
            if number == signal.SIGKILL:
                os.killpg(self._process.pid, number)
            elif self.alive:
                self._process.send_signal(number)


class Supervisor:
    """Runs services until a signal says stop."""

    def __init__(self, signals: Signals) -> None:
        self._signals = signals
        self._running: list[_Running] = []

    def start(self, service: Service) -> None:
        """Start one more service. They are stopped in the opposite order."""
        self._running.append(_Running(service))

    def run(self, until: Callable[[], bool] = lambda: False, seconds: float = float("inf")) -> None:
        """Keep all services running until told to stop, until something is so, or for a time."""
        end = time.monotonic() + seconds
        while not (self._signals.stops or until() or time.monotonic() > end):
            for running in self._running:
                running.revive()
            self._signals.wait(0.2)

    def stop(self) -> None:
        """End all services, the last one started first; a further signal ends those that are left at once."""
        told = self._signals.stops
        for running in reversed(self._running):
            running.send(signal.SIGTERM)
            deadline = time.monotonic() + running.service.grace
            while running.alive and self._signals.stops == told and time.monotonic() < deadline:
                self._signals.wait(0.2)
            running.send(signal.SIGKILL)
        for running in self._running:
            while running.alive:
                self._signals.wait(0.05)


def say(line: str) -> None:
    """Tell the person at the terminal."""
    print(line, file=sys.stderr, flush=True)  # noqa: T201  this is its output
