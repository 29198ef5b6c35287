"""`/__control__/`: what a test reads and orders. No AI system has these paths.

GET    counts    starts, charges, answers from a cache, calls in hand, polls, redirects followed
GET    script    the steps, with what is left of each
POST   script    adds steps
DELETE script    drops all steps
POST   reset     forgets calls, counts and script
"""

from collections.abc import Callable, Collection, Mapping

from simulator.clock import Clock
from simulator.exchange import Reply, Request, json_reply
from simulator.script import Script, ScriptError, read_script
from simulator.store import Store


class Control:
    prefix = "/__control__/"

    def __init__(self, store: Store, script: Script, clock: Clock, systems: Mapping[str, Collection[str]]) -> None:
        """`systems`: the shapes of each."""
        self._store = store
        self._script = script
        self._clock = clock
        self._systems = systems
        self._paths: dict[tuple[str, str], Callable[[Request], Reply]] = {
            ("GET", "counts"): self._counts,
            ("GET", "script"): self._show_script,
            ("POST", "script"): self._add_script,
            ("DELETE", "script"): self._drop_script,
            ("POST", "reset"): self._reset,
        }

    def handle(self, request: Request) -> Reply:
        path = request.path.removeprefix(self.prefix).rstrip("/")
        handler = self._paths.get((request.method, path))
        if handler:
            return handler(request)
        known = ", ".join(f"{method} {name}" for method, name in self._paths)
        return json_reply({"error": f"no {request.method} {request.path}; there are {known}"}, 404)

    def _counts(self, request: Request) -> Reply:
        return json_reply(self._store.counts(self._clock.now()))

    def _show_script(self, request: Request) -> Reply:
        return json_reply(self._script.as_json())

    def _add_script(self, request: Request) -> Reply:
        """All steps or none: a script with a mistake changes nothing."""
        try:
            steps = read_script(request.json(), self._systems)
        except ScriptError as error:
            return json_reply({"error": str(error)}, 400)
        except ValueError as error:
            return json_reply({"error": f"not JSON: {error}"}, 400)
        self._script.add(steps)
        return self._show_script(request)

    def _drop_script(self, request: Request) -> Reply:
        self._script.clear()
        return self._show_script(request)

    def _reset(self, request: Request) -> Reply:
        self._script.clear()
        self._store.reset()
        return json_reply({"ok": True})
