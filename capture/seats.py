"""The seats of a worker: threads that carry one HTTP exchange each, and a mailbox for all that comes back.

A seat knows HTTP only. It is watched: an exchange that is past its deadline is given up by the loop, and its seat
counts as stuck until the thread comes back, if it ever does.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any
from uuid import UUID

from capture import calls
from capture.calls import Result, Ticket
from capture.providers.base import Provider
from capture.providers.replies import Kind, ProviderError

# Seconds beyond an exchange's own deadline, which ends all but a thread that hangs (a name lookup, a regex).
OVERDUE = 5.0


# Seconds within which results count as having come at the same time.
TOGETHER = 0.005

# A claim of a job. Its attempt would not do: a call is looked after many times.
Key = tuple[int, UUID]


def _key(ticket: Ticket) -> Key:
    return ticket.job, ticket.token


@dataclass(frozen=True, slots=True)
class Seated:
    """A ticket in a seat, and when its exchange is overdue by the monotonic clock."""

    ticket: Ticket
    until: float


class Seats:
    """So many seats, and one mailbox into which they and everybody else put what the loop has to know."""

    def __init__(self, count: int, exchange: Callable[[Provider, Ticket], Result] = calls.exchange) -> None:
        self.count = count
        self.mailbox: SimpleQueue[Any] = SimpleQueue()
        self._exchange = exchange
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="seat")
        self._start_threads()
        # Sources are followed up one at a time, beside the seats: no answer waits for it.
        self._errands = ThreadPoolExecutor(1, thread_name_prefix="errand")
        self._taken: dict[Key, Seated] = {}
        self._stuck: set[Key] = set()

    def _start_threads(self) -> None:
        """Start all threads now: one that cannot be started is better found before anything is claimed.

        Raises:
            RuntimeError: the system allows no more threads.
        """
        together = threading.Barrier(self.count + 1)
        for _ in range(self.count):
            self._pool.submit(together.wait)
        together.wait()

    @property
    def taken(self) -> list[Ticket]:
        """The tickets whose exchange is under way, or whose result is not yet recorded."""
        return [seated.ticket for seated in self._taken.values()]

    @property
    def stuck(self) -> int:
        return len(self._stuck)

    @property
    def free(self) -> int:
        """Seats that may be taken now.

        Whoever is back needs none, though results that cannot be recorded must not pile up: of those there are at most
        as many as seats when one is taken.
        """
        return min(self.count - self.under_way, 2 * self.count - len(self._taken)) - len(self._stuck)

    @property
    def under_way(self) -> int:
        """Seats with an exchange."""
        return sum(seated.until < math.inf for seated in self._taken.values())

    def seat(self, provider: Provider, ticket: Ticket, patience: float) -> None:
        """Begin a ticket's exchange.

        Arguments:
            patience: seconds after which the exchange is over by itself.
        """
        self._taken[_key(ticket)] = Seated(ticket, time.monotonic() + patience + OVERDUE)
        self._pool.submit(self._exchange, provider, ticket).add_done_callback(self._post)

    def send_on_errand(self, errand: Callable[..., Any], *arguments: Any) -> None:
        """Do something beside the seats; what it returns arrives in the mailbox."""
        self._errands.submit(errand, *arguments).add_done_callback(self._post)

    def _post(self, done: Future[Any]) -> None:
        if not done.cancelled():
            self.mailbox.put(done.result())

    def messages(self, patience: float) -> Iterator[Any]:
        """What has arrived; waits for the first message, at most so many seconds.

        After a result, a moment more is waited for others: what is written down together costs little more than one.
        """
        try:
            message = self.mailbox.get(timeout=patience) if patience > 0 else self.mailbox.get_nowait()
            while True:
                yield message
                together = isinstance(message, Result) and self.under_way
                message = self.mailbox.get(timeout=TOGETHER) if together else self.mailbox.get_nowait()
        except Empty:
            return

    def is_back(self, ticket: Ticket) -> None:
        """A thread has come back; if it was given up, its seat is free.

        If not, it hangs no more, however long it takes until its result can be recorded.
        """
        self._stuck.discard(_key(ticket))
        if _key(ticket) in self._taken:
            self._taken[_key(ticket)] = Seated(ticket, math.inf)

    def leave(self, ticket: Ticket) -> None:
        """A result is recorded."""
        self._taken.pop(_key(ticket), None)

    def give_up_overdue(self) -> list[Result]:
        """The exchanges that hang, each with the error by which it is given up."""
        now = time.monotonic()
        overdue = [seated.ticket for seated in self._taken.values() if now >= seated.until]
        for ticket in overdue:
            self._taken.pop(_key(ticket))
            self._stuck.add(_key(ticket))
        return [Result(ticket, _hung(ticket), OVERDUE) for ticket in overdue]

    def next_deadline(self) -> float | None:
        """Seconds until the first exchange is overdue."""
        first = min((seated.until for seated in self._taken.values()), default=None)
        return None if first is None else first - time.monotonic()

    def close(self, *, wait: bool) -> None:
        self._errands.shutdown(wait=False, cancel_futures=True)
        self._pool.shutdown(wait=wait, cancel_futures=True)


def _hung(ticket: Ticket) -> ProviderError:
    return ProviderError(
        Kind.TRANSIENT,
        "stuck",
        "the exchange hung beyond its deadline",
        maybe_charged=ticket.remote_id is None,
    )
