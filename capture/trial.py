"""One question to one system outside the queue: how a newcomer tries a key. Stores nothing."""

from __future__ import annotations

import time
from collections.abc import Callable

from capture.providers.base import Provider
from capture.providers.replies import FinalReply, Kind, Pending, ProviderError, Question
from capture.retry import QUICKEST_POLL, poll_pace

PATIENCE = 600.0  # seconds


def ask(
    provider: Provider,
    question: Question,
    *,
    patience: float = PATIENCE,
    sleep: Callable[[float], object] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> FinalReply:
    """Ask, and look after the call until it ends.

    Arguments:
        patience: seconds after which the call is left to itself.
        sleep, clock: for tests.

    Raises:
        ProviderError: the system refused or failed, or took too long.
    """
    end = clock() + patience
    reply = provider.start(question)
    polls = 0
    while isinstance(reply, Pending):
        if clock() >= end:
            message = f"no answer yet to call {reply.remote_id}, which goes on"
            raise ProviderError(Kind.TRANSIENT, "timeout", message, maybe_charged=True)
        pace = poll_pace(polls, 0) if reply.after is None else max(reply.after, QUICKEST_POLL)
        sleep(min(pace, max(end - clock(), 0)))
        polls += 1
        reply = _look(provider, reply)
    return reply


def _look(provider: Provider, pending: Pending) -> Pending | FinalReply:
    try:
        return provider.poll(pending.remote_id)
    except ProviderError as error:
        if error.ended:
            raise
        if error.kind is Kind.FATAL:
            # Whoever tries a key wants to know; the call itself may well be live, and be charged.
            error.maybe_charged = True
            raise
        return Pending(pending.remote_id, error.wait)
