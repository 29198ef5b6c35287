"""Into the queue: a check with all its jobs, and jobs whose time has come."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction

from capture import systems
from capture.models import Brand, CaptureJob, Check, Prompt, Team
from capture.models.brands import remember_competitors
from capture.notifications import notify
from capture.orders import Order
from capture.providers import registry
from capture.queue.moves import AT_ONCE

log = logging.getLogger("capture.queue")


def enqueue(
    order: Order, team: Team, user: AbstractBaseUser | AnonymousUser, estimates: Mapping[str, Decimal]
) -> tuple[Check, bool]:
    """Write a check with all its jobs, or find the one that the same order made before.

    Arguments:
        estimates: US dollars for one question, by provider.

    Returns:
        The check, and whether it is new.
    """
    with transaction.atomic():
        brand = Brand.objects.remember(team, order.brand)
        check, created = Check.objects.get_or_create(
            team=team, submit_token=order.submit_token, defaults=_check_fields(order, brand, user)
        )
        if created:
            prompts = Prompt.objects.bulk_create(_prompts(order, check))
            jobs = CaptureJob.objects.bulk_create(_jobs(order, check, prompts, estimates), batch_size=AT_ONCE)
            notify()
    if created:
        log.info("check %s: jobs enqueued: %s", check.uuid, len(jobs))
    return check, created


def _check_fields(order: Order, brand: Brand, user: AbstractBaseUser | AnonymousUser) -> dict[str, Any]:
    competitors = remember_competitors(brand, order.competitors)
    return {
        "brand": brand,
        "created_by_id": user.pk,
        "names": {"brand": brand.as_asked(), "competitors": [competitor.as_asked() for competitor in competitors]},
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
                yield CaptureJob(
                    team_id=check.team_id,
                    of_check=check,
                    prompt=prompt,
                    provider=slug,
                    lane=registry.by_slug[slug].lane,
                    sample=sample,
                    estimate=estimates[slug],
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
