"""Intents: before anything is sent for a job, that is written down and committed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from capture import ledger
from capture.calls import Ticket
from capture.models import Status
from capture.providers.base import Account
from capture.queue.held import move, take_up
from capture.queue.moves import NOBODY, move_held, told

START = """
    UPDATE capture_capturejob job
    SET status = 'running', attempts = ticket.attempts, polls = 0, asked_at = clock_timestamp(), reason = ''
    FROM held
    JOIN unnest(%(jobs)s::bigint[], %(tokens)s::uuid[], %(attempts)s::smallint[]) AS ticket (job, token, attempts)
        ON ticket.job = held.id AND ticket.token = held.token
    WHERE job.id = held.id
    RETURNING job.id, held.token
"""


@dataclass(frozen=True, slots=True)
class Intent:
    """A call that is about to be started.

    Arguments:
        account: whom it is asked of.
        patience: seconds after which its exchange is over, one way or the other.
    """

    ticket: Ticket
    account: Account
    patience: float


def start(ticket: Ticket, worker: UUID, account: Account, patience: float) -> bool:
    """Commit the intent to send: nothing may be sent for a job before this has returned True."""
    return ticket.attempt in start_all([Intent(ticket, account, patience)], worker)


def start_all(intents: Sequence[Intent], worker: UUID) -> set[UUID]:
    """Commit intents to send, all at once. Says which attempts may be sent; nothing may be sent for the others.

    A call of a job that has become known in the meantime is looked after instead.
    """
    tickets = [intent.ticket for intent in intents]
    with transaction.atomic():
        held = move_held(START, tickets, attempts=[ticket.attempts for ticket in tickets])
        mine = [intent for intent in intents if intent.ticket in held]
        begun = ledger.begin_attempts([(each.ticket, each.account, each.patience) for each in mine], worker)
        for ticket in (each.ticket for each in mine if each.ticket.attempt not in begun):
            if ledger.live_call(ticket.job):
                move(ticket, status=Status.PENDING, attempts=ticket.attempts - 1, **NOBODY)
                take_up(ticket.job)
            else:
                begun.add(ticket.attempt)  # once more, as the reply to a COMMIT was lost
    return {ticket.attempt for ticket in tickets if told(ticket, "started", ticket.attempt in begun)}
