"""What both APIs tell of a search: links that redirect to the pages, and places in the text counted in bytes."""

import base64
import binascii
import string
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote

from simulator.answers import Answer
from simulator.calls import Call
from simulator.exchange import JSON
from simulator.pages import Page
from simulator.systems.base import ending

REDIRECTS = "/gemini/grounding-api-redirect/"
TOKEN_HEAD = "SIM"  # noqa: S105  of links, no secret

Ending = Callable[[Call, str], JSON]
"""Gets the call and the address under which links are to point back here."""


def link(page: Page, origin: str) -> str:
    """The token holds the address: it needs no memory and is the same each time."""
    return origin + REDIRECTS + TOKEN_HEAD + base64.urlsafe_b64encode(page.url.encode(errors="surrogatepass")).decode()


def target(token: str) -> str | None:
    """Where a link leads, fit for a header; None if it is none of ours."""
    try:
        url = base64.b64decode(token.removeprefix(TOKEN_HEAD), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    return quote(url, safe=string.punctuation) if token.startswith(TOKEN_HEAD) and url else None


def byte_index(text: str, index: int) -> int:
    return len(text[:index].encode(errors="surrogatepass"))


def ordered_ending(call: Call, origin: str, endings: dict[str, Ending]) -> JSON | None:
    return ending(call, {shape: partial(_at, make, origin) for shape, make in endings.items()})


def _at(make: Ending, origin: str, call: Call) -> JSON:
    return make(call, origin)


@dataclass(frozen=True)
class Tokens:
    asked: int
    said: int
    thought: int
    tools: int

    @property
    def total(self) -> int:
        return self.asked + self.said + self.thought + self.tools


def tokens(call: Call, text: str, answer: Answer | None = None) -> Tokens:
    pages = len(answer.pages) if answer else 0
    return Tokens(len(call.prompt) // 4 + 12, len(text) // 4, 64 * (pages + 1), 30 * pages)
