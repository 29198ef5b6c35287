"""The state machine of jobs under everything that can happen to it, against a model; on PostgreSQL.

Workers are driven one transition at a time, are lost, come back late, and repeat transitions whose COMMIT they have not
heard of. After each step every row must be as `tests/queue_model.py` says, and the rules that may never break hold.

`MACHINE_EXAMPLES=5000 MACHINE_STEPS=60 bin/test tests/test_queue_machine.py` looks further than a usual run, each time
elsewhere.
"""

from __future__ import annotations

import inspect
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from random import Random
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import transaction
from django.db.models import F
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from capture import calls, heartbeat, lanes, models, queue, recovery, retry
from capture.calls import Ticket
from capture.models import Attempt, AttemptOutcome, Capture, CaptureJob, Charge, Lane, Mention, Outcome, Status, Worker
from capture.models.clock import ClockTimestamp
from capture.models.workers import LEASE
from capture.providers.replies import Basis, Cost, Empty, FinalReply, Kind, Pending, ProviderError, Refused, Scope
from tests.factories import answer, make_check, make_user, routes
from tests.queue_model import FINAL, HELD, NO_REPLY, Call, Job, Model

LIMITS = retry.Limits(attempts=3, unknown_retries=1, remote_deadline=86_400)
LANE_LIMIT = 3
LANES = {"openai": ["chatgpt"], "perplexity": ["perplexity"]}
LONG = 3600.0  # seconds: nothing passes by itself, however slow the machine is, but only when the machine says so
MOST_OPEN = 2  # the fewer jobs, the more happens to each

# What may happen, and how often among all that does.
EVENTS = {
    "enqueue": 2, "works": 4, "claim": 2, "seat": 2, "record": 14, "repeat_later": 2, "release": 1, "beat": 1,
    "loses_all": 4, "is_silent": 1, "dies": 2, "stops": 1, "recover": 2,
    "exchanges_are_over": 1, "calls_grow_old": 1, "calls_are_parked": 1, "what_is_put_off_becomes_due": 1,
    "requeue": 3, "cancel": 1, "fail_by_hand": 1, "clean_up": 1,
}  # fmt: skip

PROMPTS = st.sampled_from([("a?",), ("a?", "b?")])
PROVIDERS = st.sampled_from([("chatgpt",), ("perplexity",), ("chatgpt", "perplexity")])
INDEX = st.integers(0, 1000)
WHICH = st.integers(0, 2)


def cost(amount: str) -> Cost:
    return Cost(Decimal(amount), Basis.COMPUTED)


REPLIES: dict[str, tuple[FinalReply, Outcome]] = {
    "answer": (answer("Northwind.", cost=cost("0.013")), Outcome.ANSWERED),
    "answer without a price": (answer("Contoso.", cost=None), Outcome.ANSWERED),
    "refusal": (Refused(text="No.", cost=cost("0.002")), Outcome.REFUSED),
    "nothing": (Empty(reason="no_text"), Outcome.EMPTY),
}


def trouble(reason: str, kind: Kind = Kind.TRANSIENT, **fields: Any) -> ProviderError:
    return ProviderError(kind, reason, "something went wrong", **fields)


ERRORS = {
    "busy": trouble("overloaded"),
    "refused": trouble("invalid", Kind.FATAL),
    "key refused": trouble("invalid_api_key", Kind.FATAL, scope=Scope.KEY),
    "timeout": trouble("timeout", maybe_charged=True),
    "failed at a price": trouble("failed", ended=True, cost=cost("0.001")),
    "gone": trouble("gone", ended=True),
    "gone, perhaps at a price": trouble("gone", ended=True, maybe_charged=True),
}
HUNG = trouble("stuck", maybe_charged=True)
CAME = st.sampled_from(["pending", *REPLIES, *ERRORS, "pending", "hangs"])


@dataclass(eq=False)
class Hand:
    """A ticket in a worker's hand: claimed, then in a seat, until its result is recorded."""

    ticket: Ticket
    worker: UUID
    seated: bool = False
    last: Callable[[], Any] | None = None  # its last transition, of which the worker may not have heard


@dataclass(eq=False)
class Process:
    """A worker as it sees itself; a new id when it was given up."""

    hands: list[Hand] = field(default_factory=list)
    id: UUID = field(default_factory=uuid4)


class Found:
    """All that stands in the tables after a step, read once for all rules."""

    def __init__(self) -> None:
        self.jobs = list(CaptureJob.objects.all())
        self.attempts = list(Attempt.objects.all())
        self.captures = list(Capture.objects.all())
        self.mentions = list(Mention.objects.all())
        self.charges = dict(Charge.objects.values_list("attempt", "amount"))


class QueueMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.transaction = transaction.atomic()
        self.transaction.__enter__()
        self.model = Model(LIMITS)
        self.processes = [Process() for _ in range(3)]
        self.lost: set[UUID] = set()
        self.dead: set[UUID] = set()
        self.stopped: set[UUID] = set()
        self.answers: dict[int, tuple[Any, ...]] = {}
        self.last: Callable[[], Any] | None = None
        self.remote_ids = 0

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.transaction.__exit__(None, None, None)

    @initialize()
    def begin(self) -> None:
        lanes.make_missing()
        Lane.objects.update(limit=LANE_LIMIT)
        self.user = make_user()
        for process in self.processes:
            heartbeat.register(process.id, ["chatgpt", "perplexity"], 8)
        self.enqueue(("a?",), ("chatgpt",))
        self.found = Found()

    @rule(
        event=st.sampled_from([name for name, times in EVENTS.items() for _ in range(times)]),
        which=WHICH, index=INDEX, came=CAME, yes=st.booleans(), kind=st.integers(0, 3),
        lane=st.sampled_from(sorted(LANES)), prompts=PROMPTS, providers=PROVIDERS,
    )  # fmt: skip
    def happens(self, event: str, *, yes: bool, kind: int, **drawn: Any) -> None:
        """One rule for all, so that no run leaves any out, and each comes as often as it is worth."""
        drawn |= {"repeat": yes, "crashed": yes, "heard": kind > 0, "seats": kind + 1}
        method = getattr(self, event)
        method(**{name: drawn[name] for name in inspect.signature(method).parameters})
        self.found = Found()

    # ------------------------------------------------------------------------------------------------- enqueue

    def enqueue(self, prompts: tuple[str, ...], providers: tuple[str, ...]) -> None:
        if sum(job.status not in FINAL for job in self.model.jobs.values()) >= MOST_OPEN:
            return
        check = make_check(self.user, prompts=prompts, providers=providers)
        for job in check.jobs.order_by("pk"):
            place = (job.prompt_id, job.provider, job.sample)
            self.model.jobs[job.pk] = Job(job.pk, place, job.lane)

    # ------------------------------------------------------------------------------------------ while it is held

    def claim(self, which: int, lane: str, seats: int, crashed: bool, heard: bool) -> None:
        process, before = self.processes[which], self._in_flight(lane)
        due = set(CaptureJob.objects.to_poll(lane, LANES[lane]).values_list("pk", flat=True))
        waited = set(CaptureJob.objects.waiting().values_list("pk", flat=True))

        tickets = queue.claim(lane, process.id, routes(LANES[lane], patience=LONG), seats, crashed=crashed)
        tickets.sort(key=lambda ticket: ticket.job)
        for pk in set(CaptureJob.objects.waiting().values_list("pk", flat=True)) - waited:
            self.model.look_after_instead(pk)

        starts = [ticket for ticket in tickets if ticket.remote_id is None]
        assert len(tickets) <= seats
        assert sum(ticket.crashed for ticket in tickets) <= crashed
        assert not starts or before + len(starts) <= LANE_LIMIT
        for ticket in tickets:
            self._check_ticket(ticket, due)
            self.model.claim(ticket, process.id)
        if heard:
            process.hands += [Hand(ticket, process.id) for ticket in tickets]

    def _check_ticket(self, ticket: Ticket, due: set[int]) -> None:
        job = self.model.jobs[ticket.job]
        assert ticket.remote_id == job.remote
        assert ticket.crashed == (job.crashes > 0)
        if job.remote is None:
            assert job.status == Status.PENDING
            assert not job.put_off
        else:
            assert job.status == Status.WAITING
            assert job.pk in due
            assert job.current
            assert ticket.attempt == job.current.attempt

    def _in_flight(self, lane: str) -> int:
        in_flight = CaptureJob.objects.filter(lane=lane, status__in=["claimed", "running", "waiting"])
        return in_flight.exclude(status="waiting", asked_at__lt=ClockTimestamp() - timedelta(minutes=30)).count()

    def seat(self, index: int) -> None:
        """Send a start, whose intent is committed, or look after a call."""
        if hand := self._hand(index, seated=False):
            hand.seated = True

    def record(self, index: int, came: str, repeat: bool) -> None:
        """Something has come back for a worker, which may have lost the job by now."""
        hand = self._hand(index, seated=True)
        if not hand:
            return
        if came == "hangs":
            self._hang(hand, repeat)
            return
        if came == "pending":
            self.remote_ids += 1
            self._decide(hand, Pending(f"resp_{self.remote_ids}"), repeat)
        else:
            self._decide(hand, REPLIES[came][0] if came in REPLIES else ERRORS[came], repeat)
        hand.seated = False
        self._drop(hand)
        self.last = hand.last

    def _hang(self, hand: Hand, repeat: bool) -> None:
        """An exchange is past its deadline: it is given up, and what comes after all comes late."""
        poll = hand.ticket.remote_id is not None
        self._decide(hand, trouble("stuck") if poll else HUNG, repeat)

    def _decide(self, hand: Hand, came: Any, repeat: bool) -> None:
        ticket = hand.ticket
        situation = retry.Situation(ticket.attempts, ticket.unknowns, ticket.polls, ticket.remote_id, ticket.age)
        decision = retry.decide(came, situation, LIMITS, Random(0))
        held = self.model.holds(ticket)
        hand.last = self._apply(ticket, decision)
        done = hand.last()
        assert done or not held
        if repeat:
            before = rows()
            again = hand.last()
            assert again or not held
            assert rows() == before

    def _apply(self, ticket: Ticket, decision: retry.Decision) -> Callable[[], bool]:
        """Move the model, and say how the queue is moved."""
        match decision:
            case retry.Wait(remote_id, _, reason):
                self.model.wait(ticket, remote_id)
                return lambda: queue.wait(ticket, remote_id, 0, reason)
            case retry.Complete(reply):
                outcome = next(outcome for each, outcome in REPLIES.values() if each == reply)
                self.model.complete(ticket, reply, outcome)
                reading = calls.reading_of(ticket, reply)
                return lambda: queue.complete(ticket, reply, reading)
            case retry.AskAgain(error, _):
                self.model.end_by_error(ticket, error, Status.PENDING)
                return lambda: queue.ask_again(ticket, error, LONG)
            case retry.PutBack(error):
                self.model.put_back(ticket, error)
                return lambda: queue.put_back(ticket, error)
            case retry.GiveUp(error, live):
                self.model.end_by_error(ticket, error, Status.FAILED, live=live)
                return lambda: queue.fail(ticket, error, live=live)

    def repeat_later(self) -> None:
        """The reply to a COMMIT was lost, and others have done this and that before the worker tries again."""
        if self.last:
            self.last()

    def release(self, index: int, repeat: bool) -> None:
        hand = self._hand(index, seated=False)
        if not hand or hand.ticket.remote_id is None:
            return
        held = self.model.holds(hand.ticket)
        self.model.release(hand.ticket)
        assert queue.release(hand.ticket) or not held
        if repeat:
            before = rows()
            assert queue.release(hand.ticket) or not held
            assert rows() == before
        self._drop(hand)

    def beat(self, which: int) -> None:
        process = self.processes[which]
        held = {hand.ticket.token for hand in process.hands}
        pulse = heartbeat.beat(process.id)
        assert pulse.lost == (process.id in self.lost)
        self.model.release_strays(process.id, held)
        queue.release_strays(process.id, held)

    # --------------------------------------------------------------------------------------------- lost workers

    def is_silent(self, which: int) -> None:
        """A worker is given up by its lease, finds that out, and goes on under a new id with what it has in hand."""
        process = self.processes[which]
        Worker.objects.serving().update(beat_at=ClockTimestamp())  # nobody is, only since this machine is slow
        Worker.objects.filter(pk=process.id).update(beat_at=ClockTimestamp() - LEASE - timedelta(seconds=1))
        assert recovery.give_up_the_silent() == 1
        self.lost.add(process.id)
        process.id = uuid4()
        heartbeat.register(process.id, ["chatgpt", "perplexity"], 8)

    def dies(self, which: int) -> None:
        """A process is proven to be gone, with all that it had in hand."""
        gone = self.processes[which].id
        Worker.objects.filter(pk=gone).update(lost_at=ClockTimestamp(), proven_dead=True)
        self.lost.add(gone)
        self.dead.add(gone)
        self._begin_process(which)

    def stops(self, which: int) -> None:
        """A worker ends with exchanges in flight, and says so."""
        heartbeat.close(self.processes[which].id)
        self.stopped.add(self.processes[which].id)
        self._begin_process(which)

    def _begin_process(self, which: int) -> None:
        self.processes[which] = Process()
        heartbeat.register(self.processes[which].id, ["chatgpt", "perplexity"], 8)

    def recover(self) -> None:
        self.model.take_back(self.lost, self.dead, self.stopped)
        recovery.take_all_back(LIMITS)

    # ------------------------------------------------------------------------------------------- several at once

    def works(self, which: int) -> None:
        """A worker takes all that it can get, and sends it."""
        self.what_is_put_off_becomes_due()
        for lane in LANES:
            self.claim(which, lane, 4, True, True)
        for _ in self._hands(seated=False):
            self.seat(0)

    def loses_all(self, which: int) -> None:
        """A worker is lost in the midst of its work, and does not know yet; another goes on."""
        self.works(which)
        self.is_silent(which)
        self.exchanges_are_over()
        self.recover()
        self.works((which + 1) % len(self.processes))

    # ---------------------------------------------------------------------------------------------- time passes

    def calls_are_parked(self) -> None:
        self._let_pass(1)

    def exchanges_are_over(self) -> None:
        Attempt.objects.update(deadline=ClockTimestamp() - timedelta(seconds=1))
        for job in self.model.jobs.values():
            for call in job.calls:
                call.over = True

    def calls_grow_old(self) -> None:
        self._let_pass(25)

    def _let_pass(self, hours: int) -> None:
        CaptureJob.objects.filter(asked_at__isnull=False).update(asked_at=F("asked_at") - timedelta(hours=hours))

    def what_is_put_off_becomes_due(self) -> None:
        CaptureJob.objects.postponed().update(run_after=ClockTimestamp() - timedelta(seconds=1))
        put_off = [job for job in self.model.jobs.values() if job.put_off]
        for job in put_off:
            job.put_off = False
        assert queue.promote_due() == len(put_off)

    # ----------------------------------------------------------------------------------------------- by a person

    def cancel(self) -> None:
        self.model.cancel()
        queue.cancel(CaptureJob.objects.all())

    def requeue(self) -> None:
        self.model.requeue()
        queue.requeue(CaptureJob.objects.all())

    def fail_by_hand(self) -> None:
        self.model.fail_by_hand()
        queue.fail_by_hand(CaptureJob.objects.all())

    def clean_up(self, index: int) -> None:
        final = sorted(job.pk for job in self.model.jobs.values() if job.status in FINAL)
        if not final:
            return
        pk = final[index % len(final)]
        charged = list(Charge.objects.order_by("pk").values())
        captured = list(Capture.objects.order_by("pk").values())

        CaptureJob.objects.filter(pk=pk).delete()

        self.model.delete(pk)
        for hand in self._hands(seated=True) + self._hands(seated=False):
            # What comes back for it changes nothing; once is enough to see that.
            if hand.ticket.job == pk and hand.last:
                self._drop(hand)
        assert list(Charge.objects.order_by("pk").values()) == charged
        assert list(Capture.objects.order_by("pk").values()) == captured

    # --------------------------------------------------------------------------------------- what must always hold

    @invariant()
    def jobs_are_as_the_model_says(self) -> None:
        found = {
            (job.pk, job.status, job.remote_id, job.claim_token, job.worker, job.attempts, job.crashes)
            for job in self.found.jobs
        }
        assert found == {
            (job.pk, job.status, job.remote, job.token, job.worker, job.attempts, job.crashes)
            for job in self.model.jobs.values()
        }

    @invariant()
    def unknown_outcomes_are_counted_as_long_as_it_matters(self) -> None:
        over = (Status.DONE, Status.CANCELLED)  # only a person goes on with these, and then afresh
        found = {(job.pk, job.unknowns) for job in self.found.jobs if job.status not in over}
        assert found == {(job.pk, job.unknowns) for job in self.model.jobs.values() if job.status not in over}

    @invariant()
    def attempts_and_charges_are_as_the_model_says(self) -> None:
        calls = [(job, call) for job in self.model.jobs.values() for call in job.calls]
        found = {(each.job_id, each.pk, each.remote_id, each.live, each.outcome) for each in self.found.attempts}
        assert found == {(job.pk, call.attempt, call.remote, call.live, call.outcome) for job, call in calls}
        amounts = {call.attempt: call.charge for _, call in calls if call.charge is not None} | self.model.charges
        assert self.found.charges == amounts

    @invariant()
    def captures_are_as_the_model_says(self) -> None:
        found = {_place(each): (each.outcome, each.attempt) for each in self.found.captures}
        assert found == self.model.captures

    @invariant()
    def captures_tell_what_was_spent_on_them(self) -> None:
        kept = {_place(each): each for each in self.found.captures}
        for job in self.found.jobs:
            own = [each for each in self.found.attempts if each.job_id == job.pk]
            if capture := kept.get(_place(job)):
                charged = (self.found.charges.get(each.pk, Decimal(0)) for each in own)
                assert capture.cost == sum(charged, job.spent_before)
                assert capture.unknowns == sum(each.is_unsettled for each in own)

    @invariant()
    def an_answer_is_never_overwritten(self) -> None:
        answered = [each for each in self.found.captures if each.outcome == Outcome.ANSWERED]
        now = {each.pk: (each.attempt, each.text, each.answered_at) for each in answered}
        assert now == self.answers | now
        self.answers = now

    @invariant()
    def each_answer_is_read_once(self) -> None:
        named = {each.pk: each.named[0]["words"] for each in self.found.captures if each.named}
        mentions = [(each.capture_id, each.rank, each.words, named[each.capture_id]) for each in self.found.mentions]
        assert Counter(mentions) == {(pk, 1, text[:-1], text[:-1]): 1 for pk, (_, text, _) in self.answers.items()}

    @invariant()
    def what_was_replied_is_not_asked_again(self) -> None:
        for job in self.model.jobs.values():
            outcome = self.model.captures.get(job.place, (None, None))[0]
            assert (outcome == Outcome.ANSWERED) <= (job.status in (Status.DONE, Status.CANCELLED))
            assert job.status != Status.DONE or outcome not in NO_REPLY

    @invariant()
    def a_known_live_call_is_only_looked_after(self) -> None:
        for job in self.model.jobs.values():
            assert sum(call.open for call in job.calls) <= 1
            assert job.status != Status.FAILED or job.by_hand or job.remote or not job.adoptable
            if job.remote:
                assert job.status in (Status.WAITING, Status.CLAIMED, Status.FAILED)
                assert job.current
                assert job.current.remote == job.remote
            elif job.status in HELD:
                assert (job.current is not None) == (job.status == Status.RUNNING)

    @invariant()
    def limits_are_kept(self) -> None:
        for job in self.model.jobs.values():
            calls = job.calls[job.afresh :]
            assert sum(not call.spared for call in calls) <= LIMITS.attempts
            if job.status != Status.DONE:
                assert Counter(map(_unknown, calls))[True] <= LIMITS.unknown_retries + 1
            assert job.crashes <= 3
            assert job.crashes < 3 or job.status in FINAL | {Status.WAITING}

    @invariant()
    def every_attempt_that_has_ended_has_its_charge(self) -> None:
        assert {each.pk for each in self.found.attempts if each.ended_at} <= self.found.charges.keys()

    @invariant()
    def every_unknown_outcome_is_charged(self) -> None:
        unknown = {each.pk for each in self.found.attempts if each.outcome == AttemptOutcome.UNKNOWN}
        assert unknown <= {attempt for attempt, amount in self.found.charges.items() if amount > 0}

    # ----------------------------------------------------------------------------------------------------- helpers

    def _hands(self, *, seated: bool) -> list[Hand]:
        return [hand for process in self.processes for hand in process.hands if hand.seated == seated]

    def _hand(self, index: int, *, seated: bool) -> Hand | None:
        hands = self._hands(seated=seated)
        return hands[index % len(hands)] if hands else None

    def _drop(self, hand: Hand) -> None:
        for process in self.processes:
            process.hands = [each for each in process.hands if each is not hand]


