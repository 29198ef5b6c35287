"""From job rows to tickets: what a seat needs to know of a job."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID, uuid4

from capture.analysis.mentions import Entity
from capture.analysis.reading import Watch
from capture.calls import Ticket
from capture.models import Attempt, Brand, CaptureJob
from capture.providers.replies import Question


def of(jobs: Sequence[CaptureJob], token: UUID, *, probe: bool = False) -> list[Ticket]:
    """The tickets of jobs that were just claimed together.

    Arguments:
        jobs: with their prompts, checks and brands, and the time as `now`.
        token: of this claim.
        probe: of a lane that has cooled.
    """
    live = Attempt.objects.filter(job__in=[job.pk for job in jobs if job.remote_id], ended_at__isnull=True)
    attempts = {attempt.job_id: attempt for attempt in live}
    return [_ticket(job, token, attempts.get(job.pk), probe) for job in jobs]


@lru_cache(maxsize=1000)
def _today(brand: int, edition: int) -> tuple[Entity, ...]:
    """The names of today, of which each edition is another. An answer that is read by former ones is read again."""
    return Brand.objects.prefetch_related("competitors").get(pk=brand).entities()


def _ticket(job: Any, token: UUID, live: Attempt | None, probe: bool) -> Ticket:
    attempt = live.pk if live else uuid4()
    check, brand = job.of_check, job.of_check.brand
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
        watch=Watch(check.entities(), _today(brand.pk, brand.edition), brand.edition),
        age=(job.now - job.asked_at).total_seconds() if live and job.asked_at else 0.0,
    )
