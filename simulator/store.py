"""Calls and counts under one lock, and in a journal when they are to outlive the process.

A change is an event: it is applied, then written. Loading applies the same events again, so that what
a restart finds cannot differ from what was there.
"""

import dataclasses
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from typing import Any

from simulator.calls import Call
from simulator.clock import HOUR_S
from simulator.counts import PROMPT_SHOWN, Counts, Usage
from simulator.exchange import JSON
from simulator.journal import Journal


class Store:
    def __init__(self, systems: Iterable[str], journal: Journal | None = None) -> None:
        self._systems = tuple(systems)
        self._journal = journal
        self._lock = threading.Lock()
        self._clear()
        for event in journal.replay() if journal else ():
            self._apply(event)

    # what the app tells

    def started(self, system: str, prompt: str, run: str | None, key: str) -> None:
        with self._lock:
            about = {"system": system, "prompt": prompt[:PROMPT_SHOWN], "run": run, "key": key}
            self._record({"event": "start", **about})

    def accept(
        self,
        make: Callable[[int], Call],
        run: str | None,
        key: str,
        system: str,
        prompt: str,
        *,
        cached_since: float | None = None,
    ) -> Call:
        """`make` gets the number of the sample, which is given out and taken in one step.

        `cached_since`: a call for the same from that time on will do. Looking for one and making one are one step
        too, or two starts at the same moment would both be charged.
        """
        with self._lock:
            call = make(self._samples[system, prompt])
            earlier = self._calls.get(self._cached.get(call.cache, ""))
            if earlier and cached_since is not None and earlier.created_at > cached_since:
                about = {"system": system, "prompt": prompt[:PROMPT_SHOWN], "run": run, "key": key}
                self._record({"event": "cached", **about})
                return earlier
            self._record({"event": "accept", "call": dataclasses.asdict(call), "run": run, "key": key})
            return self._calls[call.id]

    def polled(self, system: str) -> None:
        with self._lock:
            self._record({"event": "poll", "system": system})

    def redirected(self, system: str) -> None:
        with self._lock:
            self._record({"event": "redirect", "system": system})

    def change(self, call_id: str, **changes: Any) -> None:
        with self._lock:
            if call_id in self._calls:
                self._record({"event": "change", "id": call_id, "changes": changes})

    def delete(self, call_id: str) -> None:
        with self._lock:
            self._record({"event": "delete", "id": call_id})

    def reset(self) -> None:
        """As if nothing had ever been asked: ids given out before are unknown from now on."""
        with self._lock:
            self._clear()
            if self._journal:
                self._journal.clear()

    # what the app asks

    def find(self, call_id: str) -> Call | None:
        with self._lock:
            return self._calls.get(call_id)

    def usage(self, systems: Collection[str], now: float) -> Usage:
        with self._lock:
            charged = [call for call in self._calls.values() if call.charged and call.system in systems]
            return Usage(len(charged), sum(call.created_at > now - HOUR_S for call in charged))

    def counts(self, now: float) -> JSON:
        with self._lock:
            return self._counts.as_json(now)

    def close(self) -> None:
        if self._journal:
            self._journal.close()

    # events

    def _clear(self) -> None:
        self._calls: dict[str, Call] = {}
        self._cached: dict[str, str] = {}
        self._samples: Counter[tuple[str, str]] = Counter()
        self._counts = Counts(self._systems)

    def _record(self, event: JSON) -> None:
        self._apply(event)
        if self._journal:
            self._journal.append(event)

    def _apply(self, event: JSON) -> None:
        match event["event"]:
            case "start":
                self._counts.of(event["system"]).starts.add(event["prompt"], event["run"], event["key"])
            case "accept":
                self._accepted(Call(**event["call"]), event["run"], event["key"])
            case "cached":
                self._counts.of(event["system"]).cached.add(event["prompt"], event["run"], event["key"])
            case "poll":
                self._counts.of(event["system"]).polls += 1
            case "redirect":
                self._counts.of(event["system"]).redirects += 1
            case "change":
                self._changed(self._calls[event["id"]], event["changes"])
            case "delete":
                self._deleted(event["id"])

    def _accepted(self, call: Call, run: str | None, key: str) -> None:
        self._calls[call.id] = call
        if call.cache:
            self._cached[call.cache] = call.id
        self._samples[call.system, call.prompt] += 1
        counts = self._counts.of(call.system)
        if call.charged:
            counts.charges.add(call.prompt, run, key)
        for in_hand in (counts.in_hand, self._counts.all_in_hand):
            in_hand.enter(call.id, call.due_at, call.created_at)

    def _changed(self, call: Call, changes: JSON) -> None:
        """A new object rather than a changed one: other threads may be reading the old one."""
        self._calls[call.id] = dataclasses.replace(call, **changes)
        for in_hand in (self._counts.of(call.system).in_hand, self._counts.all_in_hand):
            if "due_at" in changes:
                in_hand.move(call.id, changes["due_at"])
            if "cancelled_at" in changes:
                in_hand.leave(call.id)

    def _deleted(self, call_id: str) -> None:
        call = self._calls.pop(call_id, None)
        if call:
            self._counts.of(call.system).in_hand.leave(call_id)
            self._counts.all_in_hand.leave(call_id)
