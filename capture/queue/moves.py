"""What all moves share: a job in nobody's hands, batches, and the line that each move writes."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from capture.calls import Ticket

log = logging.getLogger("capture.queue")

# Rows in one statement or transaction.
AT_ONCE = 500

# No worker holds the job.
NOBODY: Mapping[str, Any] = {"worker": None, "claim_token": None}


def told(ticket: Ticket, what: str, done: bool) -> bool:
    """Write one line for a transition, or that there was none; gives back whether there was."""
    if done:
        say(ticket, what)
    else:
        log.warning("job %s %s: no longer held; not %s", ticket.job, ticket.provider, what, extra={"job": ticket.job})
    return done


def say(ticket: Ticket, what: str) -> None:
    log.info("job %s %s attempt %s: %s", ticket.job, ticket.provider, ticket.attempts, what, extra={"job": ticket.job})
