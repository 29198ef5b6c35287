"""Into the queue: a check with all its jobs, and jobs whose time has come."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import connection, transaction

from capture import budgets, systems, throttle
from capture.analysis.mentions import find_mentions
from capture.models import Brand, CaptureJob, Check, Prompt, Team
from capture.models.brands import remember_competitors
from capture.notifications import notify
from capture.orders import Order
from capture.providers import registry
from capture.queue.moves import AT_ONCE
from capture.turns import Turns

log = logging.getLogger("capture.queue")

# What differs between new jobs; all else is as the model has it by default.
OF_NEW = (
    *("team_id", "of_check_id", "prompt_id", "provider", "lane", "sample", "turn", "estimate"),
    *("tried_before", "spent_before"),
)
WRITE_NEW = """
    INSERT INTO capture_capturejob (
        team_id, of_check_id, prompt_id, provider, lane, sample, turn, estimate, tried_before, spent_before,
        status, polls, attempts, unknowns, crashes, reason
    )
    SELECT job.*, 'pending', 0, 0, 0, 0, ''
    FROM unnest(
        %s::bigint[], %s::bigint[], %s::bigint[], %s::text[], %s::text[], %s::smallint[], %s::bigint[], %s::numeric[],
        %s::smallint[], %s::numeric[]
    ) AS job
"""


def enqueue(
    order: Order,
    team: Team,
    user: AbstractBaseUser | AnonymousUser,
    estimates: Mapping[str, Decimal],
    *,
    repeats: Check | None = None,
    due: datetime | None = None,
    most_a_minute: int | None = None,
) -> tuple[Check, bool]:
    """Write a check with all its jobs, or find the one that the same order made before.

    Arguments:
        estimates: US dollars for one question, by provider.
        repeats: a check of the team that is asked anew; what was frozen in it stays so, whatever its brand is now.
        due: which turn of the schedule of that check this is, if it is one.
        most_a_minute: so many checks may people of the team start; None for what nobody presses a button for.

    Returns:
        The check, and whether it is new.

    Raises:
        OverBudgetError: it would cost more than the team has left; nothing is written.
        TooManyChecksError: the team has started as many as it may; nothing is written.
    """
    with transaction.atomic():
        _refuse_too_much(order, team, estimates, most_a_minute)
        about = _frozen(repeats, due) if repeats else _remembered(order, team)
        check, created = Check.objects.get_or_create(
            team=team, submit_token=order.submit_token, defaults=about | _check_fields(order, user)
        )
        if created:
            prompts = Prompt.objects.bulk_create(_prompts(order, check))
            jobs = list(_jobs(order, check, prompts, estimates))
            write_new(jobs)
            notify()
    if created:
        log.info("check %s: jobs enqueued: %s", check.uuid, len(jobs))
    return check, created


def _refuse_too_much(order: Order, team: Team, estimates: Mapping[str, Decimal], most_a_minute: int | None) -> None:
    """An order that has made its check already is not counted twice; under the lock that is certain."""
    locked = Team.objects.lock(team)
    if not Check.objects.of_team(team).filter(submit_token=order.submit_token).exists():
        if most_a_minute is not None:
            throttle.count_one(locked, most_a_minute)
        budgets.require(team, systems.cost(len(order.prompts), order.providers, order.samples, estimates))


def _remembered(order: Order, team: Team) -> dict[str, Any]:
    """The brand of an order and all names as they are now."""
    brand = Brand.objects.remember(team, order.brand)
    competitors = remember_competitors(brand, order.competitors)
    names = {"brand": brand.as_asked(), "competitors": [competitor.as_asked() for competitor in competitors]}
    return {"brand": brand, "names": names}


def _frozen(check: Check, due: datetime | None) -> dict[str, Any]:
    """The brand of a check and all names as they were when it was asked."""
    turn = {"schedule_id": check.schedule_id, "due": due} if due else {}
    return {"brand_id": check.brand_id, "names": check.names, **turn}


def _check_fields(order: Order, user: AbstractBaseUser | AnonymousUser) -> dict[str, Any]:
    return {
        "created_by_id": user.pk,
        "providers": list(order.providers),
        "samples": order.samples,
        "country": order.country,
        "language": order.language,
    }


def _prompts(order: Order, check: Check) -> list[Prompt]:
    brand, *_ = check.entities()
    return [
        Prompt(
            of_check=check,
            position=position,
            text=text,
            key=Prompt.key_of(text, order.country, order.language),
            branded=bool(find_mentions(text, [brand])),
        )
        for position, text in enumerate(order.prompts, start=1)
    ]


def _jobs(
    order: Order, check: Check, prompts: Sequence[Prompt], estimates: Mapping[str, Decimal]
) -> Iterator[CaptureJob]:
    dealt = Turns()
    for sample in range(1, order.samples + 1):
        for prompt in prompts:
            for slug in order.providers:
                if sample > systems.samples_of(slug, order.samples):
                    continue
                turn = dealt.deal(check.team_id, registry.by_slug[slug].lane)
                yield new_job(check, prompt.pk, slug, sample, estimates[slug], turn)


def new_job(check: Check, prompt: int, slug: str, sample: int, estimate: Decimal, turn: int) -> CaptureJob:
    """A ticket that nobody has touched, to be written."""
    return CaptureJob(
        team_id=check.team_id,
        of_check=check,
        prompt_id=prompt,
        provider=slug,
        lane=registry.by_slug[slug].lane,
        turn=turn,
        sample=sample,
        estimate=estimate,
    )


def write_new(jobs: Sequence[CaptureJob]) -> None:
    """Write tickets that nobody has touched, in one statement with an array for each column.

    With a placeholder for each value, 500 jobs would be 11,000 of them, of which each is written, parsed and planned.
    """
    columns = [[getattr(job, column) for job in jobs] for column in OF_NEW]
    with connection.cursor() as cursor:
        cursor.execute(WRITE_NEW, columns)


def promote_due() -> int:
    """Make jobs whose time has come claimable, a batch at a time; says how many.

    Each gets its team's next turn: with the old one, many that come back at once would go before all newcomers.
    """
    owners = set(CaptureJob.objects.to_promote().values_list("team", flat=True)[:AT_ONCE])
    if not owners:
        return 0
    with transaction.atomic():
        teams = Team.objects.lock_all(owners, skip_locked=True)
        due = CaptureJob.objects.to_promote().filter(team__in=teams)
        jobs = list(due.select_for_update(skip_locked=True, no_key=True)[:AT_ONCE])
        dealt = Turns()
        for job in jobs:
            job.turn, job.run_after = dealt.deal(job.team_id, job.lane), None
        return CaptureJob.objects.bulk_update(jobs, ["turn", "run_after"])
