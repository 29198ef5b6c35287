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
from collections.abc import Collection
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Least

from capture.calls import Ticket
from capture.models import Attempt, AttemptOutcome, Lane
from capture.models.clock import ClockTimestamp, database_now
from capture.notifications import notify
from capture.providers.replies import ProviderError

log = logging.getLogger(__name__)

# A person has to change a key, an account or a region; a probe in between costs nothing.
ACCOUNT_COOLING = timedelta(minutes=15)

# Without a wait of the system's own: doubled each time that the account is told to wait again.
FIRST_COOLING = 2.0  # seconds
LONGEST_COOLING = 300.0  # seconds

# An account that has not been told to wait for so long starts afresh.
REMEMBERED = timedelta(minutes=10)


def throttle(name: str, error: ProviderError, ago: float) -> None:
    """The account was told to ask less: nothing more is asked of it for a while.

    Arguments:
        error: with the system's own wait, where it named one.
        ago: seconds since the exchange began that was told so.
    """
    with transaction.atomic():
        lane, now = _locked(name)
        repeats = _repeats(lane, now - timedelta(seconds=ago), now)
        _cool(lane, now, timedelta(seconds=_seconds(error.wait, repeats)), error.reason, repeats)


def shut(name: str, error: ProviderError) -> None:
    """The account itself is refused: its key, its money or its region."""
    with transaction.atomic():
        lane, now = _locked(name)
        _cool(lane, now, ACCOUNT_COOLING, error.reason, lane.cooling_repeats)


def reopen(name: str, probe: Ticket) -> bool:
    """The probe got a reply: the others follow. Says whether the lane was waiting for this one."""
    waiting = Lane.objects.filter(name=name, probe=probe.token, cooling_since__isnull=False)
    opened = waiting.update(cooling_since=None, cooling_reason="", probe=None, opened_at=ClockTimestamp())
    if opened:
        notify()
        log.info("lane %s is open again", name)
    return bool(opened)


def resume(names: Collection[str]) -> int:
    """Let lanes go on at once that staff had paused or that cool; says how many were held up."""
    held_up = Lane.objects.filter(Q(paused=True) | Q(cooling_since__isnull=False), name__in=names)
    resumed = held_up.update(
        paused=False,
        cooling_since=None,
        cooling_until=Least("cooling_until", ClockTimestamp()),
        cooling_reason="",
        cooling_repeats=0,
        probe=None,
    )
    if resumed:
        notify()
    return resumed


def singles_out(ticket: Ticket, error: ProviderError) -> bool:
    """Whether the account has answered others since it refused this job by the same error.

    Then the question is the trouble, and it must not stop the account for everybody again and again.
    """
    opened_at = Lane.objects.filter(name=ticket.lane).values_list("opened_at", flat=True).first()
    refused = Attempt.objects.filter(job=ticket.job, outcome=AttemptOutcome.ERROR, reason=error.reason)
    return opened_at is not None and refused.filter(ended_at__lt=opened_at).exists()


def _locked(name: str) -> tuple[Lane, datetime]:
    lane = Lane.objects.select_for_update(no_key=True).get(name=name)
    return lane, database_now()


def _repeats(lane: Lane, began: datetime, now: datetime) -> int:
    last_end = lane.cooling_until
    if last_end is None or last_end < now - REMEMBERED:
        return 0
    return lane.cooling_repeats + (began > last_end)


def _seconds(asked: float | None, repeats: int) -> float:
    own = min(FIRST_COOLING * 2.0 ** min(repeats, 16), LONGEST_COOLING)
    if asked is None:
        return own
    # Whoever says one second, and is not content after it, gets more.
    return max(asked, own) if repeats else asked


def _cool(lane: Lane, now: datetime, span: timedelta, reason: str, repeats: int) -> None:
    until, since = now + span, lane.cooling_since
    if since is not None and lane.cooling_until is not None and lane.cooling_until > until:
        until, reason = lane.cooling_until, lane.cooling_reason
    Lane.objects.filter(pk=lane.pk).update(
        cooling_since=since or now, cooling_until=until, cooling_reason=reason, cooling_repeats=repeats, probe=None
    )
    log.warning("lane %s cools until %s: %s", lane.name, until.isoformat(timespec="seconds"), reason)
