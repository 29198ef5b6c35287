"""The places of a check: a question, an AI system, a sample, and how each stands."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from capture import reasons
from capture.models import Outcome, Prompt, Status
from capture.reports import places
from capture.reports.columns import System
from capture.reports.glance import STEPS
from capture.reports.rows import Kept, OpenJob
from capture.reports.waiting import OF_ALL, Wait, WaitKind

BRAND = "brand"  # its key in `Capture.named`

# What holds a job back beyond its turn.
HOLDS = OF_ALL | {WaitKind.SILENT, WaitKind.RETRY}


class State(StrEnum):
    """How a place of a check stands, as people read it; in the order in which totals are shown."""

    ANSWERED = "answered"
    REFUSED = "refused"
    BLOCKED = "blocked"
    EMPTY = "empty"
    INCOMPLETE = "incomplete"
    FAILED = "failed"
    CANCELLED = "cancelled"
    WORKING = "working"
    ASKING = "asking"
    WAITING = "waiting"

    @property
    def words(self) -> str:
        return str(WORDS[self])


WORDS = {
    State.ANSWERED: gettext_lazy("answered"),
    State.REFUSED: gettext_lazy("refused"),
    State.BLOCKED: gettext_lazy("blocked"),
    State.EMPTY: gettext_lazy("empty"),
    State.INCOMPLETE: gettext_lazy("incomplete"),
    State.FAILED: gettext_lazy("failed"),
    State.CANCELLED: gettext_lazy("cancelled"),
    State.WORKING: gettext_lazy("working at the system"),
    State.ASKING: gettext_lazy("asking"),
    State.WAITING: gettext_lazy("waiting"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One place of a check: a question, an AI system, a sample.

    Arguments:
        status: as a job has it; known without a job as well.
        outcome: what came of it; None while it is open.
        reason: the short name of why there is no answer, or of the last trouble while it is open.
        version: changes with what came of it.
        wait: why it is not finished, where that was looked up.
        since: when its call was started, while it is open.
        seconds: how long ago that was.
        place: of the brand among those whom its answer names, 0 if it is not named; None where that is not known.
    """

    prompt: Prompt
    system: System
    sample: int
    state: State
    status: Status
    outcome: Outcome | None = None
    attempts: int = 0
    simulated: bool = False
    reason: str = ""
    version: str = ""
    wait: Wait | None = None
    since: datetime | None = None
    seconds: int = 0
    place: int | None = None

    @property
    def anchor(self) -> str:
        """The name of this place within its page."""
        return f"{self.prompt.position}-{self.system.slug}-{self.sample}"

    @property
    def why(self) -> str:
        """What keeps it, or kept it from an answer, in words."""
        if self.wait and self.wait.kind in HOLDS:
            return self.wait.told
        if self.wait and self.wait.ahead is not None:
            return _("after others of this check") if self.wait.follows else told_ahead(self.wait.ahead)
        return reasons.in_words(self.reason)

    @property
    def lasts(self) -> str:
        """How long its call has been under way; our script counts on from there."""
        return f"{self.seconds} s" if self.seconds < 60 else f"{self.seconds // 60} min"

    @property
    def naming(self) -> str:
        """Whether its answer names the brand, in words; empty where that is not known."""
        if self.place is None:
            return ""
        return _("named, position %(place)s") % {"place": self.place} if self.place else _("not named")

    @property
    def unasked(self) -> bool:
        """Whether it can be called off; one with an id is always in the system's hands."""
        return self.state is not State.WORKING and self.status in {Status.PENDING, Status.CLAIMED}

    @property
    def is_open(self) -> bool:
        return self.outcome is None

    @property
    def code(self) -> str:
        """Four characters that tell one look of this place from another.

        A page carries those of all its cells, and is sent the cells whose codes differ. Two looks of one cell have the
        same code once in 16 million.
        """
        look = f"{self.anchor} {self.state} {self.why} {self.attempts} {self.simulated} {self.since} {self.version}"
        return base64.urlsafe_b64encode(hashlib.blake2b(look.encode(), digest_size=3).digest()).decode()


def told_ahead(ahead: int) -> str:
    """How many go first, in the steps of `STEPS`."""
    if ahead == 0:
        return _("next in line")
    if ahead >= places.MOST:
        return _("over %(number)s ahead") % {"number": f"{places.MOST:,}"}
    low = max(step for step in STEPS if step <= ahead)
    high = min(step for step in STEPS if step > ahead) - 1
    if low == high:
        return ngettext("%(number)s ahead", "%(number)s ahead", low) % {"number": low}
    return _("%(low)s to %(high)s ahead") % {"low": low, "high": high}


def cell_of(
    prompt: Prompt, system: System, sample: int, job: OpenJob | None, kept: Kept | None, wait: Wait | None
) -> Cell:
    """An open job wins over what an earlier turn of the same place left behind."""
    if job is not None:
        found = _of_job(job, system, wait)
    elif kept is not None:
        found = _of_kept(kept)
    else:
        gone = Outcome.CANCELLED
        found = {"state": State.CANCELLED, "status": Status.CANCELLED, "outcome": gone, "reason": "removed"}
    return Cell(prompt=prompt, system=system, sample=sample, **found)


def _of_job(job: OpenJob, system: System, wait: Wait | None) -> Mapping[str, Any]:
    # What is only claimed may bear the time of an earlier call.
    under_way = bool(job.remote_id) or job.status == Status.RUNNING
    return {
        "state": _state_of(job),
        "status": Status(job.status),
        "attempts": job.attempts,
        # Where it was asked; before that, where it would be asked now.
        "simulated": system.simulated if job.asked_at_simulator is None else job.asked_at_simulator,
        "reason": job.reason,
        "wait": wait,
        "since": job.asked_at if under_way else None,
        "seconds": max(0, int(job.asked_ago.total_seconds())) if under_way and job.asked_ago else 0,
    }


def _state_of(job: OpenJob) -> State:
    if job.status == Status.PENDING:
        return State.WAITING
    # With an id it is in the system's hands, also while somebody looks after it.
    return State.WORKING if job.remote_id else State.ASKING


def _of_kept(kept: Kept) -> Mapping[str, Any]:
    outcome = Outcome(kept.outcome)
    unanswered = {Outcome.FAILED: Status.FAILED, Outcome.CANCELLED: Status.CANCELLED}
    return {
        "state": State(outcome.value),
        "status": unanswered.get(outcome, Status.DONE),
        "outcome": outcome,
        "attempts": kept.attempts,
        "simulated": kept.simulated,
        "reason": kept.reason,
        "version": f"{kept.pk}-{kept.answered_at.timestamp():.0f}",
        "place": _place_of_brand(kept),
    }


def _place_of_brand(kept: Kept) -> int | None:
    if kept.outcome != Outcome.ANSWERED or not kept.matcher:
        return None
    return kept.named_keys.index(BRAND) + 1 if BRAND in kept.named_keys else 0
