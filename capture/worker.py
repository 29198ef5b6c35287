"""The loop and its seats.

One thread, the loop, talks to the database: it claims, starts, records and beats. The seats are threads that know HTTP
only. Between them is one mailbox, in which everything arrives that the loop may have to wait for: results, stop
signals, and, as the time-out of waiting, the next due time. Nothing else waits anywhere.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from random import Random
from types import FrameType
from typing import Any
from uuid import UUID, uuid4

from django.db import InterfaceError, OperationalError, connection
from django.dispatch import Signal

from capture import calls, heartbeat, ledger, queue, retry
from capture.calls import Resolved, Result, Ticket
from capture.models import CaptureJob
from capture.providers.base import Provider
from capture.providers.replies import Answered

log = logging.getLogger(__name__)

# Sent once by a worker that is about to serve; `AppConfig.ready` connects to it what has to happen then.
about_to_serve = Signal()

LAST_MOMENT = 2.0  # seconds for the hand-back after a second signal
MOST_RESOLVING = 200  # redirects waiting to be looked up; more are left as they are
DATABASE_PAUSE = 2.0  # seconds between tries while the database is away, before jitter


def close_connection() -> None:
    """Let go of a connection that has failed; the next query opens another."""
    connection.close()


class Stop:
    """In the mailbox: somebody wants this worker to end."""


Message = Result | Resolved | Stop


@dataclass(frozen=True, slots=True)
class Pace:
    """How a worker spends its time.

    Arguments:
        seats: calls at once.
        poll: seconds between looks into the queue when nothing else happens.
        grace: seconds that a stopping worker gives the exchanges in flight.
        drain: end once no job is open.
    """

    seats: int
    poll: float
    grace: float
    drain: bool = False


class Worker:
    """One `runworkers` process."""

    def __init__(
        self,
        providers: Mapping[str, Provider],
        pace: Pace,
        limits: retry.Limits,
        *,
        exchange: Callable[[Provider, Ticket], Result] = calls.exchange,
        random: Random | None = None,
    ) -> None:
        self.id = uuid4()
        self.mailbox: SimpleQueue[Message] = SimpleQueue()
        self._providers = providers
        self._pace = pace
        self._limits = limits
        self._exchange = exchange
        self._random = random or Random()  # noqa: S311  jitter, not secrets
        self._pool = ThreadPoolExecutor(pace.seats, thread_name_prefix="seat")
        self._claimed: list[Ticket] = []
        self._seated: dict[UUID, Ticket] = {}
        self._results: list[Result] = []
        # Sources are followed up one at a time, beside the seats: no answer waits for it.
        self._resolver = ThreadPoolExecutor(1, thread_name_prefix="resolver")
        self._resolving = 0
        self._resolved: list[Resolved] = []
        self._stops = 0
        self._signals = 0
        self._stop_at: float | None = None
        self._next_beat = 0.0
        self._registered = False
        self._until_due: float | None = None
        self._pause: float | None = None
        self._drained = False

    # ------------------------------------------------------------------------------------------------- the loop

    def run(self) -> bool:
        """Serve until told to stop, or until drained.

        Returns:
            Whether the end was tidy: nothing is left in this worker's hands.
        """
        log.info("worker %s: %s seats for %s", self.id, self._pace.seats, ", ".join(self._providers) or "nothing")
        while not self._finished():
            with self._surviving_the_database():
                self._turn()
            if not self._finished():
                self.wait()
        return self._end()

    def _turn(self) -> None:
        """All that there is to do now."""
        self.register()
        self.record()
        self.settle_sources()
        self.beat()
        if self.stopping:
            self.hand_back()
            return
        queue.promote_due()
        self.fill_seats()
        self._until_due = queue.seconds_until_due(self._lanes()) if self._free() else None
        self._drained = self._pace.drain and not self._in_hand() and not self._anything_open()

    def _anything_open(self) -> bool:
        return CaptureJob.objects.open().filter(provider__in=list(self._providers)).exists()

    def _finished(self) -> bool:
        if self._stop_at is not None and time.monotonic() >= self._stop_at:
            return True
        return (self.stopping and not self._in_hand()) or self._drained

    def wait(self) -> None:
        """Wait for the next thing to happen, and sort what has arrived."""
        message = self._next_message(self._patience())
        while message is not None:
            match message:
                case Stop():
                    self._begin_to_stop()
                case Resolved():
                    self._resolved.append(message)
                case Result():
                    self._results.append(message)
            message = self._next_message(0)

    def _next_message(self, patience: float) -> Message | None:
        try:
            return self.mailbox.get(timeout=patience) if patience > 0 else self.mailbox.get_nowait()
        except Empty:
            return None

    def _patience(self) -> float:
        """Seconds to wait when nothing arrives: until a look into the queue, a due time, a beat, or the end."""
        now = time.monotonic()
        if self._pause is not None:
            times = [self._pause]
        else:
            times = [self._pace.poll * self._random.uniform(0.75, 1.25), self._next_beat - now]
            if self._until_due is not None:
                times.append(self._until_due)
        if self._stop_at is not None:
            times.append(self._stop_at - now)
        return max(0.001, min(times))

    @contextmanager
    def _surviving_the_database(self) -> Iterator[None]:
        """The loop never dies of the database: what it holds stays in hand, and the next turn tries again."""
        self._pause = None
        try:
            yield
        except (OperationalError, InterfaceError) as error:
            log.warning("worker %s: the database cannot be used now (%s)", self.id, str(error).strip().split("\n")[0])
            close_connection()
            self._pause = DATABASE_PAUSE * self._random.uniform(0.5, 1.0)

    # ---------------------------------------------------------------------------------------------------- steps

    def register(self) -> None:
        if not self._registered:
            heartbeat.register(self.id, list(self._providers), self._pace.seats)
            self._registered = True

    def beat(self) -> bool:
        """Say that this worker lives, and hand back claims that it does not know of; every few seconds."""
        if time.monotonic() < self._next_beat:
            return False
        heartbeat.beat(self.id)
        queue.release_strays(self.id, {ticket.token for ticket in (*self._claimed, *self._seated.values())})
        self._next_beat = time.monotonic() + heartbeat.INTERVAL
        return True

    def fill_seats(self) -> bool:
        """Claim for the free seats and seat what was claimed; says whether anything was seated."""
        before = len(self._seated)
        self._seat_claimed()
        for lane, share in self._shares():
            self._claimed += queue.claim(lane, self.id, self._slugs(lane), share)
        self._seat_claimed()
        return len(self._seated) > before

    def _shares(self) -> Iterator[tuple[str, int]]:
        """Deal the free seats to the lanes: first to each alike, then what is left to those that could take more."""
        lanes = self._lanes()
        hungry = []
        for place, lane in enumerate(lanes):
            share = self._free() // (len(lanes) - place) or min(1, self._free())
            if share:
                before = self._free()
                yield lane, share
                if before - self._free() == share:
                    hungry.append(lane)
        for lane in hungry:
            if self._free():
                yield lane, self._free()

    def _lanes(self) -> list[str]:
        """The lanes in the order in which they may take seats: the one with the fewest calls in hand first."""
        lanes = dict.fromkeys(provider.lane for provider in self._providers.values())
        taken = [ticket.lane for ticket in self._seated.values()]
        return sorted(lanes, key=taken.count)

    def _slugs(self, lane: str) -> list[str]:
        return [slug for slug, provider in self._providers.items() if provider.lane == lane]

    def _free(self) -> int:
        return self._pace.seats - self._in_hand()

    def _in_hand(self) -> int:
        return len(self._claimed) + len(self._seated)

    def busy(self) -> int:
        """Seats that are taken, by an exchange or by a result that is not yet recorded."""
        return len(self._seated)

    def arrived(self) -> int:
        """Results that are to be recorded."""
        return len(self._results)

    def _seat_claimed(self) -> None:
        while self._claimed:
            ticket = self._claimed[0]
            provider = self._providers[ticket.provider]
            # A poll sends nothing new; a start is sent only after its intent is committed.
            if ticket.remote_id is not None or queue.start(ticket, self.id, provider.account):
                self._seat(provider, ticket)
            self._claimed.pop(0)

    def _seat(self, provider: Provider, ticket: Ticket) -> None:
        self._seated[ticket.attempt] = ticket
        self._pool.submit(self._exchange, provider, ticket).add_done_callback(self._post)

    def _post(self, done: Future[Any]) -> None:
        if not done.cancelled():
            self.mailbox.put(done.result())

    def record(self) -> bool:
        """Write down what has come back; says whether there was anything."""
        recorded = bool(self._results)
        while self._results:
            result = self._results[0]
            self._record(result)
            self._results.pop(0)
            del self._seated[result.ticket.attempt]
        return recorded

    def _record(self, result: Result) -> None:
        try:
            self._apply(result.ticket, self._decide(result))
        except (OperationalError, InterfaceError):
            raise  # the database is away: this result stays in hand
        except Exception as exception:
            log.exception("job %s: its result cannot be recorded", result.ticket.job)
            queue.fail(result.ticket, calls.own_error(exception))

    def _decide(self, result: Result) -> retry.Decision:
        ticket = result.ticket
        situation = retry.Situation(
            attempts=ticket.attempts,
            unknowns=ticket.unknowns,
            polls=ticket.polls,
            remote_id=ticket.remote_id,
            age=ticket.age + result.seconds,
        )
        return retry.decide(result.came, situation, self._limits, self._random)

    def _apply(self, ticket: Ticket, decision: retry.Decision) -> None:
        match decision:
            case retry.Wait(remote_id, after, reason):
                queue.wait(ticket, remote_id, after, reason)
            case retry.Complete(reply):
                if queue.complete(ticket, reply) and isinstance(reply, Answered):
                    self._follow_up(ticket, reply)
            case retry.AskAgain(error, after):
                queue.ask_again(ticket, error, after)
            case retry.GiveUp(error, live):
                queue.fail(ticket, error, live=live)

    def _follow_up(self, ticket: Ticket, answer: Answered) -> None:
        """Have the redirects among an answer's sources looked up, unless many wait already."""
        for source in answer.sources:
            if source.redirect and self._resolving < MOST_RESOLVING:
                self._resolving += 1
                provider = self._providers[ticket.provider]
                self._resolver.submit(calls.resolve, provider, ticket.attempt, source.raw_url).add_done_callback(
                    self._post
                )

    def settle_sources(self) -> None:
        """Write down where redirects lead."""
        while self._resolved:
            found = self._resolved[0]
            if found.url:
                ledger.move_source(found.attempt, found.redirect, found.url)
            self._resolved.pop(0)
            self._resolving -= 1

    # ------------------------------------------------------------------------------------------------- stopping

    @property
    def stopping(self) -> bool:
        return self._stops > 0

    def stop_on_signals(self) -> None:
        """Let SIGTERM and SIGINT stop this worker. To be called in the main thread, before `run`."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        # A handler may interrupt anything, so it only leaves a message; `put` of a SimpleQueue is made for that.
        self._signals += 1
        self.mailbox.put(Stop())
        if self._signals > 1:
            # The loop may be held up by the database; "at once" is then without a hand-back.
            overdue = threading.Timer(LAST_MOMENT, os._exit, [1])
            overdue.daemon = True
            overdue.start()

    def _begin_to_stop(self) -> None:
        self._stops += 1
        if self._stops == 1:
            log.info("worker %s: stopping; %s exchanges in flight", self.id, len(self._seated))
            self._stop_at = time.monotonic() + self._pace.grace
        else:
            self._stop_at = time.monotonic()

    def hand_back(self) -> None:
        """Give back what was claimed and not sent."""
        while self._claimed:
            queue.release(self._claimed[0])
            self._claimed.pop(0)

    def _end(self) -> bool:
        with self._surviving_the_database():
            self.record()
            self.hand_back()
        left = len(self._seated)
        with self._surviving_the_database():
            heartbeat.close(self.id)
        self._resolver.shutdown(wait=False, cancel_futures=True)
        self._pool.shutdown(wait=not left, cancel_futures=True)
        log.info("worker %s: ended%s", self.id, f" with {left} exchanges in flight" if left else "")
        return not self._in_hand()
