"""What staff do to jobs: proposed, confirmed, and carried out a batch at a time by whoever comes by.

Proposing freezes what was chosen, so that the page on which it is confirmed says of how many jobs it is, and no more is
done. Once confirmed, the action is a row that goes on whatever becomes of the page: the page carries it on while it is
open, and every worker at its beats. Each batch is a transaction of its own, which moves the jobs, writes them into
Django's log and notes how far it has come; so nothing is done twice or left out whoever dies.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import QuerySet, Sum

from capture import budgets, ledger, queue
from capture.models import Attempt, CaptureJob, Charge, StaffAction
from capture.models.clock import ClockTimestamp
from capture.models.jobs import AttemptQuerySet, JobQuerySet
from capture.queue.people import UNASKED, may_be_asked_again

log = logging.getLogger(__name__)

Kind = StaffAction.Kind

MOST = 25_000  # targets of one action; whoever has chosen more is told, and may do it again
MOST_ORIGIN = 2_000  # characters
BATCH = 200  # targets in one transaction
SECONDS_AT_ONCE = 0.5  # of a worker's upkeep

# As the log says it of each job.
TOLD: Mapping[str, str] = {
    Kind.REQUEUE: "Asked again",
    Kind.CANCEL: "Cancelled",
    Kind.FAIL: "Failed by hand",
    Kind.SETTLE_CHARGED: "Settled as charged",
    Kind.SETTLE_NOT_CHARGED: "Settled as not charged",
}


# -------------------------------------------------------------------------------------------------------- proposed


def targets_of(kind: str, jobs: JobQuerySet) -> QuerySet[Any, Any]:
    """With what of a set of jobs an action would do something: numbers of jobs, or of attempts to be settled."""
    match kind:
        case Kind.REQUEUE:
            wanted = may_be_asked_again(jobs)
        case Kind.CANCEL:
            wanted = jobs.filter(UNASKED)
        case Kind.FAIL:
            wanted = jobs.open()
        case _:
            return to_settle(Attempt.objects.filter(job__in=jobs.order_by().values("pk")))
    return wanted.order_by("pk").values_list("pk", flat=True)


def to_settle(attempts: AttemptQuerySet) -> QuerySet[Any, Any]:
    """The numbers of those attempts of which nobody knows whether they were charged."""
    return attempts.unsettled().order_by("job", "number").values_list("pk", flat=True)


def propose(
    user: Any, kind: str, targets: QuerySet[Any, Any], origin: str, *, across: bool = False
) -> StaffAction | None:
    """Freeze what an action is about, `MOST` of it; None if that is nothing. The user's earlier proposal is dropped.

    Arguments:
        kind: one of `StaffAction.Kind`.
        targets: as `targets_of` and `to_settle` give them.
        origin: path of the page where they were chosen; kept for good, so nothing in it names anybody.
        across: all that were found there were chosen.
    """
    numbers = list(targets[:MOST])
    StaffAction.objects.proposed().filter(user=user).delete()
    if not numbers:
        return None
    return StaffAction.objects.create(
        user=user,
        kind=kind,
        targets=[str(number) for number in numbers],
        count=len(numbers),
        cost=_cost(kind, numbers),
        origin=origin[:MOST_ORIGIN],
        across=across,
    )


def _cost(kind: str, numbers: Sequence[Any]) -> Decimal:
    """US dollars: what asking again will probably cost, or what unknown outcomes count at."""
    match kind:
        case Kind.REQUEUE:
            return budgets.expected(CaptureJob.objects.filter(pk__in=numbers))
        case Kind.SETTLE_CHARGED | Kind.SETTLE_NOT_CHARGED:
            charges = Charge.objects.real().filter(attempt__in=numbers)
            return charges.aggregate(sum=Sum("amount"))["sum"] or Decimal(0)
    return Decimal(0)


def confirm(action: StaffAction) -> bool:
    """Say yes to it, and write that into the log; says whether it was new."""
    with transaction.atomic():
        new = StaffAction.objects.proposed().filter(pk=action.pk).update(confirmed_at=ClockTimestamp())
        if new:
            what = f"Confirmed: {action.get_kind_display()}, targets: {action.count}, chosen at {action.origin}"
            LogEntry.objects.log_actions(action.user_id, [action], CHANGE, what)
    return new == 1


# ----------------------------------------------------------------------------------------------------- carried out


def at_upkeep(**_: Any) -> None:
    """What a worker does at its beats: connected to its signal in `AppConfig.ready`."""
    carry_on(SECONDS_AT_ONCE)


def carry_on(seconds: float, number: int | None = None) -> None:
    """Carry out what is confirmed, for about so long: at least one batch, if any is left.

    Any number of processes may do so at once. One that another is at is passed over.

    Arguments:
        number: of the only action to look after; else all of them.
    """
    until = time.monotonic() + seconds
    while _step(number) and time.monotonic() < until:
        pass


def _step(number: int | None) -> bool:
    """One batch; says whether there was one."""
    actions = StaffAction.objects.under_way()
    actions = actions if number is None else actions.filter(pk=number)
    with transaction.atomic():
        action = actions.select_for_update(skip_locked=True, no_key=True).first()
        if action is None:
            return False
        batch = StaffAction.objects.batch(action.pk, action.done, BATCH)
        try:
            with transaction.atomic():
                changed = _carry_out(action, batch)
        except (OperationalError, InterfaceError):
            raise  # the database is away, and it goes on when that is back
        except Exception as error:
            log.exception("%s: an error of our own ends it", action)
            _note(action, 0, 0, trouble=type(error).__name__)
        else:
            _note(action, len(batch), len(changed))
    return True


def _carry_out(action: StaffAction, batch: Sequence[str]) -> list[int]:
    """Do it to a batch, and write into the log of each job what was done; says to which."""
    changed = MOVES[action.kind](batch)
    told = f"{TOLD[action.kind]} ({action})"
    LogEntry.objects.log_actions(action.user_id, [CaptureJob(pk=number) for number in changed], CHANGE, told)
    return changed


def _note(action: StaffAction, done: int, changed: int, trouble: str = "") -> None:
    """Write how far an action has come; it has ended when nothing is left, or by a trouble.

    Then its targets are let go of: there may be many, and the log says of each what was done.
    """
    action.done, action.changed, action.trouble = action.done + done, action.changed + changed, trouble
    over: dict[str, Any] = {}
    if trouble or action.done >= action.count:
        over = {"ended_at": ClockTimestamp(), "targets": []}
    StaffAction.objects.filter(pk=action.pk).update(
        done=action.done, changed=action.changed, trouble=action.trouble, **over
    )


def _of_jobs(move: Callable[[Sequence[int]], list[int]], batch: Sequence[str]) -> list[int]:
    return move([int(number) for number in batch])


def _requeue(batch: Sequence[int]) -> list[int]:
    return queue.requeue_these(batch, alone=len(batch) == 1)


def _settle(batch: Sequence[str], *, charged: bool) -> list[int]:
    """Settle attempts, with their jobs locked first: that is everybody's order."""
    attempts = list(Attempt.objects.filter(pk__in=batch).select_related("job").order_by("job", "number"))
    jobs = CaptureJob.objects.filter(pk__in={attempt.job_id for attempt in attempts})
    list(jobs.select_for_update(no_key=True).order_by("pk").values_list("pk"))
    return [attempt.job_id for attempt in attempts if ledger.settle(attempt, charged=charged)]


MOVES: Mapping[str, Callable[[Sequence[str]], list[int]]] = {
    Kind.REQUEUE: partial(_of_jobs, _requeue),
    Kind.CANCEL: partial(_of_jobs, queue.cancel_these),
    Kind.FAIL: partial(_of_jobs, queue.fail_these),
    Kind.SETTLE_CHARGED: partial(_settle, charged=True),
    Kind.SETTLE_NOT_CHARGED: partial(_settle, charged=False),
}
