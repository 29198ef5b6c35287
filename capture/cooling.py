"""Cooling: what one call learns of its account holds for all machines.

    open ── told to wait, or the account refuses ──► cooling: nothing is asked
      ▲                                                 │ its time is over
      │                                                 ▼
      └── the probe got a reply ──────────────────── probing: one call at a time
                                                        │ told to wait again
                                                        └──► cooling, for longer

A lane cools or probes while `cooling_since` is set. `cooling_until` stays when it opens again: a call that began later
and is told to wait has met a new trouble, one that began before belongs to the same burst.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Case, Q, When
from django.db.models.functions import Least

from capture.calls import Result, Ticket
from capture.models import Attempt, AttemptOutcome, CaptureJob, Lane, Status
from capture.models.clock import ClockTimestamp
from capture.notifications import notify
from capture.providers.replies import ProviderError

log = logging.getLogger(__name__)

# A person has to change a key, an account or a region; a probe in between costs nothing.
ACCOUNT_COOLING = timedelta(minutes=15)

# Without a wait of the system's own: doubled when not a call was taken after it, halved when many were.
FIRST_COOLING = 2.0  # seconds
LONGEST_COOLING = 300.0  # seconds
# With so many calls taken between two waits, the account has waited long enough: one that is told to wait now and
# then, as by a system that is overloaded for a moment, does not end up at the longest wait.
MANY = 5

# So often is a job refused by an account that answers others before the question counts as the trouble.
MOST_REFUSALS = 2

# An account that has not been told to wait for so long starts afresh.
REMEMBERED = timedelta(minutes=10)


def learn(result: Result, *, singled_out: bool) -> None:
    """Let all that is asked of the same account know what an exchange has learnt of it.

    Arguments:
        singled_out: see `singles_out`; the account itself is well.

    Raises:
        LaneBusyError: somebody else has the lane now.
    """
    ticket, came = result.ticket, result.came
    trouble = came if isinstance(came, ProviderError) else None
    if trouble and (trouble.throttled or trouble.unsent):
        throttle(ticket.lane, trouble, _age(result))
    elif trouble and trouble.of_the_account and not singled_out:
        shut(ticket.lane, trouble)
    elif ticket.probe and (trouble is None or trouble.heard):
        reopen(ticket.lane, ticket)


def _age(result: Result) -> float:
    """Seconds since the call began that a result tells of; one that is looked after began long before."""
    ended = isinstance(result.came, ProviderError) and result.came.ended
    return time.monotonic() - result.began + (result.ticket.age if ended else 0.0)


def throttle(name: str, error: ProviderError, ago: float) -> None:
    """The account was told to ask less, or cannot be reached: nothing more is asked of it for a while.

    Arguments:
        error: with the system's own wait, where it named one.
        ago: seconds since the call began that was told so.

    Raises:
        LaneBusyError: somebody else has the lane now.
    """
    with transaction.atomic():
        lane = Lane.objects.lock(name)
        repeats = _repeats(lane, lane.now - timedelta(seconds=ago))
        _cool(lane, timedelta(seconds=_seconds(error.wait, repeats)), error.reason, repeats)


def shut(name: str, error: ProviderError) -> None:
    """The account itself is refused: its key, its money or its region.

    Raises:
        LaneBusyError: somebody else has the lane now.
    """
    with transaction.atomic():
        lane = Lane.objects.lock(name)
        _cool(lane, ACCOUNT_COOLING, error.reason, lane.cooling_repeats)


def reopen(name: str, probe: Ticket) -> bool:
    """The probe got a reply: the others follow. Says whether the lane was waiting for this one.

    Raises:
        LaneBusyError: somebody else has the lane now.
    """
    with transaction.atomic():
        lane = Lane.objects.lock(name)
        if lane.cooling_since is None or lane.probe != probe.token:
            return False
        Lane.objects.filter(pk=name).update(
            cooling_since=None,
            last_cooling_since=lane.cooling_since,
            cooling_reason="",
            probe=None,
            opened_at=ClockTimestamp(),
        )
        notify()
    log.info("lane %s is open again", name)
    return True


def resume(names: Collection[str]) -> int:
    """Let lanes go on at once that staff had paused or that cool; says how many were held up."""
    held_up = Lane.objects.filter(Q(paused=True) | Q(cooling_since__isnull=False), name__in=names)
    ended = Case(
        When(cooling_since__isnull=False, then=Least("cooling_until", ClockTimestamp())), default="cooling_until"
    )
    resumed = held_up.update(
        paused=False, cooling_since=None, cooling_until=ended, cooling_reason="", cooling_repeats=0, probe=None
    )
    if resumed:
        notify()
    return resumed


def singles_out(ticket: Ticket, error: ProviderError) -> bool:
    """Whether the account refuses this job and answers others.

    Then the question is the trouble, and it must not stop the account for everybody again and again.
    """
    if ticket.remote_id is not None and not error.ended:
        return _is_refused_beside_others(ticket, error)
    refusals = Attempt.objects.filter(job=ticket.job, outcome=AttemptOutcome.ERROR, reason=error.reason, spent=False)
    times = list(refusals.order_by("-ended_at").values_list("ended_at", flat=True)[:MOST_REFUSALS])
    if len(times) < MOST_REFUSALS:
        return False
    jobs = CaptureJob.objects.filter(lane=ticket.lane).exclude(pk=ticket.job)
    answered = jobs.final().filter(status=Status.DONE, finished_at__gt=times[0], asked_at__gt=times[0])
    return answered.exists() and not jobs.pending().filter(reason=error.reason).exists()


def _is_refused_beside_others(ticket: Ticket, error: ProviderError) -> bool:
    """A call that may not be looked after: the same was so the last time, and its lane has been opened since."""
    again = CaptureJob.objects.filter(pk=ticket.job, reason=error.reason).exists()
    return again and Lane.objects.filter(name=ticket.lane, cooling_since__isnull=True, opened_at__isnull=False).exists()


def _repeats(lane: Any, began: datetime) -> int:
    last_end, repeats = lane.cooling_until, int(lane.cooling_repeats)
    if last_end is None or last_end < lane.now - REMEMBERED:
        return 0
    if began <= last_end:
        return repeats
    taken = _taken(lane.name, last_end)
    return repeats + (taken == 0) - (taken >= MANY and repeats > 0)


def _taken(lane: str, since: datetime) -> int:
    """How many calls that began after a moment its system has taken, up to as many as matter."""
    jobs = CaptureJob.objects.filter(lane=lane, asked_at__gt=since)
    in_hand = jobs.in_flight().filter(remote_id__isnull=False)[:MANY].count()
    return in_hand + jobs.final().filter(status=Status.DONE, finished_at__gt=since)[:MANY].count()


def _own(repeats: int) -> float:
    return min(FIRST_COOLING * 2.0 ** min(repeats, 16), LONGEST_COOLING)


def _seconds(asked: float | None, repeats: int) -> float:
    own = _own(repeats)
    if asked is None:
        return own
    # Whoever says one second, and is not content after it, gets more.
    return max(asked, own) if repeats else asked


def _cool(lane: Any, span: timedelta, reason: str, repeats: int) -> None:
    until = lane.now + span
    if lane.cooling_since is not None and lane.cooling_until is not None and lane.cooling_until > until:
        until, reason = lane.cooling_until, lane.cooling_reason
    Lane.objects.filter(pk=lane.pk).update(
        cooling_since=_since(lane), cooling_until=until, cooling_reason=reason, cooling_repeats=repeats, probe=None
    )
    log.warning("lane %s cools until %s: %s", lane.name, until.isoformat(timespec="seconds"), reason)


def _since(lane: Any) -> datetime:
    """Since when it cools. A lane that was open for a moment only, by a call that came to nothing, was not open."""
    for_a_moment = lane.opened_at is not None and lane.opened_at > lane.now - REMEMBERED
    since: datetime = lane.cooling_since or (lane.last_cooling_since if for_a_moment else None) or lane.now
    return since
