"""By a person: places of a check without an answer are asked once more, also where their tickets are gone."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from capture import budgets, systems
from capture.models import Capture, CaptureJob, Check, Outcome, Team
from capture.notifications import notify
from capture.providers import registry
from capture.queue.entry import new_job, write_new
from capture.queue.people import may_be_asked_again, requeue
from capture.turns import Turns

log = logging.getLogger("capture.queue")

Place = tuple[int, str, int]
PLACE = ("prompt_id", "provider", "sample")


def requeue_places(check: Check, places: Collection[Place], estimates: Mapping[str, Decimal]) -> int:
    """Ask places of a check again that have no answer and are not open; says how many.

    A ticket that cleanup has taken is made anew, with attempts afresh. Called twice, it does nothing the second time.

    Arguments:
        estimates: US dollars for one question, by the systems that can be asked; other systems' places are left out.

    Raises:
        Check.DoesNotExist: it was deleted meanwhile.
        OverBudgetError: it would cost more than the team has left; nothing is asked.
    """
    wanted = {place for place in places if place[1] in estimates}
    with transaction.atomic():
        Team.objects.lock_all([check.team_id])
        # Of two at once the second waits here, and finds what the first has made; a deletion waits, too.
        Check.objects.select_for_update(no_key=True).get(pk=check.pk)
        tickets = _tickets(check)
        again = may_be_asked_again(
            CaptureJob.objects.filter(pk__in=[tickets[place] for place in wanted & tickets.keys()])
        )
        kept = {_place(capture): capture for capture in Capture.objects.filter(of_check=check).defer("text")}
        answered = {place for place, capture in kept.items() if capture.outcome == Outcome.ANSWERED}
        gone = {place: kept.get(place) for place in sorted(wanted - tickets.keys() - answered)}
        budgets.require(check.team, budgets.expected(again) + _cost(gone, estimates), _("Asking again"))
        asked = requeue(again) + _make_anew(check, gone, estimates)
    log.info("check %s: asked again: %s jobs, %s of them made anew", check.uuid, asked, len(gone))
    return asked


def _tickets(check: Check) -> dict[Place, int]:
    found = CaptureJob.objects.filter(of_check=check).values_list("pk", *PLACE)
    return {(prompt, slug, sample): job for job, prompt, slug, sample in found}


def _cost(places: Collection[Place], estimates: Mapping[str, Decimal]) -> Decimal:
    free = systems.simulated()
    return sum((estimates[slug] for _, slug, _ in places if slug not in free), Decimal(0))


def _place(capture: Capture) -> Place:
    return capture.prompt_id, capture.provider, capture.sample


def _make_anew(check: Check, places: Mapping[Place, Capture | None], estimates: Mapping[str, Decimal]) -> int:
    """Arguments:
    places: each with what was kept there, by which is known what was tried and spent before.
    """
    dealt = Turns()
    jobs = []
    for (prompt, slug, sample), kept in places.items():
        turn = dealt.deal(check.team_id, registry.by_slug[slug].lane)
        job = new_job(check, prompt, slug, sample, estimates[slug], turn)
        if kept:
            job.tried_before, job.spent_before = kept.attempts, kept.cost
        jobs.append(job)
    if jobs:
        write_new(jobs)
        notify()
    return len(jobs)
