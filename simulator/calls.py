"""A call that a system has accepted, and how far it is.

    queued ──► in_progress ──► done          by the wall clock alone: no thread works on a call
       └──────────┴──► cancelled

A call holds what was asked, not what will be answered: the answer is composed from seed, system,
prompt and sample whenever it is read, and is the same each time. So a restart loses nothing.
"""

from dataclasses import dataclass
from enum import StrEnum

from simulator.exchange import JSON

QUEUED_SHARE = 0.15


class State(StrEnum):
    QUEUED = "queued"
    IN_PROGRESS = "in_progress"
    DONE = "done"
    CANCELLED = "cancelled"


@dataclass
class Call:
    id: str
    system: str
    prompt: str
    request: JSON
    seed: int
    sample: int
    """How many calls of this system with this prompt came before: samples of one prompt differ."""
    created_at: float
    due_at: float | None
    """None: never."""
    shape: str | None = None
    """A named ending that a script asked for."""
    finish_as: JSON | None = None
    """The fields of the final body that a script asked for."""
    cancelled_at: float | None = None
    charged: bool = True
    cache: str = ""
    """Who asks with the same word within the hour gets this call. Empty: nobody."""

    def state(self, now: float) -> State:
        if self.cancelled_at is not None:
            return State.CANCELLED
        if self.due_at is not None and now >= self.due_at:
            return State.DONE
        return State.QUEUED if now < self._taken_up_at() else State.IN_PROGRESS

    def _taken_up_at(self) -> float:
        whole = 1.0 if self.due_at is None else self.due_at - self.created_at
        return self.created_at + QUEUED_SHARE * whole
