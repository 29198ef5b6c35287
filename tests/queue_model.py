"""What the queue should do, in plain Python: no database, no concurrency, no cleverness.

`tests/test_queue_machine.py` drives the queue and this model side by side and compares them after each step. Each
method here has the name of the transition that it stands for, and says what the rules of the design make of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from uuid import UUID

from capture.calls import Ticket
from capture.models import AttemptOutcome, Outcome, Status
from capture.providers.replies import Cost, FinalReply, ProviderError
from capture.queue.forsaken import MOST_CRASHES
from capture.retry import Limits

ESTIMATE = Decimal("0.02")

Place = tuple[int, str, int]

FINAL = {Status.DONE, Status.FAILED, Status.CANCELLED}
HELD = {Status.CLAIMED, Status.RUNNING}
NO_REPLY = {Outcome.FAILED, Outcome.CANCELLED}


@dataclass
class Call:
    """One start call: what is known of it, how it ended, and what it is taken to cost."""

    attempt: UUID
    remote: str | None = None
    live: bool = False
    outcome: AttemptOutcome = AttemptOutcome.OPEN
    charge: Decimal | None = None
    over: bool = False  # its exchange's deadline has passed
    spared: bool = False  # its account was the trouble, so it is no attempt of its job

    @property
    def open(self) -> bool:
        return self.outcome == AttemptOutcome.OPEN

    @property
    def adoptable(self) -> bool:
        """Given up, and known to be live all the same."""
        return self.live and not self.open


@dataclass
class Job:
    pk: int
    place: Place
    lane: str
    status: Status = Status.PENDING
    remote: str | None = None
    token: UUID | None = None
    worker: UUID | None = None
    attempts: int = 0
    crashes: int = 0
    put_off: bool = False
    by_hand: bool = False  # a person gave it up, so that nobody looks after a call of it that is known
    calls: list[Call] = field(default_factory=list)
    afresh: int = 0  # so many of its calls are from before it was requeued

    @property
    def unknowns(self) -> int:
        return sum(call.outcome == AttemptOutcome.UNKNOWN for call in self.calls[self.afresh :])

    @property
    def current(self) -> Call | None:
        return next((call for call in self.calls if call.open), None)

    @property
    def adoptable(self) -> Call | None:
        return next((call for call in self.calls if call.adoptable), None)

    def call(self, attempt: UUID) -> Call | None:
        return next((call for call in self.calls if call.attempt == attempt), None)


class Model:
    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.jobs: dict[int, Job] = {}
        self.captures: dict[Place, tuple[Outcome, UUID | None]] = {}
        self.charges: dict[UUID, Decimal] = {}  # of jobs that are deleted

    # ------------------------------------------------------------------------------------- while it is held

    def holds(self, ticket: Ticket) -> bool:
        return ticket.job in self.jobs and self.jobs[ticket.job].token == ticket.token

    def claim(self, ticket: Ticket, worker: UUID) -> None:
        job = self.jobs[ticket.job]
        assert job.remote or not job.adoptable
        job.status, job.token, job.worker = Status.CLAIMED if job.remote else Status.RUNNING, ticket.token, worker
        if not job.remote:
            job.attempts += 1
            assert ticket.attempts == job.attempts
            job.calls.append(Call(ticket.attempt))

    def look_after_instead(self, pk: int) -> None:
        """A job was to be started of which a call is live."""
        job = self.jobs[pk]
        assert job.status == Status.PENDING
        assert self._take_up(job)

    def wait(self, ticket: Ticket, remote: str) -> None:
        job = self.jobs.get(ticket.job)
        call = job.call(ticket.attempt) if job else None
        if not job or not call:
            return
        if call.remote is None:
            call.remote, call.live = remote, True
        if self.holds(ticket):
            self._let_go(job, Status.WAITING)
            job.remote = remote
        else:
            self._take_up(job)

    def complete(self, ticket: Ticket, reply: FinalReply, outcome: Outcome) -> None:
        job = self.jobs.get(ticket.job)
        call = job.call(ticket.attempt) if job else None
        if not job or not call or call.outcome == AttemptOutcome.REPLIED:
            return
        self._end(call, AttemptOutcome.REPLIED)
        call.charge = _amount(reply.cost)
        if job.status in (Status.DONE, Status.CANCELLED):
            return
        self._let_go(job, Status.DONE)
        job.remote = None
        for other in job.calls:
            if other.open:
                other.outcome, other.charge = AttemptOutcome.UNKNOWN, ESTIMATE
        self._keep(job, outcome, ticket.attempt)

    def end_by_error(self, ticket: Ticket, error: ProviderError, status: Status, *, live: bool = False) -> None:
        """The transitions `ask_again` and `fail`; a late error closes its attempt and no more."""
        job = self.jobs.get(ticket.job)
        call = job.call(ticket.attempt) if job else None
        if not job or not call:
            return
        if not self.holds(ticket):
            if not live and call.outcome == AttemptOutcome.UNKNOWN:
                self._close(call, error)
            return
        self._let_go(job, status)
        job.put_off = status == Status.PENDING
        job.remote = ticket.remote_id if live else None
        if live:
            call.charge = ESTIMATE
        else:
            self._close(call, error)
        if not self._take_up(job) and status == Status.FAILED:
            self._keep(job, Outcome.FAILED, ticket.attempt)

    def put_back(self, ticket: Ticket, error: ProviderError) -> None:
        held = self.holds(ticket)
        self.end_by_error(ticket, error, Status.PENDING)
        if held:
            job = self.jobs[ticket.job]
            job.attempts, job.put_off = ticket.attempts - 1, False
            for call in job.calls:
                call.spared |= call.attempt == ticket.attempt

    def release(self, ticket: Ticket) -> None:
        if not self.holds(ticket):
            return
        self._let_go(self.jobs[ticket.job], Status.WAITING)

    def release_strays(self, worker: UUID, held: set[UUID]) -> None:
        for job in self.jobs.values():
            if job.worker == worker and job.status in HELD and job.token not in held:
                if job.status == Status.RUNNING:
                    job.attempts -= 1
                    job.calls = [call for call in job.calls if not call.open]
                self._let_go(job, Status.WAITING if job.remote else Status.PENDING)

    # ------------------------------------------------------------------------------------------- lost workers

    def take_back(self, lost: set[UUID], dead: set[UUID], stopped: set[UUID]) -> None:
        for job in self.jobs.values():
            if job.status in HELD and job.worker in lost | stopped:
                self._take_back(job, crashed=job.worker in dead, over=job.worker in dead | stopped)

    def _take_back(self, job: Job, *, crashed: bool, over: bool) -> None:
        call = job.current if job.status == Status.RUNNING else None
        if call and not (over or call.over):
            return
        job.crashes += crashed
        spent = job.attempts >= self.limits.attempts or job.unknowns >= self.limits.unknown_retries
        failed = job.crashes >= MOST_CRASHES or (call is not None and spent)
        self._let_go(job, Status.FAILED if failed else Status.WAITING if job.remote else Status.PENDING)
        if call:
            self._end(call, AttemptOutcome.UNKNOWN)
            call.charge = ESTIMATE
        elif failed and job.current:
            job.current.charge = ESTIMATE
        tried = call or job.current
        if not self._take_up(job) and failed:
            self._keep(job, Outcome.FAILED, tried.attempt if tried else None)

    # ----------------------------------------------------------------------------------------------- by a person

    def cancel(self) -> None:
        for job in self.jobs.values():
            if job.status == Status.PENDING or (job.status == Status.CLAIMED and not job.remote):
                self._let_go(job, Status.CANCELLED)
                self._keep(job, Outcome.CANCELLED, None)

    def requeue(self) -> None:
        for job in self.jobs.values():
            answered = self.captures.get(job.place, ("", None))[0] == Outcome.ANSWERED
            if job.status in FINAL and not answered:
                job.status = Status.WAITING if job.remote else Status.PENDING
                job.attempts = job.crashes = 0
                job.by_hand = False
                job.afresh = len(job.calls)

    def fail_by_hand(self) -> None:
        for job in self.jobs.values():
            if job.status in FINAL:
                continue
            call = job.current if job.status in (Status.RUNNING, Status.WAITING) or job.remote else None
            if call:
                call.charge = ESTIMATE
                if job.status == Status.RUNNING:
                    self._end(call, AttemptOutcome.UNKNOWN)
            self._let_go(job, Status.FAILED)
            job.by_hand = True
            self._keep(job, Outcome.FAILED, call.attempt if call else None)

    def delete(self, pk: int) -> None:
        job = self.jobs.pop(pk)
        self.charges |= {call.attempt: call.charge for call in job.calls if call.charge is not None}

    # --------------------------------------------------------------------------------------------------- helpers

    def _take_up(self, job: Job) -> bool:
        """Look after a known live call before anything is started anew."""
        call = job.adoptable
        idle = job.status == Status.PENDING or (job.status == Status.FAILED and not job.remote)
        if not call or not idle:
            return False
        job.status, job.remote, job.put_off = Status.WAITING, call.remote, False
        call.outcome = AttemptOutcome.OPEN
        return True

    def _let_go(self, job: Job, status: Status) -> None:
        job.status, job.token, job.worker, job.put_off = status, None, None, False

    def _end(self, call: Call, outcome: AttemptOutcome) -> None:
        call.outcome, call.live = outcome, False

    def _close(self, call: Call, error: ProviderError) -> None:
        self._end(call, AttemptOutcome.UNKNOWN if error.maybe_charged else AttemptOutcome.ERROR)
        call.charge = _amount(error.cost) if error.cost or error.maybe_charged else Decimal(0)

    def _keep(self, job: Job, outcome: Outcome, attempt: UUID | None) -> None:
        held = self.captures.get(job.place, (None, None))[0]
        if held == Outcome.ANSWERED:
            return
        says_less = held not in NO_REPLY or outcome == Outcome.CANCELLED
        if held is not None and outcome in NO_REPLY and held != outcome and says_less:
            return
        self.captures[job.place] = outcome, attempt


def _amount(cost: Cost | None) -> Decimal:
    return cost.amount if cost else ESTIMATE
