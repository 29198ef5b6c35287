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
GOOGLE_KEY = {"x-goog-api-key": "simulated"}
SERPAPI_KEY = {"api_key": "simulated"}
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
        return self.http.request(**start_call(system, prompt, **fields))

    def poll(self, call_id: str, system: str = "chatgpt") -> httpx.Response:
        return self.http.request(**poll_call(system, call_id))

    def finished(self, system: str = "chatgpt", prompt: str = PROMPT, **fields: Any) -> httpx.Response:
        """A background call, polled after the longest time that an answer takes."""
        started = self.start(system, prompt, **fields)
        assert started.status_code == 200, started.text
        self.clock.time += 41
        return self.poll(id_of(started), system)

    def finish(self, system: str = "chatgpt", prompt: str = PROMPT, **fields: Any) -> dict[str, Any]:
        body: dict[str, Any] = self.finished(system, prompt, **fields).json()
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


def gemini_form(prompt: str) -> tuple[str, dict[str, Any]]:
    return "/gemini/v1beta/interactions", {
        "model": "gemini-3.8-flash",
        "input": prompt,
        "tools": [{"type": "google_search"}],
        "background": True,
        "store": True,
    }


def copilot_form(prompt: str) -> tuple[str, dict[str, Any]]:
    return "/serpapi/search.json", {"engine": "bing_copilot", "q": prompt, "async": "true"}


def google_ai_form(prompt: str) -> tuple[str, dict[str, Any]]:
    return "/serpapi/search.json", {"engine": "google_ai_mode", "q": prompt, "async": "true", "gl": "de", "hl": "de"}


FORMS: dict[str, Callable[[str], tuple[str, dict[str, Any]]]] = {
    "chatgpt": chatgpt_form,
    "perplexity": perplexity_form,
    "copilot": copilot_form,
    "gemini": gemini_form,
    "google_ai": google_ai_form,
}
POLLS = {
    "chatgpt": "/openai/v1/responses/{}",
    "perplexity": "/perplexity/v1/responses/{}",
    "copilot": "/serpapi/searches/{}.json",
    "gemini": "/gemini/v1beta/interactions/{}",
    "google_ai": "/serpapi/searches/{}.json",
}
SERPAPI = ("copilot", "google_ai")


def start_call(system: str, prompt: str = PROMPT, **fields: Any) -> dict[str, Any]:
    """What to send, as httpx takes it."""
    path, body = FORMS[system](prompt)
    if system in SERPAPI:
        given = {name: value for name, value in (SERPAPI_KEY | body | fields).items() if value is not None}
        return {"method": "GET", "url": path, "params": given}
    return {"method": "POST", "url": path, "json": body | fields, "headers": headers_of(system)}


def poll_call(system: str, call_id: str) -> dict[str, Any]:
    params = SERPAPI_KEY if system in SERPAPI else {}
    return {
        "method": "GET",
        "url": POLLS[system].format(call_id),
        "params": params,
        "headers": headers_of(system),
    }


def headers_of(system: str) -> dict[str, str]:
    return {"gemini": GOOGLE_KEY}.get(system, {} if system in SERPAPI else KEY)


def id_of(reply: httpx.Response) -> str:
    body = reply.json()
    return str(body["id"] if "id" in body else body["search_metadata"]["id"])


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
