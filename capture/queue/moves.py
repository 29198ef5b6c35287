"""What all moves share: a job in nobody's hands, batches, and the line that each move writes."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection

from capture.calls import Ticket

log = logging.getLogger("capture.queue")

# Rows in one statement or transaction.
AT_ONCE = 500

# No worker holds the job.
NOBODY: Mapping[str, Any] = {"worker": None, "claim_token": None}

# Begins a statement that moves several jobs which are still in their tickets' hands. They are locked in the order of
# their numbers, as everywhere, and whoever waits for one sees it as it is then.
HELD = """
    WITH held AS (
        SELECT job.id, ticket.token FROM capture_capturejob job
        JOIN unnest(%(jobs)s::bigint[], %(tokens)s::uuid[]) AS ticket (job, token)
            ON job.id = ticket.job AND job.claim_token = ticket.token
        ORDER BY job.id
        FOR NO KEY UPDATE OF job
    )
"""


def move_held(statement: str, tickets: Sequence[Ticket]) -> list[Ticket]:
    """Move the jobs of those tickets that hold them; gives back these tickets.

    Arguments:
        statement: an UPDATE of those that are `held`, which returns their numbers and tokens.
    """
    held: dict[str, Any] = {"jobs": [ticket.job for ticket in tickets], "tokens": [ticket.token for ticket in tickets]}
    with connection.cursor() as cursor:
        cursor.execute(HELD + statement, held)
        moved = set(cursor.fetchall())
    # Of two tickets of one job, one is from before it was lost.
    return [ticket for ticket in tickets if (ticket.job, ticket.token) in moved]


def told(ticket: Ticket, what: str, done: bool) -> bool:
    """Write one line for a transition, or that there was none; gives back whether there was."""
    if done:
        say(ticket, what)
    else:
        log.warning("job %s %s: no longer held; not %s", ticket.job, ticket.provider, what, extra={"job": ticket.job})
    return done


def say(ticket: Ticket, what: str) -> None:
    log.info("job %s %s attempt %s: %s", ticket.job, ticket.provider, ticket.attempts, what, extra={"job": ticket.job})
