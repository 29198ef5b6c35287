"""Checks that are repeated: what people plan, and what workers make of it when it is due.

A schedule keeps its next due time. Whoever finds that it has come locks team and schedule, makes the check and writes
the next due time, all in one transaction; another that comes meanwhile passes by. What was due while no worker was
there is not caught up, and what was refused is not tried again before the next due time.
"""

from __future__ import annotations

import logging
import time
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db import InterfaceError, OperationalError, transaction
from django.utils import translation
from django.utils.translation import gettext_noop

from capture import queue, reports, systems
from capture.forms.repetition import repetition_of
from capture.models import Check, Schedule, Team
from capture.models.clock import database_now
from capture.orders import RefusedError

log = logging.getLogger(__name__)

# What could not be asked for so long is missed.
LATE = timedelta(hours=12)

# At one beat of a worker: so many are looked at, and none is begun after so many seconds.
MOST_AT_ONCE = 20
SECONDS_AT_ONCE = 0.5

MOST_WORDS = 200


def plan(check: Check, every: str, hour: int) -> Schedule | None:
    """Have a check repeated from now on, or no more; the plan is one for all checks that came of it.

    Arguments:
        every: one of `Schedule.Every`.
        hour: of the team's day.

    Returns:
        The schedule; None where there is none to switch off.

    Raises:
        Check.DoesNotExist: it was deleted meanwhile.
    """
    with transaction.atomic():
        Team.objects.lock(check.team)
        schedule = _lock(checks=check.pk) or _begin(check)
        if (schedule.every, schedule.hour) != (every, hour):
            schedule.every, schedule.hour, schedule.paused_because = every, hour, ""
            schedule.next_due = schedule.due_after(database_now())
        if schedule.pk or schedule.next_due:
            schedule.save()
            Check.objects.filter(pk=schedule.template_id).update(schedule=schedule)
    return schedule if schedule.pk else None


def _begin(check: Check) -> Schedule:
    """A schedule that is not written yet, and off; the check cannot be deleted meanwhile."""
    locked = Check.objects.select_for_update(no_key=True, of=("self",)).select_related("team").get(pk=check.pk)
    return Schedule(team=locked.team, template=locked)


def move_to_zone(team: Team) -> None:
    """Have all that a team repeats follow its time zone, which has changed."""
    with transaction.atomic():
        Team.objects.lock(team)
        for schedule in Schedule.objects.filter(team=team, next_due__isnull=False).order_by("pk"):
            if locked := _lock(pk=schedule.pk):
                locked.next_due = locked.due_after(database_now())
                locked.save(update_fields=["next_due"])


def at_upkeep(**_: Any) -> None:
    """What a worker does at its beats: connected to its signal in `AppConfig.ready`."""
    ask_due()


def ask_due(now: datetime | None = None) -> int:
    """Make the checks that are due; says how many. Any number of processes may do so at any time.

    Arguments:
        now: the time by the database's clock, if it was asked already.
    """
    now = now or database_now()
    due = Schedule.objects.due(now).asked_by(systems.configured(), now)
    found = list(due.values_list("pk", "team")[:MOST_AT_ONCE])
    begun = time.monotonic()
    made = 0
    for schedule, team in found:
        if time.monotonic() - begun < SECONDS_AT_ONCE:
            made += _ask_if_due(schedule, team, now)
    return made


def _ask_if_due(number: int, team: int, now: datetime) -> bool:
    """Make a check and write when the next one is due, or why there is none; says whether there is one."""
    with transaction.atomic():
        # Whoever has the team locked may be long about it: the next beat is soon.
        schedule = _lock(pk=number, next_due__lte=now) if Team.objects.lock_all([team], skip_locked=True) else None
        if schedule is None or schedule.next_due is None:
            return False
        due = schedule.next_due if now - schedule.next_due <= LATE else schedule.due_after(now - LATE)
        missed = due is None or due > now
        if due is not None and not missed:
            schedule.paused_because = _attempt(schedule, due)[:MOST_WORDS]
        schedule.next_due = schedule.due_after(now)
        schedule.save(update_fields=["paused_because", "next_due"])
    if missed or schedule.paused_because:
        log.warning("schedule %s: nothing asked: %s", number, schedule.paused_because or "it was too late")
    return not missed and not schedule.paused_because


def _lock(**which: Any) -> Schedule | None:
    rows = Schedule.objects.select_for_update(of=("self",))
    return rows.select_related("team", "template__brand", "template__created_by").filter(**which).first()


def _attempt(schedule: Schedule, due: datetime) -> str:
    """Ask for a check; gives why that was not possible, or nothing. No schedule ends a worker.

    The words are those of the code: who reads them has a language, and a worker has none.
    """
    try:
        with translation.override(None), transaction.atomic():
            return _ask(schedule, due)
    except (OperationalError, InterfaceError):
        raise  # the database is away, and it is still due when that is back
    except Exception:
        log.exception("schedule %s: an error of our own", schedule.pk)
        return gettext_noop("An error of AI Control itself has prevented it.")


def _ask(schedule: Schedule, due: datetime) -> str:
    template = schedule.template
    if obstacle := reports.obstacle_to(schedule):
        return obstacle
    form = repetition_of(template, f"schedule {schedule.pk} {due.isoformat()}")
    if not form.is_valid():
        return " ".join(str(error) for errors in form.errors.values() for error in errors)
    user = template.created_by or AnonymousUser()
    try:
        queue.enqueue(form.to_order(), schedule.team, user, systems.estimates(), repeats=template, due=due)
    except RefusedError as refusal:
        return str(refusal)
    return ""
