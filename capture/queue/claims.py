"""Taken by a worker, and handed back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from django.db import transaction

from capture import lanes, ledger
from capture.calls import Ticket
from capture.lanes import Room
from capture.models import CaptureJob, Status, compiled
from capture.models.clock import ClockTimestamp
from capture.models.jobs import JobQuerySet
from capture.queue import tickets
from capture.queue.moves import NOBODY, say


class Locked(NamedTuple):
    """What has to be known of a job to take it."""

    id: int
    turn: int
    remote_id: str | None
    crashes: int


def claim(
    lane: str, worker: UUID, slugs: Collection[str], seats: int, *, crashed: bool = True, polls: bool = True
) -> list[Ticket]:
    """Take as many jobs of a lane as there are free seats and the lane has room for.

    Polls that are due go first; they hold a place in the lane already.
    Arguments:
        slugs: the AI systems that this worker can ask.
        seats: how many it can seat now.
        crashed: whether one of them may be a job whose worker has died before.
        polls: whether any call may be due to be looked after; who has just seen that none is saves the question.

    Raises:
        lanes.LaneBusyError: another claimer is at the lane now; nothing was waited for.
    """
    claimed = _claim(lane, worker, slugs, seats, crashed, polls)
    for ticket in claimed:
        say(ticket, "claimed")
    return claimed


def _claim(lane: str, worker: UUID, slugs: Collection[str], seats: int, crashed: bool, polls: bool) -> list[Ticket]:
    token = uuid4()
    with transaction.atomic():
        room = lanes.lock(lane)
        room = room if polls else replace(room, polls=False)
        jobs = _probe(room, slugs, crashed) if room.probe else _choose(room, slugs, seats, crashed)
        if not jobs:
            return []
        lanes.note_claim(room, [job.turn for job in jobs if job.remote_id is None], token)
        return tickets.take([job.id for job in jobs], worker, token, probe=room.probe)


def _choose(room: Room, slugs: Collection[str], seats: int, crashed: bool) -> list[Locked]:
    jobs = _polls(room, slugs, seats, crashed)
    crashed = crashed and not any(job.crashes for job in jobs)
    return jobs + _starts(room, slugs, seats - len(jobs), crashed)


def _probe(room: Room, slugs: Collection[str], crashed: bool) -> list[Locked]:
    """One call. Best a start: a system that refuses to start calls may still let them be looked after."""
    return _starts(room, slugs, 1, crashed) or _polls(room, slugs, 1, crashed)


def _polls(room: Room, slugs: Collection[str], most: int, crashed: bool) -> list[Locked]:
    return _lock(_to_poll, room, slugs, most, crashed) if room.polls else []


def _starts(room: Room, slugs: Collection[str], most: int, crashed: bool) -> list[Locked]:
    return _lock(_to_start, room, slugs, min(room.starts, most), crashed)


def _lock(make: compiled.Make, room: Room, slugs: Collection[str], most: int, crashed: bool) -> list[Locked]:
    """Lock the first of some jobs, as far as nobody else has them."""
    rows = compiled.fetch(make, room.lane.name, tuple(slugs), most, crashed) if most > 0 else []
    return [Locked(*row) for row in rows]


def _to_poll(lane: str, slugs: Collection[str], most: int, crashed: bool) -> Any:
    return _first(CaptureJob.objects.to_poll(lane, slugs), most, crashed)


def _to_start(lane: str, slugs: Collection[str], most: int, crashed: bool) -> Any:
    return _first(CaptureJob.objects.to_start(lane, slugs), most, crashed)


def _first(jobs: JobQuerySet, most: int, crashed: bool) -> Any:
    free = jobs.one_crashed_at_most(allowed=crashed).select_for_update(skip_locked=True, of=("self",), no_key=True)
    return free.values_list(*Locked._fields)[:most]


def release(ticket: Ticket) -> bool:
    """Hand back a job for which nothing was sent, or which is only being looked after.

    A start that was committed and not sent, since the reply to its COMMIT was lost, is taken back.
    """
    mine = CaptureJob.objects.filter(pk=ticket.job, claim_token=ticket.token)
    with transaction.atomic():
        if ticket.remote_id is None and mine.filter(status=Status.RUNNING).update(
            status=Status.PENDING, attempts=ticket.attempts - 1, **NOBODY
        ):
            ledger.withdraw_attempt(ticket.attempt)
            return True
        return _hand_back(mine) > 0 or _is_back(ticket)


def _is_back(ticket: Ticket) -> bool:
    """Whether the job stands as its release leaves it, since the reply to that COMMIT was lost."""
    job = CaptureJob.objects.filter(pk=ticket.job)
    if ticket.remote_id is None:
        return job.pending().filter(attempts=ticket.attempts - 1).exists()
    return job.waiting().filter(remote_id=ticket.remote_id).exists()


def release_strays(worker: UUID, held: Collection[UUID]) -> int:
    """Hand back claims in a worker's name that it does not know, since the reply to its COMMIT was lost.

    Arguments:
        held: tokens of the claims that it does know.
    """
    return _hand_back(CaptureJob.objects.filter(worker=worker).exclude(claim_token__in=held))


def _hand_back(claims: JobQuerySet) -> int:
    """A claim to start goes back in line, a claim to poll is due again; RUNNING is neither and stays."""
    claimed = claims.filter(status=Status.CLAIMED)
    to_start = claimed.filter(remote_id__isnull=True).update(status=Status.PENDING, **NOBODY)
    to_poll = claimed.filter(remote_id__isnull=False).update(
        status=Status.WAITING, run_after=ClockTimestamp(), **NOBODY
    )
    return to_start + to_poll
