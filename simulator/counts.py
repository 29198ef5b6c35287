"""What was asked of each system and what it charged: the figures that tests of "exactly once" compare.

A *start* is a start call that reached the simulator, whatever became of it. A *charge* is one that was
accepted: it would be on the bill, also when the client never saw the reply. A start that a call from before
answers is *cached*: no charge, and no new call.
"""

import heapq
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from simulator.exchange import JSON

PROMPT_SHOWN = 2_000


@dataclass
class Tally:
    """One kind of event of one system, by what it was about. Keys of accounts come in as digests."""

    total: int = 0
    by_prompt: Counter[str] = field(default_factory=Counter)
    by_run: Counter[str] = field(default_factory=Counter)
    by_key: Counter[str] = field(default_factory=Counter)

    def add(self, prompt: str, run: str | None, key: str) -> None:
        self.total += 1
        self.by_prompt[prompt[:PROMPT_SHOWN]] += 1
        self.by_key[key] += 1
        if run is not None:
            self.by_run[run] += 1

    def as_json(self) -> JSON:
        return {
            "total": self.total,
            "by_prompt": dict(self.by_prompt),
            "by_run": dict(self.by_run),
            "by_key": dict(self.by_key),
        }


@dataclass(frozen=True)
class Usage:
    """What was charged to one account, which several systems can share."""

    total: int
    last_hour: int


class InHand:
    """How many calls are accepted and not over, now and at most; told from due times, so no thread counts."""

    def __init__(self) -> None:
        self.most = 0
        self._open: dict[str, float | None] = {}
        self._due: list[tuple[float, str]] = []

    def enter(self, call_id: str, due_at: float | None, now: float) -> None:
        self.settle(now)
        self._set(call_id, due_at)
        self.most = max(self.most, self.settle(now))

    def move(self, call_id: str, due_at: float | None) -> None:
        self._set(call_id, due_at)

    def leave(self, call_id: str) -> None:
        self._open.pop(call_id, None)

    def settle(self, now: float) -> int:
        while self._due and self._due[0][0] <= now:
            due_at, call_id = heapq.heappop(self._due)
            if self._open.get(call_id) == due_at:
                del self._open[call_id]
        return len(self._open)

    def _set(self, call_id: str, due_at: float | None) -> None:
        self._open[call_id] = due_at
        if due_at is not None:
            heapq.heappush(self._due, (due_at, call_id))


@dataclass
class SystemCounts:
    starts: Tally = field(default_factory=Tally)
    charges: Tally = field(default_factory=Tally)
    cached: Tally = field(default_factory=Tally)
    in_hand: InHand = field(default_factory=InHand)
    polls: int = 0
    redirects: int = 0


class Counts:
    def __init__(self, systems: Iterable[str]) -> None:
        self._systems = {slug: SystemCounts() for slug in systems}
        self.all_in_hand = InHand()

    def of(self, system: str) -> SystemCounts:
        return self._systems.setdefault(system, SystemCounts())

    def as_json(self, now: float) -> JSON:
        each = self._systems.items()
        return {
            "starts": {slug: counts.starts.as_json() for slug, counts in each},
            "charges": {slug: counts.charges.as_json() for slug, counts in each},
            "cached": {slug: counts.cached.as_json() for slug, counts in each},
            "in_hand": self.all_in_hand.settle(now),
            "max_in_hand": self.all_in_hand.most,
            "polls": sum(counts.polls for _, counts in each),
            "redirects": sum(counts.redirects for _, counts in each),
            "by_system": {slug: _flow(counts, now) for slug, counts in each},
        }


def _flow(counts: SystemCounts, now: float) -> JSON:
    return {"in_hand": counts.in_hand.settle(now), "max_in_hand": counts.in_hand.most, "polls": counts.polls}
