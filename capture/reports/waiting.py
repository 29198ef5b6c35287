"""Why is it waiting? The one answer for each open job, for the check's page, the admin and `queuestatus`.

Several things may hold a job at once. What is told is what would still hold it after all the others were gone:

1. nobody works at all, or nobody asks this system;
2. staff have switched the lane off or paused it, and only they can change that;
3. a time that has to come: of the lane's cooling or of the job's own next try, whichever is later;
4. the lane is full, or its starts are spaced; both pass by themselves;
5. others are ahead.

A call in hand is held by the first, by a lane that is switched off, and, once it is due, by cooling; pausing a lane
and its places hold starts only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from capture import reasons
from capture.models import CaptureJob, Status, Worker
from capture.models.jobs import HELD, OPEN
from capture.providers import registry
from capture.reports import places
from capture.reports.rows import OpenJob
from capture.reports.standings import Standing, standings
from capture.reports.times import clock

AnyJob = CaptureJob | OpenJob


class WaitKind(StrEnum):
    NO_WORKER = "no_worker"
    NOT_ASKED = "not_asked"
    SILENT = "silent"
    OFF = "off"
    PAUSED = "paused"
    COOLING = "cooling"
    PROBING = "probing"
    RETRY = "retry"
    FULL = "full"
    SPACED = "spaced"
    IN_LINE = "in_line"
    ASKING = "asking"
    WORKING = "working"
    LOOKED_AFTER = "looked_after"


# What holds all new jobs of a system back, for longer than their turn.
OF_ALL = frozenset({WaitKind.NO_WORKER, WaitKind.NOT_ASKED, WaitKind.OFF, WaitKind.PAUSED, WaitKind.COOLING})

# Whole phrases, so that they can be translated.
WORDS: Mapping[WaitKind, str | Promise] = {
    WaitKind.NO_WORKER: gettext_lazy("no worker is alive"),
    WaitKind.NOT_ASKED: gettext_lazy("no worker asks %(system)s"),
    WaitKind.SILENT: gettext_lazy("nothing is heard of its worker; another will take it over"),
    WaitKind.OFF: gettext_lazy("%(system)s is switched off by staff"),
    WaitKind.PAUSED: gettext_lazy("paused by staff"),
    WaitKind.COOLING: gettext_lazy("waiting: %(why)s; next try at %(at)s"),
    WaitKind.PROBING: gettext_lazy("waiting: %(why)s; one call is tried first"),
    WaitKind.RETRY: gettext_lazy("asked again at %(at)s after: %(why)s"),
    WaitKind.FULL: gettext_lazy("%(system)s is full: %(in_flight)s of %(limit)s in hand, %(ahead)s"),
    WaitKind.SPACED: gettext_lazy("starts are spaced %(spacing)s s apart, %(ahead)s"),
    WaitKind.IN_LINE: "%(ahead)s",
    WaitKind.ASKING: gettext_lazy("asking"),
    WaitKind.WORKING: gettext_lazy("working at the system"),
    WaitKind.LOOKED_AFTER: gettext_lazy("being looked after"),
}

# The same for those who only ask, where it is otherwise told to staff.
TOLD: Mapping[WaitKind, str | Promise] = {
    WaitKind.NO_WORKER: gettext_lazy("nothing is being asked at the moment"),
    WaitKind.NOT_ASKED: gettext_lazy("%(system)s is not being asked at the moment; tell whoever runs AI Control"),
    WaitKind.SILENT: gettext_lazy("its asking broke off; it is taken up again"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Why a job is not finished yet.

    Arguments:
        system: the AI system's name.
        until: when it goes on, where that is known.
        ahead: how many jobs of its lane go before it, where it stands in line; `places.MOST` means at least so many.
        follows: whether another job of the same check and system goes before it, where that was looked up.
        reason: the short name of the trouble that the lane cools for, or that the job is asked again after.
        in_flight, limit: places of the lane, taken and all.
        spacing: least seconds between starts in the lane.
    """

    kind: WaitKind
    system: str
    until: datetime | None = None
    ahead: int | None = None
    follows: bool = False
    reason: str = ""
    in_flight: int = 0
    limit: int = 0
    spacing: float = 0

    @property
    def in_line(self) -> bool:
        """Whether nothing holds it but others that go before it."""
        return self.ahead is not None

    @property
    def words(self) -> str:
        """In plain words for staff; times are of the active time zone."""
        return self._in(WORDS[self.kind])

    @property
    def told(self) -> str:
        """The same for those who only ask."""
        return self._in(TOLD.get(self.kind, WORDS[self.kind]))

    def _in(self, phrase: str | Promise) -> str:
        return str(phrase) % {
            "system": self.system,
            "at": clock(self.until) if self.until else "",
            "why": self._why,
            "ahead": "" if self.ahead is None else _in_line(self.ahead),
            "in_flight": self.in_flight,
            "limit": self.limit,
            "spacing": f"{self.spacing:g}",
        }

    @property
    def _why(self) -> str:
        if self.kind not in (WaitKind.COOLING, WaitKind.PROBING, WaitKind.RETRY):
            return ""
        if not self.reason:
            return _("no reason was given")
        if self.kind is not WaitKind.RETRY:
            return reasons.of_system(self.reason, self.system)
        return reasons.in_words(self.reason)


