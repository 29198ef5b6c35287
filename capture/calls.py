"""One exchange for a seat: ticket in, result out, with what the analysis reads in an answer.

Knows no Django; runs in a worker's threads.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from decimal import Decimal
from uuid import UUID

from capture.analysis.reading import Reading, Watch, read
from capture.providers.base import Provider
from capture.providers.replies import Answered, Kind, Pending, ProviderError, Question, Reply

log = logging.getLogger(__name__)

BUG = "bug"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a job comes from, none of which changes while somebody holds it.

    Arguments:
        team: and the others that are numbers are those of rows.
        key: the same for the same question in every check.
        estimate: US dollars, which count until a charge is known.
    """

    team: int
    check: int
    check_uuid: UUID
    brand: int
    prompt: int
    key: str
    sample: int
    estimate: Decimal


@dataclass(frozen=True, slots=True)
class Ticket:
    """A job as a seat and the loop see it.

    Arguments:
        job: its number.
        origin: where it comes from.
        token: proves that the holder still holds it.
        attempt: id of the attempt that is to be started, or that is live.
        question: what is asked; its `run` is the attempt's id.
        remote_id: the live call to be polled, or None when one is to be started.
        base_url: where the live call was started; empty before.
        simulated: the live call was started at the simulator.
        attempts: start calls so far, this one included.
        unknowns: earlier attempts whose outcome nobody knows.
        polls: looks at the live call, this one included.
        age: seconds since the live call was started, at the time of the claim.
        crashed: a worker has died with this job in its hands before.
        probe: its reply tells whether a lane that has cooled is open again.
        watch: whom to look for in the answer; without it the answer is read later.
    """

    job: int
    origin: Origin
    token: UUID
    provider: str
    lane: str
    attempt: UUID
    question: Question
    remote_id: str | None
    base_url: str
    simulated: bool
    attempts: int
    unknowns: int
    polls: int
    age: float
    crashed: bool = False
    probe: bool = False
    watch: Watch | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """What came back for a ticket.

    Arguments:
        seconds: that the exchange took.
        began: when it began, by the monotonic clock.
        reading: what stands in an answer; None where there is none, or where it is left to be read later.
    """

    ticket: Ticket
    came: Reply | ProviderError
    seconds: float
    began: float = field(default_factory=time.monotonic)
    reading: Reading | None = None


@dataclass(frozen=True, slots=True)
class Resolved:
    """Where a source's redirect leads; `url` is None when that could not be found out."""

    attempt: UUID
    redirect: str
    url: str | None


def resolve(provider: Provider, attempt: UUID, redirect: str) -> Resolved:
    """Find out where a source of an answer is. Never raises; there is one try, since nothing depends on it."""
    try:
        return Resolved(attempt, redirect, provider.resolve(redirect))
    except Exception:
        log.exception("attempt %s: an error of our own with a source", attempt)
        return Resolved(attempt, redirect, None)


def exchange(provider: Provider, ticket: Ticket) -> Result:
    """Start the ticket's call or look after it. Never raises."""
    began = time.monotonic()
    came = _reply_or_error(provider, ticket)
    if isinstance(came, Pending) and ticket.remote_id is None:
        # Before anything else can go wrong, the id is somewhere.
        log.info(
            "job %s %s: remote id %s of attempt %s",
            ticket.job,
            ticket.provider,
            came.remote_id,
            ticket.attempt,
            extra={"job": ticket.job},
        )
    seconds = time.monotonic() - began
    return Result(ticket, came, seconds, began, reading_of(ticket, came))


def reading_of(ticket: Ticket, came: Reply | ProviderError) -> Reading | None:
    """Whom an answer names. Never raises: an answer that cannot be read is kept all the same."""
    if ticket.watch is None or not isinstance(came, Answered):
        return None
    try:
        return read(came.text, ticket.watch)
    except Exception:
        log.exception("job %s %s: its answer cannot be read", ticket.job, ticket.provider, extra={"job": ticket.job})
        return None


def _reply_or_error(provider: Provider, ticket: Ticket) -> Reply | ProviderError:
    try:
        if ticket.remote_id is None:
            return provider.start(ticket.question)
        if ticket.base_url != provider.account.base_url:
            return _asked_elsewhere(ticket)
        return provider.poll(ticket.remote_id)
    except ProviderError as error:
        return error
    except Exception as exception:
        log.exception("job %s %s: an error of our own", ticket.job, ticket.provider, extra={"job": ticket.job})
        # The question may already have been sent when our own code failed.
        return own_error(exception, maybe_charged=ticket.remote_id is None)


def own_error(exception: Exception, *, maybe_charged: bool = False) -> ProviderError:
    """An error of our own, as a job can end by it; its text may hold anything, so only its name is kept."""
    message = f"an error of AI Control itself ({type(exception).__name__})"
    return ProviderError(Kind.TRANSIENT, BUG, message, maybe_charged=maybe_charged)


def _asked_elsewhere(ticket: Ticket) -> ProviderError:
    """An id means something only where it was given out, and a key belongs to one address."""
    message = f"the call was started at {ticket.base_url}, which is not the address in use now"
    # A simulator that is no longer in use takes its calls along; nothing was paid for them.
    return ProviderError(Kind.TRANSIENT, "elsewhere", message, ended=ticket.simulated)
