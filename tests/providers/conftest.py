"""What the tests of the AI systems share: systems without a network, and bodies to read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from capture.providers.base import Account, Provider
from capture.providers.chatgpt import ChatGPT
from capture.providers.copilot import Copilot
from capture.providers.gemini import Gemini
from capture.providers.google_ai import GoogleAI
from capture.providers.perplexity import Perplexity
from capture.providers.replies import ProviderError
from capture.providers.transport import Request, Response

OPENAI_KEY = "sk-proj-plainlyInvented0123456789"
PERPLEXITY_KEY = "pplx-plainlyInvented0123456789"
GEMINI_KEY = "AIzaPlainlyInvented0123456789"
SERPAPI_KEY = "0123456789abcdefplainlyinvented"


class CannedTransport:
    """Answers every request with the same response or error, and keeps the requests."""

    def __init__(self, outcome: Response | ProviderError) -> None:
        self.outcome = outcome
        self.requests: list[tuple[Request, bool]] = []

    def send(self, request: Request, *, fresh_connection: bool) -> Response:
        self.requests.append((request, fresh_connection))
        if isinstance(self.outcome, ProviderError):
            raise self.outcome
        return self.outcome


NOWHERE = CannedTransport(Response(500, {}, b""))


def as_body(document: Any) -> bytes:
    return json.dumps(document).encode()


def reply_to(
    provider: Provider, document: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Any:  # a Reply; tests look at what only some of them have
    return provider.read(status, headers or {}, as_body(document))


def error_from(
    provider: Provider, document: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        reply_to(provider, document, status, headers)
    return caught.value


def message(*texts: str, annotations: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """A message item whose last part carries the annotations."""
    parts: list[dict[str, Any]] = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    if annotations:
        parts[-1]["annotations"] = annotations
    return {"type": "message", "status": "completed", "role": "assistant", "content": parts}


def completed(*output: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": "resp_1", "object": "response", "status": "completed", "model": "m", "output": list(output), **more}


def make_chatgpt(transport: Any = NOWHERE, **account: Any) -> ChatGPT:
    settings = {"api_key": OPENAI_KEY, "base_url": "https://api.openai.com/v1", "model": "gpt-6-luna"} | account
    return ChatGPT(Account(**settings), transport)


def make_perplexity(transport: Any = NOWHERE, **account: Any) -> Perplexity:
    settings = {
        "api_key": PERPLEXITY_KEY,
        "base_url": "https://api.perplexity.ai",
        "model": "perplexity/sonar",
    } | account
    return Perplexity(Account(**settings), transport)


def make_gemini(transport: Any = NOWHERE, **account: Any) -> Gemini:
    settings = {
        "api_key": GEMINI_KEY,
        "base_url": "https://generativelanguage.googleapis.com",
        "model": "gemini-3.8-flash",
    } | account
    return Gemini(Account(**settings), transport)


def make_copilot(transport: Any = NOWHERE, **account: Any) -> Copilot:
    return Copilot(Account(**{"api_key": SERPAPI_KEY, "base_url": "https://serpapi.com"} | account), transport)


def make_google_ai(transport: Any = NOWHERE, **account: Any) -> GoogleAI:
    return GoogleAI(Account(**{"api_key": SERPAPI_KEY, "base_url": "https://serpapi.com"} | account), transport)


MAKERS: dict[str, Callable[..., Provider]] = {
    "chatgpt": make_chatgpt,
    "perplexity": make_perplexity,
    "copilot": make_copilot,
    "gemini": make_gemini,
    "google_ai": make_google_ai,
}


@pytest.fixture
def chatgpt() -> ChatGPT:
    return make_chatgpt()


@pytest.fixture
def perplexity() -> Perplexity:
    return make_perplexity()


@pytest.fixture
def gemini() -> Gemini:
    return make_gemini()


@pytest.fixture
def copilot() -> Copilot:
    return make_copilot()


@pytest.fixture
def google_ai() -> GoogleAI:
    return make_google_ai()