def _place(row: CaptureJob | Capture) -> tuple[int, str, int]:
    return row.prompt_id, row.provider, row.sample


def _unknown(call: Call) -> bool:
    return call.outcome == AttemptOutcome.UNKNOWN


def rows() -> list[Any]:
    """Everything that the queue writes, but for the time at which an attempt ended."""
    attempts = [{**row, "ended_at": None} for row in Attempt.objects.order_by("pk").values()]
    others = [list(model.objects.order_by("pk").values()) for model in (CaptureJob, Capture, Charge)]
    return [attempts, *others]


EXAMPLES = int(os.environ.get("MACHINE_EXAMPLES", "0"))
SETTINGS = settings(
    max_examples=EXAMPLES or 60,
    stateful_step_count=int(os.environ.get("MACHINE_STEPS", "40")),
    derandomize=not EXAMPLES,
    deadline=None,
    database=None,
    print_blob=False,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.slow
@pytest.mark.timeout(0 if EXAMPLES else 300)
@pytest.mark.django_db
def test_whatever_happens_the_rules_of_the_queue_hold(monkeypatch):
    # All examples are savepoints of the test's own transaction, in which it would go on.
    monkeypatch.setattr(models.lanes, "LOCK_TIMEOUT", timedelta(0))

    run_state_machine_as_test(QueueMachine, settings=SETTINGS)
