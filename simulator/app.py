"""One request from its path to its reply: who is asked, what a script does to it, what becomes of the call."""

import logging
from collections.abc import Callable, Sequence
from typing import Any

from simulator import faults
from simulator.calls import Call, State
from simulator.clock import HOUR_S, Clock
from simulator.control import Control
from simulator.dice import dice, digest, latency_s
from simulator.exchange import Reply, Request, json_reply
from simulator.script import Do, Script
from simulator.store import Store
from simulator.systems import SYSTEMS
from simulator.systems.base import Asked, Route, System, valid_key

log = logging.getLogger("simulator")


class App:
    def __init__(
        self,
        *,
        seed: int = 0,
        speed: float = 1.0,
        store: Store | None = None,
        script: Script | None = None,
        clock: Clock | None = None,
        systems: Sequence[System] = SYSTEMS,
    ) -> None:
        self.seed = seed
        self.speed = speed
        self.systems = systems
        self.clock = clock or Clock()
        self.script = script or Script()
        self.store = store or Store(system.slug for system in systems)
        self.control = Control(self.store, self.script, self.clock, {system.slug: system.shapes for system in systems})

    def handle(self, request: Request) -> Reply:
        if request.path.startswith(Control.prefix):
            return self.control.handle(request)
        for system in self.systems:
            route = system.route(request)
            if route:
                return self._routed(system, route, request)
        near = [system for system in self.systems if request.path.startswith(system.prefix)]
        return near[0].unknown_path(request) if near else json_reply({"error": "no such path"}, 404)

    def close(self) -> None:
        self.clock.stop()
        self.store.close()

    def _routed(self, system: System, route: Route, request: Request) -> Reply:
        system = self._owner(system, route)
        key = system.key(request)
        match route.action:
            case "start":
                return self._start(system, request, key)
            case "redirect":
                self.store.redirected(system.slug)
                return self._beside(system, "redirect", lambda: system.redirect(request))
            case _ if not valid_key(key):
                return system.bad_key(key)
            case "poll":
                return self._poll(system, route.call_id, request)
            case "cancel" | "delete":
                return self._end(system, route, request)
            case "account":
                usage = self.store.usage(self._at_one_address(system), self.clock.now())
                return self._beside(system, "other", lambda: system.account(request, usage))
            case _:
                return self._beside(system, "other", lambda: system.other(request))

    def _owner(self, system: System, route: Route) -> System:
        """Systems at one address share the paths of their calls: the call's own system speaks."""
        call = self.store.find(route.call_id)
        if not call or call.system not in self._at_one_address(system):
            return system
        return next(other for other in self.systems if other.slug == call.system)

    def _at_one_address(self, system: System) -> list[str]:
        return [other.slug for other in self.systems if other.prefix == system.prefix]

    def _beside(self, system: System, call: str, reply: Callable[[], Reply]) -> Reply:
        """What is neither a start nor about a call can be made to fail as well."""
        do = self.script.take(system.slug, call, "")
        self.clock.sleep(do.delay_s)
        return faults.instead(system, do, self.clock.now()) or faults.delivered(do, reply())

    # starting

    def _start(self, system: System, request: Request, key: str) -> Reply:
        asked = system.asked(request)
        self.store.started(system.slug, asked.prompt, asked.run, digest(key))
        log.info("start %s %.80r run=%s", system.slug, asked.prompt, asked.run)
        refused = system.refusal(request) if valid_key(key) else system.bad_key(key)
        if refused:
            return refused
        do = self.script.take(system.slug, "start", asked.prompt)
        self.clock.sleep(do.delay_s)
        self.clock.sleep(self._reply_time(system, asked))
        return faults.instead(system, do, self.clock.now()) or self._accepted(system, asked, do, request, key)

    def _accepted(self, system: System, asked: Asked, do: Do, request: Request, key: str) -> Reply:
        now = self.clock.now()
        ordered = faults.changes(system, do, now)
        call = self.store.accept(
            lambda sample: self._call(system, asked, sample, ordered),
            asked.run,
            digest(key),
            system.slug,
            asked.prompt,
            cached_since=None if asked.fresh or ordered else now - HOUR_S,
        )
        if not asked.background and not do.drop:
            self._wait_for(call)
            reply = self._final(system, call, request)
        elif call.created_at < now:
            reply = self._shown(system, call, request)
        else:
            reply = system.reply(system.unfinished(call, State.QUEUED, request))
        return faults.delivered(do, reply)

    def _call(self, system: System, asked: Asked, sample: int, ordered: dict[str, Any]) -> Call:
        """What a script orders is about the calls that it catches: their answers get into no cache."""
        now = self.clock.now()
        chance = dice(self.seed, system.slug, asked.prompt, sample, "latency")
        fields = {"due_at": now + latency_s(chance, system.median_s) / self.speed, **ordered}
        shaped = "shape" in ordered or "finish_as" in ordered
        return Call(
            id=system.new_id(),
            system=system.slug,
            prompt=asked.prompt,
            request=asked.body,
            seed=self.seed,
            sample=sample,
            created_at=now,
            charged=ordered.get("shape") not in system.free_endings,
            cache="" if shaped else asked.cache,
            **fields,
        )

    def _wait_for(self, call: Call) -> None:
        self.clock.sleep(None if call.due_at is None else call.due_at - self.clock.now())

    def _reply_time(self, system: System, asked: Asked) -> float:
        return dice(self.seed, system.slug, asked.prompt, "reply").uniform(0.05, 0.3) / self.speed

    # afterwards

    def _poll(self, system: System, call_id: str, request: Request) -> Reply:
        self.store.polled(system.slug)
        call = self._known(system, call_id)
        do = self.script.take(system.slug, "poll", call.prompt if call else "")
        self.clock.sleep(do.delay_s)
        now = self.clock.now()
        instead = faults.instead(system, do, now)
        if instead:
            return instead
        changes = faults.changes(system, do, now)
        if changes:
            self.store.change(call_id, **changes)
        return faults.delivered(do, self._seen(system, call_id, request))

    def _end(self, system: System, route: Route, request: Request) -> Reply:
        call = self._known(system, route.call_id)
        if call and route.action == "delete":
            self.store.delete(call.id)
            return system.reply(system.deleted(call))
        if call and call.state(self.clock.now()) in (State.QUEUED, State.IN_PROGRESS):
            self.store.change(call.id, cancelled_at=self.clock.now())
        return self._seen(system, route.call_id, request)

    def _seen(self, system: System, call_id: str, request: Request) -> Reply:
        """The call as it stands, whether it is over or not. Cancelling one that is over shows just that."""
        call = self._known(system, call_id)
        return self._shown(system, call, request) if call else system.unknown_call(call_id)

    def _shown(self, system: System, call: Call, request: Request) -> Reply:
        state = call.state(self.clock.now())
        done = state is State.DONE
        return self._final(system, call, request) if done else system.reply(system.unfinished(call, state, request))

    def _final(self, system: System, call: Call, request: Request) -> Reply:
        return system.reply(system.finished(call, request), system.final_status(call))

    def _known(self, system: System, call_id: str) -> Call | None:
        call = self.store.find(call_id)
        return call if call and call.system == system.slug and system.retrievable(call) else None
