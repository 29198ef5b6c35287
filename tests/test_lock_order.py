"""All that moves jobs at the same time, by real connections: one lock order, and so no deadlock."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from capture import first_replies, lanes, ledger, queue, recovery, schedules, staff_actions
from capture.calls import Ticket
from capture.models import Attempt, Capture, CaptureJob, Check, Schedule, Status
from capture.models.clock import database_now
from capture.models.jobs import FINAL
from capture.providers.replies import Kind
from capture.queue import cleanup, tickets
from capture.queue.cleanup import Cursor
from tests.factories import answer, error, make_check, make_user, routes, unknown_error
from tests.lost_workers import LIMITS, die, make_worker
from tests.process.running import until
from tests.test_races import elsewhere, waiting_sessions

pytestmark = pytest.mark.django_db(transaction=True)

__all__ = ["elsewhere"]

ROUTES = routes(["chatgpt"])


@dataclass
class Scene:
    """One check with jobs in all states, most of them in the hands of a worker that is dead and yet comes back."""

    check: Check
    lost: UUID
    alive: UUID
    sent: Ticket
    polled: Ticket
    unknown: Ticket


@pytest.fixture
def scene() -> Scene:
    lanes.make_missing()
    check = make_check(prompts=tuple(f"{number}?" for number in range(8)))
    schedules.plan(check, "daily", 6)
    Schedule.objects.update(next_due=database_now())
    lost, alive = make_worker(), make_worker()
    queue.wait(take(lost), "resp_1", 0)
    polled = take(lost)
    queue.fail(take(lost), error(kind=Kind.FATAL))
    unknown = take(lost)
    queue.ask_again(unknown, unknown_error(), 3600)
    sent, _unsent = take(lost), take(lost)
    die(lost)
    assert recovery.give_up_the_dead() == 1
    return Scene(check, lost, alive, sent, polled, unknown)


def take(worker: UUID) -> Ticket:
    (ticket,) = queue.claim("openai", worker, ROUTES, 1)
    return ticket


MOVES: dict[str, Callable[[Scene], Any]] = {
    "an answer": lambda scene: queue.complete(scene.sent, answer()),
    "an error": lambda scene: queue.ask_again(scene.sent, error(), 1),
    "a failure": lambda scene: queue.fail(scene.sent, unknown_error()),
    "a late error": lambda scene: queue.ask_again(scene.unknown, error(), 1),
    "an id": lambda scene: queue.wait(scene.sent, "resp_2", 1),
    "an answer to a poll": lambda scene: queue.complete(scene.polled, answer()),
    "a release": lambda scene: queue.release(scene.polled),
    "a release of strays": lambda scene: queue.release_strays(scene.lost, [scene.sent.token]),
    "a recovery": lambda scene: queue.take_back(LIMITS),
    "a claim": lambda scene: queue.claim("openai", scene.alive, ROUTES, 8),
    "a promotion": lambda scene: queue.promote_due(),
    "a cancellation": lambda scene: queue.cancel(scene.check.jobs.all()),
    "a failure by hand": lambda scene: queue.fail_by_hand(scene.check.jobs.all()),
    "a requeue": lambda scene: queue.requeue(scene.check.jobs.all()),
    "a settlement": lambda scene: ledger.settle(Attempt.objects.get(pk=scene.unknown.attempt), charged=False),
    "a cleanup": lambda scene: queue.delete_old_jobs(FINAL, database_now(), Cursor(), 500),
    "a repetition": lambda scene: schedules.ask_due(),
    "a plan": lambda scene: schedules.plan(scene.check, "weekly", 6),
    "a staff action": lambda scene: _act(scene),
    "a new check": lambda scene: make_check(scene.check.created_by or make_user()),
}


def _act(scene: Scene) -> None:
    """Settle what is unknown and ask all of it again, as staff do it to many at once."""
    user = make_user()
    for kind in ("settle_not_charged", "fail", "requeue"):
        targets = staff_actions.targets_of(kind, scene.check.jobs.all())
        if action := staff_actions.propose(user, kind, targets, "/admin/"):
            staff_actions.confirm(action)
    staff_actions.carry_on(60)


# In the midst of which transactions others come, and what these are doing then: each has locked its jobs.
MIDST = {
    "an answer": (first_replies, "keep"),
    "an error": (ledger, "close_by_error"),
    "a failure": (ledger, "keep_failure"),
    "a late error": (ledger, "close_by_error"),
    "an id": (ledger, "note_remote_id"),
    "a release of strays": (ledger, "withdraw_attempts"),
    "a recovery": (ledger, "open_attempt"),
    "a claim": (tickets, "take"),
    "a cleanup": (cleanup, "_kept"),
    "a cancellation": (ledger, "keep_cancellations"),
}


class Gate:
    """The first that comes by stays until it is let through."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()

    def before(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def gated(*args: Any, **named: Any) -> Any:
            if not self.reached.is_set():
                self.reached.set()
                assert self.opened.wait(30)
            return function(*args, **named)

        return gated


@pytest.mark.parametrize("name", MIDST)
def test_fault_18_nothing_deadlocks_with_what_is_in_the_midst_of_its_transaction(name, scene, elsewhere, monkeypatch):
    gate, (module, function) = Gate(), MIDST[name]
    monkeypatch.setattr(module, function, gate.before(getattr(module, function)))

    first = elsewhere(partial(MOVES[name], scene))
    assert gate.reached.wait(30)
    others = [elsewhere(partial(move, scene)) for other, move in MOVES.items() if other != name]
    until(lambda: sum(other.done() for other in others) + waiting_sessions() == len(others))
    gate.opened.set()

    for each in (first, *others):
        each.result(30)  # raises what a deadlock would have raised
    for job in CaptureJob.objects.filter(status__in=[Status.FAILED, Status.CANCELLED, Status.DONE]):
        assert Capture.objects.filter(prompt=job.prompt).count() == 1
    recovery.take_all_back(LIMITS)  # what was locked has been passed over
    assert not CaptureJob.objects.held().filter(worker=scene.lost).exists()
