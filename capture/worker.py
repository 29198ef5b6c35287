"""The loop of a worker.

One thread, the loop, talks to the database: it claims, starts, records, beats and recovers. The seats are threads that
know HTTP only. Between them is one mailbox, in which everything arrives that the loop may have to wait for: results,
stop signals, wake-ups by the listener, and, as the time-out of waiting, the next due time. Nothing else waits anywhere.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from types import FrameType
from typing import Any
from uuid import uuid4

from django.db import DataError, IntegrityError
from django.db import Error as DatabaseTrouble
from django.dispatch import Signal

from capture import calls, cooling, database, heartbeat, ledger, queue, readings, recovery, retry, schema
from capture.calls import Resolved, Result, Ticket
from capture.formatting.counts import counted
from capture.lanes import LaneBusyError
from capture.models import CaptureJob
from capture.providers.base import Provider
from capture.providers.replies import Answered, FinalReply, ProviderError
from capture.queue.outlook import Outlook
from capture.seats import Seats
from capture.systemd import ServiceManager

log = logging.getLogger(__name__)

# Sent once by a worker that is about to serve; `AppConfig.ready` connects to it what has to happen then.
about_to_serve = Signal()
# Sent at its beats while it serves, for what any worker may do for all; that has to be short, as the loop waits for it.
upkeep = Signal()

LAST_MOMENT = 2.0  # seconds for the hand-back after a second signal
MOST_RESOLVING = 200  # redirects waiting to be looked up; more are left as they are
READING = 2.0  # most seconds at each beat for reading stored answers again, while nothing else is to be done
DATABASE_PATIENCE = 15.0  # seconds for all that one turn has to say to the database
# Another claimer is at a lane; it is there for milliseconds, unless it is frozen.
CROWDED_PAUSE = 0.005  # seconds, doubled each time
LONGEST_CROWDED_PAUSE = 0.1  # seconds
# While there is more to do than there are seats, one look is as good as the next. What is new wakes the worker, and a
# seat that stays free has it look again at once.
LOOK_HOLDS = 0.1  # seconds
DATABASE_PAUSE = 2.0  # seconds between tries while the database is away, before jitter


class Stop:
    """In the mailbox: somebody wants this worker to end."""


class Wake:
    """In the mailbox: something may be claimable."""


def _is_outage(exception: Exception) -> bool:
    """Whether the database is away; what it only does not take is an error of our own."""
    return isinstance(exception, DatabaseTrouble) and not isinstance(exception, DataError | IntegrityError)


@dataclass(frozen=True, slots=True)
class Pace:
    """How a worker spends its time.

    Arguments:
        seats: calls at once.
        poll: most seconds between looks into the queue when nothing else happens.
        grace: seconds that a stopping worker gives the exchanges in flight.
        exchange: seconds of one HTTP exchange, unless its system takes longer.
        drain: end once no job is open.
    """

    seats: int
    poll: float
    grace: float
    exchange: float
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
        manager: ServiceManager | None = None,
    ) -> None:
        self.id = uuid4()
        self.limits = limits
        self.seats = Seats(pace.seats, exchange)
        self._providers = providers
        self._pace = pace
        self._random = random or Random()  # noqa: S311  jitter, not secrets
        self._results: list[Result] = []
        self._resolving = 0
        self._resolved: list[Resolved] = []
        self._stops = 0
        self._signals = 0
        self._stop_at: float | None = None
        self._next_beat = 0.0
        self._registered = False
        self._outlook = Outlook()
        self._holds_until = 0.0
        self._until_due: float | None = None
        self._pause: float | None = None
        self._crowded = 0.0
        self._untold: list[tuple[Result, bool]] = []
        self._drained = False
        self._broken = False
        self._watchdog = database.Watchdog()
        self._manager = manager or ServiceManager({})
        self._recorded = 0

    # ------------------------------------------------------------------------------------------------- the loop

    def run(self) -> bool:
        """Serve until told to stop, or until drained.

        Returns:
            Whether the end was tidy: nothing is left in this worker's hands, and none of its seats hangs.
        """
        seats = counted(self._pace.seats, "seat")
        log.info("worker %s: %s for %s", self.id, seats, ", ".join(self._providers) or "nothing")
        try:
            while not self._finished():
                with self._surviving_the_database():
                    self._turn()
                self._manager.turned(self._status())
                if not self._finished():
                    self.wait()
        except schema.NotMigratedError as error:
            log.error("worker %s: %s", self.id, error)  # noqa: TRY400  no error of ours, so no traceback
            self._broken = True
        except Exception:
            # A bug; whoever runs this starts it again. What is in hand is still written and handed back.
            log.exception("worker %s: an error of our own ends it", self.id)
            self._broken = True
        return self._end()

    def _turn(self) -> None:
        """All that there is to do now."""
        self.register()
        self.watch_seats()
        self.beat()  # before anything is recorded: a result that cannot be written must not keep the worker from it
        self.tell_lanes()
        if self._outlook.ready and not self.stopping:
            self.fill_seats()  # first, if there was more to do: the seats read while the server writes
        self.record()
        self.settle_sources()
        if self.stopping:
            return
        self.fill_seats()
        self._drained = self._pace.drain and not self.in_hand() and not self._anything_open()

    def _status(self) -> str:
        """How it goes, in one line."""
        waiting = "" if self._pause is None else "the database cannot be used now; "
        stopping = "stopping; " if self.stopping else ""
        seats = f"{self.seats.under_way} of {self.seats.count} seats busy, {self.seats.stuck} stuck"
        return f"{stopping}{waiting}{seats}; {counted(self._recorded, 'result')} recorded"

    def _anything_open(self) -> bool:
        return CaptureJob.objects.open().filter(provider__in=list(self._providers)).exists()

    def _finished(self) -> bool:
        if self._stop_at is not None and time.monotonic() >= self._stop_at:
            return True
        return (self.stopping and not self.in_hand()) or self._drained

    def wait(self) -> None:
        """Wait for the next thing to happen, and sort what has arrived."""
        self._sort(self.seats.messages(self._patience()))

    def _sort(self, messages: Iterable[Any]) -> None:
        for message in messages:
            match message:
                case Stop():
                    self._begin_to_stop()
                case Wake():
                    self._holds_until = 0.0  # there is something new to see; beyond that, it ends the waiting
                case Resolved():
                    self._resolved.append(message)
                case Result():
                    self.seats.is_back(message.ticket)
                    self._results.append(message)

    def wake(self) -> None:
        """Have the loop look into the queue now. May be called by any thread, and costs next to nothing."""
        self.seats.mailbox.put(Wake())

    def _patience(self) -> float:
        """Seconds to wait when nothing arrives: until a look into the queue, a due time, a beat, or the end."""
        now = time.monotonic()
        poll = self._pace.poll * self._random.uniform(0.75, 1.0)
        times = [poll, self._next_beat - now, self._until_due, self._crowded or None]
        times = times if self._pause is None else [self._pause]
        times += [self.seats.next_deadline(), self._stop_at - now if self._stop_at is not None else None]
        times.append(self._manager.until_due())
        return max(0.001, min(seconds for seconds in times if seconds is not None))

    @contextmanager
    def _surviving_the_database(self) -> Iterator[None]:
        """The loop never dies of the database: what it holds stays in hand, and the next turn tries again."""
        self._pause = None
        try:
            with self._watchdog.bounded(DATABASE_PATIENCE):
                yield
        except DatabaseTrouble as error:
            log.warning("worker %s: the database cannot be used now (%s)", self.id, str(error).strip().split("\n")[0])
            database.close()
            self._pause = DATABASE_PAUSE * self._random.uniform(0.5, 1.0)

    # ------------------------------------------------------------------------------------------- being a worker

    def register(self) -> None:
        """Write this worker's row, once; then recovery has its first turn.

        Raises:
            NotMigratedError: the database is not what this release works with.
        """
        if not self._registered:
            schema.require()
            heartbeat.register(self.id, list(self._providers), self._pace.seats)
            self._registered = True
            about_to_serve.send(sender=Worker, worker=self)

    def beat(self) -> bool:
        """Say that this worker lives, and look after what others and a lost COMMIT have left; every few seconds."""
        if time.monotonic() < self._next_beat:
            return False
        pulse = heartbeat.beat(self.id, self.seats.stuck)
        if pulse.lost:
            self._begin_anew()
            return False
        self._release_strays()
        recovery.recover(self.limits, but=self.id, steady=pulse.steady)
        if not self.stopping:
            upkeep.send(sender=Worker)
        self.read_on()
        soon = recovery.is_anything_left()
        self._next_beat = time.monotonic() + (heartbeat.SOON if soon else heartbeat.INTERVAL)
        return True

    def _release_strays(self) -> None:
        """Hand back what is in this worker's name and not in its hands."""
        unrecorded = [result.ticket for result in self._results]  # some may have lost their seat, as they hung
        queue.release_strays(self.id, {ticket.token for ticket in (*self.seats.taken, *unrecorded)})

    def read_on(self) -> None:
        """Read some stored answers again, where names have changed. No error of ours there keeps this worker from
        what is paid for."""
        if self.stopping:
            return
        try:
            readings.read_on(READING, lambda: not self.seats.mailbox.empty())
        except Exception as exception:
            if _is_outage(exception):
                raise
            log.exception("worker %s: stored answers cannot be read again", self.id)

    def _begin_anew(self) -> None:
        """Others have given this worker up. It goes on under a new id; what it has in flight ends as late results."""
        log.warning("worker %s was given up by others; it registers anew", self.id)
        self.id = uuid4()
        self._registered = False
        self.register()

    # ------------------------------------------------------------------------------------------------- claiming

    def fill_seats(self) -> bool:
        """Claim for the free seats and seat what was claimed; says whether anything was seated."""
        before = self.in_hand()
        self._until_due = None
        if time.monotonic() < self._holds_until:
            self._claim_from(self._outlook)
        crowded = self._claim_from(self._look()) if self.seats.free else False
        busy = crowded or self._untold
        self._crowded = min(max(2 * self._crowded, CROWDED_PAUSE), LONGEST_CROWDED_PAUSE) if busy else 0.0
        return self.in_hand() > before

    def _claim_from(self, outlook: Outlook) -> bool:
        """Claim from the lanes that have something to do; says whether others were at any of them."""
        ready = [lane for lane in self._lanes() if lane in outlook.ready]
        looked_into = [self._claim(lane, share, polls=lane in outlook.to_poll) for lane, share in self._shares(ready)]
        return not all(looked_into)

    def _look(self) -> Outlook:
        """What there is to do, and, beside it, when there will be more."""
        outlook = queue.look(self._lanes())
        if outlook.overdue:
            queue.promote_due()
            outlook = queue.look(self._lanes())
        self._outlook, self._until_due = outlook, outlook.until_due
        self._holds_until = time.monotonic() + min(LOOK_HOLDS, outlook.until_due or LOOK_HOLDS)
        return outlook

    def _claim(self, lane: str, share: int, *, polls: bool) -> bool:
        """Claim and seat as many as that; says whether the lane could be looked into."""
        crashed = not any(ticket.crashed for ticket in self.seats.taken)
        try:
            claimed = queue.claim(lane, self.id, self._routes(lane), share, crashed=crashed, polls=polls)
        except LaneBusyError:
            return False
        for ticket in claimed:
            provider = self._providers[ticket.provider]
            starts = ticket.remote_id is None
            self.seats.seat(provider, ticket, self._start_patience(provider) if starts else self._pace.exchange)
        return True

    def _routes(self, lane: str) -> dict[str, queue.Route]:
        return {
            slug: queue.Route(provider.account, self._start_patience(provider))
            for slug, provider in self._providers.items()
            if provider.lane == lane
        }

    def _start_patience(self, provider: Provider) -> float:
        return provider.start_patience.total if provider.start_patience else self._pace.exchange

    def _shares(self, lanes: Sequence[str]) -> Iterator[tuple[str, int]]:
        """Deal the free seats to the lanes: first to each alike, then what is left to those that could take more."""
        hungry = []
        for place, lane in enumerate(lanes):
            share = self.seats.free // (len(lanes) - place) or min(1, self.seats.free)
            if share:
                before = self.seats.free
                yield lane, share
                if before - self.seats.free == share:
                    hungry.append(lane)
        for lane in hungry:
            if self.seats.free:
                yield lane, self.seats.free

    def _lanes(self) -> list[str]:
        """The lanes in the order in which they may take seats: the one with the fewest calls in hand first."""
        lanes = dict.fromkeys(provider.lane for provider in self._providers.values())
        taken = [ticket.lane for ticket in self.seats.taken]
        return sorted(lanes, key=taken.count)

    def in_hand(self) -> int:
        """Jobs of which an exchange is under way, or a result is not yet recorded."""
        return len(self.seats.taken)

    def arrived(self) -> int:
        """Results that are to be recorded."""
        return len(self._results)

    # ------------------------------------------------------------------------------------------------ recording

    def watch_seats(self) -> bool:
        """Give up the exchanges that hang. With half of the seats stuck, end, to be started again."""
        given_up = self.seats.give_up_overdue()
        for result in given_up:
            job, provider = result.ticket.job, result.ticket.provider
            log.error("job %s %s: the exchange hangs; its seat is stuck", job, provider, extra={"job": job})
        self._results += given_up
        if 2 * self.seats.stuck >= self.seats.count and not self.stopping:
            log.error("worker %s: %s seats are stuck; it ends", self.id, self.seats.stuck)
            self._begin_to_stop()
        return bool(given_up)

    def record(self) -> bool:
        """Write down what has come back; says whether there was anything."""
        recorded = bool(self._results)
        self._record_replies()
        while self._results:
            self._record(self._results[0])
            self._is_recorded(self._results[0])
        return recorded

    def _is_recorded(self, result: Result) -> None:
        self.seats.leave(result.ticket)
        self._results.remove(result)
        self._recorded += 1

    def _record_replies(self) -> None:
        """Most results are replies that end their job; those are written down together, if that can be done."""
        replies = {
            result.ticket.attempt: (result, queue.Ending(result.ticket, result.came, result.reading))
            for result in self._results
            if isinstance(result.came, FinalReply) and not result.ticket.probe
        }
        try:
            kept = queue.complete_all([ending for _, ending in replies.values()]) if replies else set()
        except Exception as exception:
            if _is_outage(exception):
                raise
            log.exception("%s replies cannot be recorded together; each is by itself", len(replies))
            return
        for attempt, (result, ending) in replies.items():
            if attempt in kept:
                self._follow_up(result.ticket, ending.reply)
            self._is_recorded(result)

    def _record(self, result: Result) -> None:
        try:
            singled_out = self._is_singled_out(result)
            self._tell_lane(result, singled_out)
            self._apply(result, self._decide(result, singled_out))
        except Exception as exception:
            if _is_outage(exception):
                raise  # this result stays in hand
            job = result.ticket.job
            log.exception("job %s: its result cannot be recorded", job, extra={"job": job})
            self._fail_unrecorded(result, exception)

    def _fail_unrecorded(self, result: Result, exception: Exception) -> None:
        """What came was paid for: it counts as a charge, and a call that can be looked at again stays live."""
        ticket, came = result.ticket, result.came
        error = calls.own_error(exception, maybe_charged=True)
        over = isinstance(came, ProviderError) and came.ended
        queue.fail(ticket, error, live=ticket.remote_id is not None and not over)

    def _decide(self, result: Result, singled_out: bool) -> retry.Decision:
        ticket = result.ticket
        situation = retry.Situation(
            attempts=ticket.attempts,
            unknowns=ticket.unknowns,
            polls=ticket.polls,
            remote_id=ticket.remote_id,
            age=ticket.age + result.seconds,
            singled_out=singled_out,
        )
        return retry.decide(result.came, situation, self.limits, self._random)

    def _is_singled_out(self, result: Result) -> bool:
        came = result.came
        return isinstance(came, ProviderError) and came.of_the_account and cooling.singles_out(result.ticket, came)

    def _tell_lane(self, result: Result, singled_out: bool) -> None:
        """A lane that somebody else is at is told the next time: the loop waits for nobody's lock."""
        try:
            cooling.learn(result, singled_out=singled_out)
        except LaneBusyError:
            self._untold.append((result, singled_out))

    def tell_lanes(self) -> bool:
        """Tell the lanes what they could not be told; says whether there was anything."""
        untold, self._untold = self._untold, []
        for result, singled_out in untold:
            self._tell_lane(result, singled_out)
        return bool(untold)

    def _apply(self, result: Result, decision: retry.Decision) -> None:
        ticket = result.ticket
        match decision:
            case retry.Wait(remote_id, after, reason):
                queue.wait(ticket, remote_id, after, reason)
            case retry.Complete(reply):
                if queue.complete_all([queue.Ending(ticket, reply, result.reading)]):
                    self._follow_up(ticket, reply)
            case retry.AskAgain(error, after):
                queue.ask_again(ticket, error, after)
            case retry.PutBack(error):
                queue.put_back(ticket, error)
            case retry.GiveUp(error, live):
                queue.fail(ticket, error, live=live)

    def _follow_up(self, ticket: Ticket, reply: FinalReply) -> None:
        """Have the redirects among an answer's sources looked up, unless many wait already."""
        for source in reply.sources if isinstance(reply, Answered) else ():
            if source.redirect and self._resolving < MOST_RESOLVING:
                self._resolving += 1
                provider = self._providers[ticket.provider]
                self.seats.send_on_errand(calls.resolve, provider, ticket.attempt, source.raw_url)

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
        self.seats.mailbox.put(Stop())
        if self._signals > 1:
            # The loop may be held up by the database; "at once" is then without a hand-back.
            overdue = threading.Timer(LAST_MOMENT, os._exit, [1])
            overdue.daemon = True
            overdue.start()

    def _begin_to_stop(self) -> None:
        self._stops += 1
        self._until_due, self._crowded = None, 0.0  # nothing is claimed any more
        if self._stops == 1:
            log.info("worker %s: stopping; %s exchanges in flight", self.id, self.seats.under_way)
            self._manager.stopping(self._status())
            self._stop_at = time.monotonic() + self._pace.grace
        else:
            self._stop_at = time.monotonic()

    def _end(self) -> bool:
        """Write and hand back what is left, and say what could not be."""
        under_way = self.seats.under_way
        with self._surviving_the_database():
            self.record()
            self._hand_back_polls()
            self._release_strays()
            heartbeat.close(self.id)
        for result in self._results:
            job = result.ticket.job
            log.error("job %s: its result is lost to this worker: the database is away", job, extra={"job": job})
        tidy = not (under_way or self.in_hand() or self.seats.stuck or self._broken)
        self._manager.stopping("ended" if tidy else "ended, but not tidily")
        self.seats.close(wait=tidy)
        self._watchdog.close()
        log.info("worker %s: ended%s", self.id, "" if tidy else f" with {counted(under_way, 'exchange')} in flight")
        return tidy

    def _hand_back_polls(self) -> None:
        """Looking after a call can be broken off at any time: somebody else looks."""
        for ticket in self.seats.taken:
            if ticket.remote_id is not None and queue.release(ticket):
                self.seats.leave(ticket)
