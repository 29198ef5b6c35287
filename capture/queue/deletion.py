"""By a person: a check that is over goes for good, with its jobs and captures. Its charges stay."""

from __future__ import annotations

import logging

from django.db import transaction

from capture.models import CaptureJob, Check, Schedule
from capture.models.jobs import OPEN

log = logging.getLogger("capture.queue")


class StillOpenError(Exception):
    """A check is not deleted while a job of it is open: its answer may be paid for, and would have no place."""


def delete_check(check: Check) -> None:
    """Delete a check with everything that came of it, but what it cost.

    An attempt of which nobody knows whether it was charged stays counted at its estimate. A check that is repeated
    leaves that to its last repetition; without any, it is repeated no more.

    Raises:
        StillOpenError: a job of it is open; nothing is deleted.
        Check.DoesNotExist: it was deleted before.
    """
    with transaction.atomic():
        schedule = Schedule.objects.select_for_update(of=("self",)).filter(checks=check.pk).first()
        # Held against whoever asks places of it again; answers that come late are held up by the locks of their jobs.
        locked = Check.objects.select_for_update(no_key=True).get(pk=check.pk)
        statuses = CaptureJob.objects.filter(of_check=locked).order_by("pk").select_for_update().values_list("status")
        if any(status in OPEN for (status,) in statuses):
            raise StillOpenError
        if schedule and schedule.template_id == locked.pk:
            _hand_over(schedule)
        locked.delete()
    log.info("check %s: deleted", check.uuid)


def _hand_over(schedule: Schedule) -> None:
    """Have another check of a schedule be the one that is repeated: all of them ask the same."""
    last = Check.objects.filter(schedule=schedule).exclude(pk=schedule.template_id).order_by("-pk").first()
    if last:
        Schedule.objects.filter(pk=schedule.pk).update(template=last)
