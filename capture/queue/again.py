"""By a person: places of a check without an answer are asked once more, also where their tickets are gone."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from decimal import Decimal

from django.db import transaction

from capture.models import Capture, CaptureJob, Check
from capture.queue.entry import new_job
from capture.queue.moves import AT_ONCE
from capture.queue.people import requeue

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
    """
    wanted = {place for place in places if place[1] in estimates}
    with transaction.atomic():
        # Of two at once the second waits here, and finds what the first has made; a deletion waits, too.
        Check.objects.select_for_update(no_key=True).get(pk=check.pk)
        answered = set(Capture.objects.answered().filter(of_check=check).values_list(*PLACE))
        tickets = {
            tuple(place): job for job, *place in CaptureJob.objects.filter(of_check=check).values_list("pk", *PLACE)
        }
        asked = requeue(CaptureJob.objects.filter(pk__in=[tickets[place] for place in wanted & tickets.keys()]))
        gone = sorted(wanted - tickets.keys() - answered)
        CaptureJob.objects.bulk_create(
            (new_job(check, prompt, slug, sample, estimates[slug]) for prompt, slug, sample in gone),
            batch_size=AT_ONCE,
        )
    log.info("check %s: asked again: %s jobs, and %s made anew", check.uuid, asked, len(gone))
    return asked + len(gone)
