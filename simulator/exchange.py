"""One HTTP exchange as plain values, so that everything but the server is free of sockets."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

JSON = dict[str, Any]


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: Mapping[str, list[str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""
    body: bytes = b""

    def json(self) -> Any:
        """Raises ValueError for anything that is not JSON, bad UTF-8 included."""
        return json.loads(self.body)

    def json_object(self) -> JSON:
        """The body where only an object will do; anything else reads as an empty one."""
        try:
            value = self.json()
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    def parameters(self) -> dict[str, str]:
        """The query with one value a name: of several, the last."""
        return {name: values[-1] for name, values in self.query.items() if values}

    def origin(self) -> str:
        """Where the client found us."""
        return f"http://{self.headers.get('host', '127.0.0.1')}"


@dataclass(frozen=True)
class Reply:
    """What to send, and how badly: the last three fields are faults of the connection."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    reset: bool = False
    """Send nothing, reset the connection."""
    cut_at: int | None = None
    """Declare the whole length, send so many bytes, close."""
    bytes_per_s: float | None = None

    def with_headers(self, headers: Mapping[str, str]) -> "Reply":
        return replace(self, headers={**self.headers, **headers})


def json_reply(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    return Reply(status, {"content-type": "application/json", **(headers or {})}, encode(body))


def encode(value: Any) -> bytes:
    """UTF-8 as the real systems send it; a lone surrogate has no UTF-8 form and goes as an escape."""
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()


RESET = Reply(reset=True)
