"""Taken by a worker, with the intents of what it is about to ask; and handed back."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import F

from capture import lanes, ledger
from capture.calls import Ticket
from capture.lanes import Room
from capture.models import CaptureJob, Status, compiled
from capture.models.clock import ClockTimestamp
from capture.models.jobs import JobQuerySet
from capture.queue import tickets
from capture.queue.held import take_up
from capture.queue.moves import NOBODY, say
from capture.queue.tickets import Route


class Locked(NamedTuple):
    """What has to be known of a job to take it.

    Arguments:
        placed: how many jobs hold a place in the lane, this one not among them.
    """

    id: int
    turn: int
    crashes: int
    placed: int = 0


class Chosen(NamedTuple):
    """Jobs that a claim has locked: to be looked after, and to be asked."""

    polls: list[Locked]
    starts: list[Locked]


def claim(
    lane: str, worker: UUID, routes: Mapping[str, Route], seats: int, *, crashed: bool = True, polls: bool = True
) -> list[Ticket]:
    """Take as many jobs of a lane as there are free seats and the lane has room for.

    Polls that are due go first; they hold a place in the lane already. All others are to be asked now, and their
    intents are committed with the claim: what this returns, and nothing else, may be sent.

    Arguments:
        routes: to the AI systems that this worker can ask, by slug.
        seats: how many it can seat now.
        crashed: whether one of them may be a job whose worker has died before.
        polls: whether any call may be due to be looked after; who has just seen that none is saves the question.

    Raises:
        lanes.LaneBusyError: another claimer is at the lane now; nothing was waited for.
    """
    claimed = _claim(lane, worker, routes, seats, crashed, polls)
    for ticket in claimed:
        say(ticket, "claimed" if ticket.remote_id else "started")
    return claimed


def _claim(
    lane: str, worker: UUID, routes: Mapping[str, Route], seats: int, crashed: bool, polls: bool
) -> list[Ticket]:
    token = uuid4()
    with transaction.atomic():
        room = lanes.lock(lane)
        room = room if polls else replace(room, polls=False)
        jobs = (_probe if room.probe else _choose)(room, routes, seats, crashed)
        if not any(jobs):
            return []
        lanes.note_claim(room, [job.turn for job in jobs.starts], token)
        starts = [job.id for job in jobs.starts]
        taken = tickets.take([job.id for job in jobs.polls], starts, worker, token, routes, probe=room.probe)
        for number in set(starts) - {ticket.job for ticket in taken}:
            _look_after_instead(CaptureJob.objects.filter(pk=number, claim_token=token))
    return taken


def _look_after_instead(claimed: JobQuerySet) -> None:
    """A call of a job has become known that was given up: nothing is started anew."""
    (number,) = claimed.values_list("pk", flat=True)
    claimed.update(status=Status.PENDING, attempts=F("attempts") - 1, **NOBODY)
    take_up(number)


def _choose(room: Room, slugs: Collection[str], seats: int, crashed: bool) -> Chosen:
    polls = _polls(room, slugs, seats, crashed)
    crashed = crashed and not any(job.crashes for job in polls)
    return Chosen(polls, _starts(room, slugs, seats - len(polls), crashed))


def _probe(room: Room, slugs: Collection[str], seats: int, crashed: bool) -> Chosen:
    """One call. Best a start: a system that refuses to start calls may still let them be looked after."""
    starts = _starts(room, slugs, 1, crashed)
    return Chosen([], starts) if starts else Chosen(_polls(room, slugs, 1, crashed), [])


def _polls(room: Room, slugs: Collection[str], most: int, crashed: bool) -> list[Locked]:
    return _lock(_to_poll, room, slugs, most, crashed) if room.polls else []


def _starts(room: Room, slugs: Collection[str], most: int, crashed: bool) -> list[Locked]:
    """As many as the lane has places for: they are counted where the jobs are locked, which spares a statement."""
    jobs = _lock(_to_start, room, slugs, most, crashed) if room.starts else []
    return jobs[: room.places(jobs[0].placed)] if jobs else []


def _lock(make: compiled.Make, room: Room, slugs: Collection[str], most: int, crashed: bool) -> list[Locked]:
    """Lock the first of some jobs, as far as nobody else has them."""
    rows = compiled.fetch(make, room.lane.name, tuple(slugs), most, crashed) if most > 0 else []
    return [Locked(*row) for row in rows]


def _to_poll(lane: str, slugs: Collection[str], most: int, crashed: bool) -> Any:
    return _first(CaptureJob.objects.to_poll(lane, slugs), most, crashed).values_list("id", "turn", "crashes")


def _to_start(lane: str, slugs: Collection[str], most: int, crashed: bool) -> Any:
    first = _first(CaptureJob.objects.to_start(lane, slugs), most, crashed)
    return first.values_list("id", "turn", "crashes", lanes.placed_in(lane))


def _first(jobs: JobQuerySet, most: int, crashed: bool) -> Any:
    free = jobs.one_crashed_at_most(allowed=crashed).select_for_update(skip_locked=True, of=("self",), no_key=True)
    return free[:most]


def release(ticket: Ticket) -> bool:
    """Hand back a call that is only being looked after: it is due again, for anybody."""
    mine = CaptureJob.objects.filter(pk=ticket.job, claim_token=ticket.token)
    # If the reply to this COMMIT was lost, it stands as this leaves it.
    back = CaptureJob.objects.waiting().filter(pk=ticket.job, remote_id=ticket.remote_id)
    return _let_go(mine) > 0 or back.exists()


def release_strays(worker: UUID, held: Collection[UUID]) -> int:
    """Hand back claims in a worker's name that it does not know, since the reply to its COMMIT was lost.

    Nothing was sent for them, as a worker sends only what it knows; so an attempt that was begun there was none.

    Arguments:
        held: tokens of the claims that it does know.
    """
    strays = CaptureJob.objects.filter(worker=worker).exclude(claim_token__in=held)
    let_go = _let_go(strays)
    with transaction.atomic():
        unsent = strays.filter(status=Status.RUNNING).order_by("pk").select_for_update(of=("self",), no_key=True)
        jobs = list(unsent.values_list("pk", flat=True))
        if jobs:
            ledger.withdraw_attempts(jobs)
            CaptureJob.objects.filter(pk__in=jobs).update(status=Status.PENDING, attempts=F("attempts") - 1, **NOBODY)
    return let_go + len(jobs)


def _let_go(claims: JobQuerySet) -> int:
    """Of some claims, those of calls in hand: they are due to be looked after again."""
    claimed = claims.filter(status=Status.CLAIMED)
    return claimed.update(status=Status.WAITING, run_after=ClockTimestamp(), **NOBODY)
