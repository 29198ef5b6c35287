"""Builders of rows for tests: small functions with defaults that a test overrides where it cares."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User

from capture import calls, queue
from capture.analysis.mentions import MATCHER_VERSION
from capture.calls import Ticket
from capture.models import Capture, CaptureJob, Check, Team
from capture.orders import Order
from capture.providers import registry
from capture.providers.base import Account
from capture.providers.replies import Answered, Basis, Cost, Kind, ProviderError, Source

_numbers = itertools.count(1)

WORKER = UUID(int=1)
ACCOUNT = Account(api_key="simulated", base_url="http://127.0.0.1:9/x", simulated=True)
FOR_MONEY = Account(api_key="sk-test", base_url="https://systems.example/x", simulated=False)
PATIENCE = 45.0
ESTIMATES = dict.fromkeys(registry.by_slug, Decimal("0.02"))


def make_user(name: str = "", **fields: Any) -> User:
    return get_user_model().objects.create_user(name or f"user{next(_numbers)}", password="secret", **fields)


def make_team(user: User | None = None) -> Team:
    return Team.objects.of(user or make_user())


def make_order(**fields: Any) -> Order:
    usual: dict[str, Any] = {
        "brand": "Northwind",
        "competitors": ("Contoso",),
        "prompts": ("Which espresso machine is best?",),
        "providers": ("chatgpt",),
        "nonce": f"nonce{next(_numbers)}",
    }
    return Order(**usual | fields)


def prompts(count: int) -> tuple[str, ...]:
    """So many questions, each another one."""
    return tuple(f"{number}?" for number in range(count))


def make_check(user: User | None = None, **fields: Any) -> Check:
    """A check as it is just after Check was pressed: every job is pending."""
    user = user or make_user()
    check, _ = queue.enqueue(make_order(**fields), Team.objects.of(user), user, ESTIMATES)
    return check


def make_job(**fields: Any) -> CaptureJob:
    """A pending job of a check of its own."""
    return make_check(**fields).jobs.get()


def routes(
    slugs: Collection[str] = (), account: Account = ACCOUNT, patience: float = PATIENCE
) -> dict[str, queue.Route]:
    """To these AI systems, or to all."""
    return dict.fromkeys(slugs or registry.by_slug, queue.Route(account, patience))


def claim(
    lane: str = "openai",
    seats: int = 8,
    worker: UUID = WORKER,
    slugs: Collection[str] = (),
    account: Account = ACCOUNT,
) -> list[Ticket]:
    """Bring pending jobs to RUNNING; what is due to be looked after is CLAIMED."""
    return queue.claim(lane, worker, routes(slugs, account), seats)


def hand_back() -> None:
    """Bring what was claimed to be started, and of which nothing was sent, to PENDING."""
    queue.release_strays(WORKER, [])


def claim_one(job: CaptureJob, account: Account = ACCOUNT) -> Ticket:
    """Claim in the job's lane; the job has to be the only one there that can be claimed."""
    (ticket,) = claim(job.lane, account=account)
    assert ticket.job == job.pk
    return ticket


def answer(text: str = "Northwind is liked by many.", **fields: Any) -> Answered:
    usual: dict[str, Any] = {
        "sources": (Source("https://reviews.example/a", "https://reviews.example/a", "Reviews", cited=True),),
        "model": "gpt-test",
        "cost": Cost(Decimal("0.013"), Basis.COMPUTED),
    }
    return Answered(text=text, **usual | fields)


def complete_one(job: CaptureJob, text: str = "Northwind is liked by many.", **fields: Any) -> None:
    """Bring a pending job to DONE with an answer."""
    finish(claim_one(job), answer(text, **fields))


def finish(ticket: Ticket, reply: Answered) -> None:
    """End a ticket's call with an answer, read as a seat reads it."""
    assert queue.complete(ticket, reply, calls.reading_of(ticket, reply))


def read_as(capture: Capture, *keys: str) -> None:
    """Let an answer name these, in this order, by the names as they were when it was asked."""
    capture.matcher = MATCHER_VERSION
    capture.named = [
        {"key": key, "start": place, "end": place + 1, "words": "x", "hits": 1, "flags": []}
        for place, key in enumerate(keys)
    ]
    capture.save(update_fields=["matcher", "named"])


def error(reason: str = "server_error", *, kind: Kind = Kind.TRANSIENT, **fields: Any) -> ProviderError:
    return ProviderError(kind, reason, "something went wrong", **fields)


def unknown_error() -> ProviderError:
    return error("timeout", maybe_charged=True)


def fresh(job: CaptureJob) -> CaptureJob:
    """The job as it stands in the database now."""
    return CaptureJob.objects.get(pk=job.pk)


def stranger() -> UUID:
    return uuid4()
