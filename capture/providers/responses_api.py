"""The Responses API: a call is a response object that is started in the background and looked up by its id.

OpenAI made it; Perplexity's Agent API sends the same object. What differs is left to the systems' own modules.
Formats: https://platform.openai.com/docs/api-reference/responses and https://docs.perplexity.ai/docs/agent-api.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from typing import Any, ClassVar

from capture.providers import prices, remote_ids
from capture.providers.base import Provider
from capture.providers.errors import Rules, error_of, error_of_response, problem_of
from capture.providers.reading import count_of, lower_names, mapping_of, mappings_of, read_object, text_of, unreadable
from capture.providers.replies import (
    Answered,
    Blocked,
    Cost,
    Empty,
    FinalReply,
    Incomplete,
    Pending,
    ProviderError,
    Question,
    Refused,
    Reply,
)
from capture.providers.sources import Finding, gather, span
from capture.providers.transport import Request
from capture.providers.waits import wait_in_headers

Document = Mapping[str, Any]

_AT_WORK = frozenset({"queued", "in_progress"})


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of the answer's text.

    Arguments:
        text: as it came.
        start: its place in the whole text, in characters.
        annotations: as they came; their places count from the start of the part.
    """

    text: str
    start: int
    annotations: tuple[Document, ...]


class ResponsesProvider(Provider):
    """A system that speaks the Responses API."""

    rules: ClassVar[Rules]
    # Below the base URL.
    start_path: ClassVar[str]
    poll_path: ClassVar[str]

    @abstractmethod
    def body(self, question: Question) -> dict[str, Any]:
        """What is sent to start a call."""

    @abstractmethod
    def consulted(self, document: Document, text: str) -> Iterable[Finding]:
        """The pages that are named outside the text's annotations."""

    @abstractmethod
    def cost(self, document: Document) -> Cost | None:
        """What a call cost, or None when the response says nothing about it."""

    def start_request(self, question: Question) -> Request:
        return Request("POST", f"{self.account.base_url}{self.start_path}", self.headers(), self.body(question))

    def poll_request(self, remote_id: str) -> Request:
        return Request(
            "GET", f"{self.account.base_url}{self.poll_path}/{remote_ids.path_segment(remote_id)}", self.headers()
        )

    def headers(self) -> dict[str, str]:
        """What every request carries, the key with it."""
        return {
            "Authorization": f"Bearer {self.account.api_key}",
            "Content-Type": "application/json",
            "Accept": "application/json",
        }

    def estimate(self) -> Decimal:
        return prices.estimate(self.lane, self.account.model, self.default_model)

    def read(self, status: int, headers: Mapping[str, str], body: bytes) -> Reply:
        # A status of 0 means that none is known; then the body must speak for itself.
        if status and not 200 <= status < 300:
            raise error_of_response(status, headers, body, self.rules)
        document = read_object(body, status)
        if text_of(document, "status") in _AT_WORK:
            return self._pending(document, status, lower_names(headers))
        return self._ended(document, status, headers)

    def _pending(self, document: Document, status: int, headers: Mapping[str, str]) -> Pending:
        remote_id = remote_ids.usable(text_of(document, "id"))
        if not remote_id:
            raise unreadable(status, "The call was accepted, but no usable id of it was given.")
        return Pending(remote_id, self.poll_after(headers))

    def poll_after(self, headers: Mapping[str, str]) -> float | None:
        """Seconds until the next poll as the response asks for; names in lower case."""
        return wait_in_headers(headers)

    def _ended(self, document: Document, status: int, headers: Mapping[str, str]) -> Reply:
        match text_of(document, "status"):
            case "failed":
                raise self._failure(document, status, headers)
            case "cancelled" | "canceled":
                # It may hold a piece of an answer, which nobody vouches for.
                return Empty(reason="cancelled", **self._final(document))
            case "requires_action":
                return Empty(reason="requires_action", **self._final(document))
            case "incomplete":
                return self._incomplete(document)
        return self._completed(document, status, headers)

    def _failure(self, document: Document, status: int, headers: Mapping[str, str]) -> ProviderError:
        # Only a call that has a state of its own can be known to be over.
        ended = text_of(document, "status") in ("failed", "completed")
        problem = problem_of(status, document)
        return error_of(problem, headers, self.rules, ended=ended, cost=self.cost(document))

    def _incomplete(self, document: Document) -> FinalReply:
        reason = text_of(mapping_of(document, "incomplete_details"), "reason") or "unknown"
        if reason == "content_filter":
            return Blocked(reason=reason, **self._final(document))
        return Incomplete(reason=reason, text=_text(_parts(document)), **self._final(document))

    def _completed(self, document: Document, status: int, headers: Mapping[str, str]) -> Reply:
        refusal = _refusal(document)
        if refusal:
            return Refused(text=refusal, **self._final(document))
        parts = list(_parts(document))
        text = _text(parts)
        if text.strip():
            sources = gather(chain(_citations(parts), self.consulted(document, text)))
            return Answered(text=text, sources=sources, **self._final(document))
        if document.get("error"):
            raise self._failure(document, status, headers)
        if text_of(document, "status") != "completed":
            if remote_ids.usable(text_of(document, "id")):
                # A state that is not known yet: the call may be live, and an id must not be lost.
                return self._pending(document, status, lower_names(headers))
            raise unreadable(status, "The answer is neither a text nor any state that is known.")
        return Empty(reason=_why_empty(document), **self._final(document))

    def _final(self, document: Document) -> dict[str, Any]:
        return {
            "model": text_of(document, "model"),
            "remote_id": remote_ids.usable(text_of(document, "id")),
            "cost": self.cost(document),
        }


def outputs(document: Document, kind: str) -> list[Document]:
    """The output items of one type."""
    return [item for item in mappings_of(document, "output") if item.get("type") == kind]


def units_of(document: Document, searches: int, fetches: int = 0) -> prices.Units | None:
    """What a call used up, or None when the response does not say."""
    usage = mapping_of(document, "usage")
    received, written = count_of(usage, "input_tokens"), count_of(usage, "output_tokens")
    if received is None and written is None and not searches and not fetches:
        return None
    return prices.Units(received or 0, written or 0, searches, fetches)


def _contents(document: Document, kind: str) -> Iterator[Document]:
    for message in outputs(document, "message"):
        for content in mappings_of(message, "content"):
            if content.get("type") == kind:
                yield content


def _parts(document: Document) -> Iterator[Part]:
    start = 0
    for content in _contents(document, "output_text"):
        part = Part(text_of(content, "text"), start, tuple(mappings_of(content, "annotations")))
        start += len(part.text)
        yield part


def _text(parts: Iterable[Part]) -> str:
    return "".join(part.text for part in parts)


def _refusal(document: Document) -> str:
    return "".join(text_of(content, "refusal") for content in _contents(document, "refusal")).strip()


def _citations(parts: Iterable[Part]) -> Iterator[Finding]:
    for part in parts:
        for annotation in part.annotations:
            if annotation.get("type") == "url_citation":
                place = span(annotation.get("start_index"), annotation.get("end_index"), len(part.text))
                spans = ((part.start + place[0], part.start + place[1]),) if place else ()
                yield Finding(text_of(annotation, "url"), text_of(annotation, "title"), cited=True, spans=spans)


def _why_empty(document: Document) -> str:
    if outputs(document, "message"):
        return "no_text"
    return "function_call" if outputs(document, "function_call") else "no_message"
