"""A simulator in a thread, asked over real HTTP, with a clock that tests turn by hand."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from simulator.app import App
from simulator.clock import Clock
from simulator.server import Server

KEY = {"authorization": "Bearer simulated"}
PROMPT = "Is Acme Beans the best espresso machine?"


class HandClock(Clock):
    """Stands still but for sleeps, which it grants at once and remembers."""

    def __init__(self) -> None:
        super().__init__()
        self.time = 1_790_000_000.0
        self.slept: list[float | None] = []

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float | None) -> None:
        self.slept.append(seconds)
        self.time += max(0.0, seconds or 0.0)


class Simulator:
    """The server under test and what tests say to it."""

    def __init__(self, server: Server, clock: HandClock, http: httpx.Client) -> None:
        self.server = server
        self.clock = clock
        self.http = http
        self.address = ("127.0.0.1", int(server.url.rpartition(":")[2]))

    def start(self, system: str = "chatgpt", prompt: str = PROMPT, **fields: Any) -> httpx.Response:
        path, body = FORMS[system](prompt)
        return self.http.post(path, json=body | fields, headers=KEY)

    def poll(self, call_id: str, system: str = "chatgpt") -> httpx.Response:
        return self.http.get(f"{POLLS[system]}/{call_id}", headers=KEY)

    def finish(self, system: str = "chatgpt", prompt: str = PROMPT, **fields: Any) -> dict[str, Any]:
        """A background call, polled after the longest time that an answer takes."""
        started = self.start(system, prompt, **fields)
        assert started.status_code == 200, started.text
        self.clock.time += 41
        body: dict[str, Any] = self.poll(started.json()["id"], system).json()
        return body

    def order(self, *steps: dict[str, Any]) -> None:
        reply = self.http.post("/__control__/script", json=list(steps))
        assert reply.status_code == 200, reply.text

    def counts(self) -> dict[str, Any]:
        counts: dict[str, Any] = self.http.get("/__control__/counts").json()
        return counts


def chatgpt_form(prompt: str) -> tuple[str, dict[str, Any]]:
    return "/openai/v1/responses", {
        "model": "gpt-6-luna",
        "input": prompt,
        "tools": [{"type": "web_search", "user_location": {"type": "approximate", "country": "DE"}}],
        "tool_choice": {"type": "web_search"},
        "include": ["web_search_call.action.sources"],
        "background": True,
        "store": True,
        "metadata": {"run": "r1"},
    }


def perplexity_form(prompt: str) -> tuple[str, dict[str, Any]]:
    return "/perplexity/v1/agent", {
        "model": "perplexity/sonar",
        "input": prompt,
        "tools": [{"type": "web_search"}],
        "background": True,
        "store": True,
        "metadata": {"run": "r1"},
    }


FORMS: dict[str, Callable[[str], tuple[str, dict[str, Any]]]] = {
    "chatgpt": chatgpt_form,
    "perplexity": perplexity_form,
}
POLLS = {"chatgpt": "/openai/v1/responses", "perplexity": "/perplexity/v1/responses"}


@contextmanager
def serving(app: App) -> Iterator[Server]:
    server = Server("127.0.0.1", 0)
    server.app = app
    loop = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    loop.start()
    try:
        yield server
    finally:
        server.stop()
        loop.join()


@contextmanager
def simulating(**options: Any) -> Iterator[Simulator]:
    clock = HandClock()
    with serving(App(clock=clock, **options)) as server, httpx.Client(base_url=server.url, timeout=10) as http:
        yield Simulator(server, clock, http)


@pytest.fixture
def simulator() -> Iterator[Simulator]:
    with simulating() as running:
        yield running
