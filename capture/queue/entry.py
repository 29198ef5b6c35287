"""Into the queue: a check with all its jobs, and jobs whose time has come."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction
from django.db.models import Min

from capture import systems
from capture.models import Brand, CaptureJob, Check, Prompt, Team
from capture.models.brands import remember_competitors
from capture.models.clock import StatementTimestamp, database_now
from capture.orders import Order
from capture.providers import registry
from capture.queue.moves import AT_ONCE

log = logging.getLogger("capture.queue")


def enqueue(
    order: Order,
    team: Team,
    user: AbstractBaseUser | AnonymousUser,
    estimates: Mapping[str, Decimal],
    *,
    repeats: Check | None = None,
) -> tuple[Check, bool]:
    """Write a check with all its jobs, or find the one that the same order made before.

    Arguments:
        estimates: US dollars for one question, by provider.
        repeats: a check of the team that is asked anew; what was frozen in it stays so, whatever its brand is now.

    Returns:
        The check, and whether it is new.
    """
    with transaction.atomic():
        about = _frozen(repeats) if repeats else _remembered(order, team)
        check, created = Check.objects.get_or_create(
            team=team, submit_token=order.submit_token, defaults=about | _check_fields(order, user)
        )
        if created:
            prompts = Prompt.objects.bulk_create(_prompts(order, check))
            jobs = CaptureJob.objects.bulk_create(_jobs(order, check, prompts, estimates), batch_size=AT_ONCE)
    if created:
        log.info("check %s: jobs enqueued: %s", check.uuid, len(jobs))
    return check, created


def _remembered(order: Order, team: Team) -> dict[str, Any]:
    """The brand of an order and all names as they are now."""
    brand = Brand.objects.remember(team, order.brand)
    competitors = remember_competitors(brand, order.competitors)
    names = {"brand": brand.as_asked(), "competitors": [competitor.as_asked() for competitor in competitors]}
    return {"brand": brand, "names": names}


def _frozen(check: Check) -> dict[str, Any]:
    """The brand of a check and all names as they were when it was asked."""
    return {"brand_id": check.brand_id, "names": check.names}


def _check_fields(order: Order, user: AbstractBaseUser | AnonymousUser) -> dict[str, Any]:
    return {
        "created_by_id": user.pk,
        "providers": list(order.providers),
        "samples": order.samples,
        "country": order.country,
        "language": order.language,
    }


def _prompts(order: Order, check: Check) -> list[Prompt]:
    return [
        Prompt(
            of_check=check,
            position=position,
            text=text,
            key=Prompt.key_of(text, order.country, order.language),
            branded=order.names_brand(text),
        )
        for position, text in enumerate(order.prompts, start=1)
    ]


def _jobs(
    order: Order, check: Check, prompts: Sequence[Prompt], estimates: Mapping[str, Decimal]
) -> Iterable[CaptureJob]:
    for sample in range(1, order.samples + 1):
        for prompt in prompts:
            for slug in order.providers:
                if sample > systems.samples_of(slug, order.samples):
                    continue
                yield new_job(check, prompt.pk, slug, sample, estimates[slug])


def new_job(check: Check, prompt: int, slug: str, sample: int, estimate: Decimal) -> CaptureJob:
    """A ticket that nobody has touched, to be written."""
    return CaptureJob(
        team_id=check.team_id,
        of_check=check,
        prompt_id=prompt,
        provider=slug,
        lane=registry.by_slug[slug].lane,
        sample=sample,
        estimate=estimate,
    )


def promote_due() -> int:
    """Make jobs whose time has come claimable, a batch at a time; says how many."""
    with transaction.atomic():
        due = CaptureJob.objects.to_promote().select_for_update(skip_locked=True)[:AT_ONCE]
        return (
            CaptureJob.objects.postponed()
            .filter(pk__in=sorted(due.values_list("pk", flat=True)))
            .update(run_after=None)
        )


def seconds_until_due(names: Collection[str]) -> float | None:
    """Seconds until the next postponed job or poll of these lanes is due; None when none is to come."""
    coming = CaptureJob.objects.filter(run_after__gt=StatementTimestamp())
    waiting = coming.waiting().filter(lane__in=names).aggregate(at=Min("run_after"))["at"]
    postponed = coming.pending().aggregate(at=Min("run_after"))["at"]
    nearest = min((at for at in (waiting, postponed) if at is not None), default=None)
    return None if nearest is None else max(0.0, (nearest - database_now()).total_seconds())
