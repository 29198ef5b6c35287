"""From job rows to tickets: what a seat needs to know of a job."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID, uuid4

from capture.analysis.reading import Watch
from capture.calls import Ticket
from capture.models import Attempt, Brand, CaptureJob
from capture.models.clock import database_now
from capture.providers.replies import Question


def of(jobs: Sequence[CaptureJob], token: UUID, *, probe: bool = False) -> list[Ticket]:
    """The tickets of jobs that were just claimed together.

    Arguments:
        jobs: with their prompts and checks.
        token: of this claim.
        probe: of a lane that has cooled.
    """
    live = Attempt.objects.filter(job__in=[job.pk for job in jobs if job.remote_id], ended_at__isnull=True)
    attempts = {attempt.job_id: attempt for attempt in live}
    brands = Brand.objects.prefetch_related("competitors").in_bulk({job.of_check.brand_id for job in jobs})
    now = database_now()
    return [_ticket(job, brands[job.of_check.brand_id], token, attempts.get(job.pk), now, probe) for job in jobs]


def _ticket(job: CaptureJob, brand: Brand, token: UUID, live: Attempt | None, now: datetime, probe: bool) -> Ticket:
    attempt = live.pk if live else uuid4()
    check = job.of_check
    return Ticket(
        job=job.pk,
        token=token,
        provider=job.provider,
        lane=job.lane,
        attempt=attempt,
        question=Question(job.prompt.text, check.country, check.language, run=str(attempt)),
        remote_id=job.remote_id,
        base_url=live.base_url if live else "",
        simulated=live.simulated if live else False,
        attempts=job.attempts if live else job.attempts + 1,
        unknowns=job.unknowns,
        polls=job.polls + 1 if live else 0,
        crashed=job.crashes > 0,
        probe=probe,
        watch=Watch(check.entities(), brand.entities(), brand.edition),
        age=(now - job.asked_at).total_seconds() if live and job.asked_at else 0.0,
    )