def waits_of(jobs: Iterable[CaptureJob]) -> dict[int, Wait]:
    """Why each open job of these is waiting, by its number; final ones are left out. At most three queries.

    Arguments:
        jobs: read with at least `status`, `provider`, `lane`, `run_after`, `worker`, `remote_id` and `reason`.
    """
    still = [job for job in jobs if job.status in OPEN]
    if not still:
        return {}
    waits = waits_in(still, standings(), alive_workers())
    return waits | placed(waits, places.places_of([(job.pk, job.lane) for job in still if waits[job.pk].in_line]))


def waits_in(jobs: Iterable[AnyJob], lanes: Mapping[str, Standing], alive: Alive) -> dict[int, Wait]:
    """The same for open jobs, of what was read already: nobody is ahead of any yet."""
    return {job.pk: _wait_of(job, lanes.get(job.lane), alive) for job in jobs}


def placed(waits: Mapping[int, Wait], ahead: Mapping[int, int]) -> dict[int, Wait]:
    """Those that stand in line, each with how many are ahead of it."""
    return {number: replace(wait, ahead=ahead.get(number, 0)) for number, wait in waits.items() if wait.in_line}


def obstacles(slugs: Iterable[str], lanes: Mapping[str, Standing], alive: Alive) -> dict[str, Wait]:
    """What would hold a new job of these systems back for longer than its turn, by system."""
    new = (CaptureJob(provider=slug, lane=registry.by_slug[slug].lane) for slug in slugs)
    waits = {job.provider: _wait_of(job, lanes.get(job.lane), alive) for job in new}
    return {slug: wait for slug, wait in waits.items() if wait.kind in OF_ALL}


def digest_of(waits: Mapping[int, Wait]) -> str:
    """Stays the same exactly as long as the words for these jobs do; asks the database nothing."""
    told = "\n".join(f"{number} {wait.words}" for number, wait in sorted(waits.items()))
    return hashlib.sha256(told.encode()).hexdigest()[:16]


# ------------------------------------------------------------------------------------------------------ what it is

Alive = Mapping[UUID, Collection[str]]  # the systems that each worker asks


def alive_workers() -> Alive:
    """The workers that are alive, in one query."""
    return dict(Worker.objects.alive().values_list("pk", "providers"))


def _wait_of(job: AnyJob, lane: Standing | None, alive: Alive) -> Wait:
    provider = registry.by_slug.get(job.provider)
    system = provider.label if provider else job.provider
    if not alive:
        return Wait(kind=WaitKind.NO_WORKER, system=system)
    if job.status in HELD:
        return Wait(kind=_while_held(job, alive), system=system)
    if not any(job.provider in asked for asked in alive.values()):
        return Wait(kind=WaitKind.NOT_ASKED, system=system)
    if lane is None or not lane.enabled:
        return Wait(kind=WaitKind.OFF, system=system)
    if job.status == Status.WAITING:
        return _while_working(job, lane, system)
    return _before_its_start(job, lane, system)


def _while_held(job: AnyJob, alive: Alive) -> WaitKind:
    if job.worker not in alive:
        return WaitKind.SILENT
    return WaitKind.LOOKED_AFTER if job.remote_id else WaitKind.ASKING


def _while_working(job: AnyJob, lane: Standing, system: str) -> Wait:
    if lane.cooling_since and job.run_after and job.run_after <= lane.now:
        return _cooling(lane, system)
    return Wait(kind=WaitKind.WORKING, system=system)


def _before_its_start(job: AnyJob, lane: Standing, system: str) -> Wait:
    if lane.paused:
        return Wait(kind=WaitKind.PAUSED, system=system)
    if lane.cooling_until and (job.run_after is None or job.run_after <= lane.cooling_until):
        return _cooling(lane, system)
    if job.run_after is not None:
        return Wait(kind=WaitKind.RETRY, system=system, until=job.run_after, reason=job.reason)
    if lane.probing:
        return _cooling(lane, system)
    if lane.is_full:
        return Wait(kind=WaitKind.FULL, system=system, ahead=0, in_flight=lane.in_flight, limit=lane.limit)
    if lane.next_start:
        return Wait(kind=WaitKind.SPACED, system=system, ahead=0, until=lane.next_start, spacing=lane.spacing)
    return Wait(kind=WaitKind.IN_LINE, system=system, ahead=0)


def _cooling(lane: Standing, system: str) -> Wait:
    kind = WaitKind.PROBING if lane.probing else WaitKind.COOLING
    return Wait(kind=kind, system=system, until=lane.cooling_until, reason=lane.cooling_reason)


# ------------------------------------------------------------------------------------------------------- in words


def _in_line(ahead: int) -> str:
    if ahead == 0:
        return _("next in line")
    if ahead >= places.MOST:
        return _("over %(number)s ahead") % {"number": f"{places.MOST:,}"}
    about = _two_digits(ahead)
    return ngettext("about %(number)s ahead", "about %(number)s ahead", about) % {"number": about}


def _two_digits(number: int) -> int:
    """A number as exact as anybody needs it; a page need not change with each job that is claimed."""
    return int(float(f"{number:.2g}"))
