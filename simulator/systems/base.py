"""What the simulator asks of an AI system, so that the rest of it knows none by name.

A system owns its wire: paths, where the key stands, what it refuses, the form of bodies and of errors.
When calls are accepted, how long they take, what is counted and which faults strike is the same for all.
A system with another idea of a start (GET with the key in the query, several systems at one address)
says so in `route`, `key` and `asked`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from simulator import answers
from simulator.answers import Answer
from simulator.calls import Call, State
from simulator.counts import Usage
from simulator.exchange import JSON, Reply, Request, json_reply
from simulator.script import ENDING_SHAPES, SHAPES

Action = Literal["start", "poll", "cancel", "delete", "account", "redirect", "other"]

MOST_CHARACTERS = 100_000


@dataclass(frozen=True)
class Route:
    """What a request is after. The server decides nothing by path or method itself."""

    action: Action
    call_id: str = ""


@dataclass(frozen=True)
class Asked:
    """A start call as far as it could be understood; made before it is known to be valid."""

    prompt: str = ""
    body: JSON = field(default_factory=dict)
    run: str | None = None
    background: bool = False
    """Whether the reply comes at once, with an id to poll, or only with the answer."""
    cache: str = ""
    """Calls that agree in it can be one call, asked once and answered often. Empty: each is its own."""
    fresh: bool = False
    """Whether the client wants none that is there already."""


class System(ABC):
    slug: ClassVar[str]
    prefix: ClassVar[str]
    """Its paths begin so."""
    median_s: ClassVar[float]
    own_endings: ClassVar[tuple[str, ...]] = ()
    """Shapes of its own, beside those that every system has."""
    own_errors: ClassVar[Mapping[str, Callable[[float], Reply]]] = MappingProxyType({})
    """Shapes of its own that are answered in place of the work; each gets the wait that it is to name."""
    free_endings: ClassVar[tuple[str, ...]] = ()
    """Shapes of calls that this system does not charge for."""

    @property
    def endings(self) -> tuple[str, ...]:
        return (*ENDING_SHAPES, *self.own_endings)

    @property
    def shapes(self) -> tuple[str, ...]:
        return (*SHAPES, *self.own_endings, *self.own_errors)

    # requests

    @abstractmethod
    def route(self, request: Request) -> Route | None:
        """None: no path of this system."""

    @abstractmethod
    def asked(self, request: Request) -> Asked: ...

    @abstractmethod
    def refusal(self, request: Request) -> Reply | None:
        """Why this start call is not accepted, if it is not. The key was looked at before."""

    def key(self, request: Request) -> str:
        return bearer_key(request)

    def retrievable(self, call: Call) -> bool:
        """Whether the call can be polled."""
        return call.request.get("store") is not False

    # bodies

    @abstractmethod
    def new_id(self) -> str: ...

    @abstractmethod
    def unfinished(self, call: Call, state: State, request: Request) -> JSON:
        """The body of a call that is queued, in progress or cancelled."""

    @abstractmethod
    def finished(self, call: Call, request: Request) -> JSON:
        """The final body. `request` is the one that reads it, which may say what it wants to see."""

    def final_status(self, call: Call) -> int:
        """The HTTP status under which the final body comes."""
        return 200

    def deleted(self, call: Call) -> JSON:
        """Only a system with a route to "delete" needs it."""
        return {"id": call.id, "deleted": True}

    def reply(self, body: Any, status: int = 200) -> Reply:
        return json_reply(body, status)

    def other(self, request: Request) -> Reply:
        """Paths beside the calls, such as the list of models."""
        return self.unknown_path(request)

    def account(self, request: Request, usage: Usage) -> Reply:
        """Only a system with a route to "account" needs it."""
        return self.unknown_path(request)

    def redirect(self, request: Request) -> Reply:
        """Only a system with a route to "redirect" needs it. No key is asked for."""
        return self.unknown_path(request)

    # errors

    @abstractmethod
    def bad_key(self, key: str) -> Reply: ...

    @abstractmethod
    def unknown_call(self, call_id: str) -> Reply: ...

    @abstractmethod
    def unknown_path(self, request: Request) -> Reply: ...

    @abstractmethod
    def rate_limited(self, hint: str) -> Reply:
        """`hint` goes into the message; waits in headers are added by the caller."""

    @abstractmethod
    def no_money(self) -> Reply: ...

    @abstractmethod
    def overloaded(self) -> Reply: ...


def bearer_key(request: Request) -> str:
    """Empty when there is none."""
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else ""


def valid_key(key: str) -> bool:
    return bool(key) and not key.startswith("invalid")


def last_user_text(value: Any) -> str:
    """The question in an `input` as the Responses form has it: a string, or messages with text parts."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return ""
    said = [item for item in value if isinstance(item, dict) and item.get("role", "user") == "user"]
    return parts_text(said[-1].get("content")) if said else ""


def parts_text(content: Any) -> str:
    """The text of a message: a string, or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def metadata_run(body: JSON) -> str | None:
    metadata = body.get("metadata")
    run = metadata.get("run") if isinstance(metadata, dict) else None
    return None if run is None else str(run)


def asked_in_responses_form(request: Request) -> Asked:
    body = request.json_object()
    return Asked(last_user_text(body.get("input")), body, metadata_run(body), body.get("background") is True)


def responses_route(
    request: Request, start_paths: tuple[str, ...], base: str, verbs: dict[str, Action]
) -> Route | None:
    """`base`/{id} and `base`/{id}/cancel, as OpenAI and Perplexity both have them."""
    if request.method == "POST" and request.path in start_paths:
        return Route("start")
    head, _, rest = request.path.partition(base + "/")
    call_id, _, verb = rest.partition("/")
    action = verbs.get(f"{request.method} {verb}".strip())
    return Route(action, call_id) if not head and call_id and action else None


def ending(call: Call, endings: Mapping[str, Callable[[Call], JSON]]) -> JSON | None:
    """What a script ordered as the end of this call, in the system's own form."""
    if call.finish_as is not None:
        return call.finish_as
    return None if call.shape is None else endings[call.shape](call)


def answer_to(call: Call, *, searches: bool = True) -> Answer:
    return answers.compose(call.seed, call.system, call.prompt, call.sample, searches=searches)


def field_names(words: str) -> frozenset[str]:
    return frozenset(words.split())
