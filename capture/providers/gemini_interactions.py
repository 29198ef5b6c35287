"""Gemini's Interactions API: a call is an interaction that is started in the background and looked up by its id.

Format: https://ai.google.dev/api/interactions-api, revision 2026-05-20.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from capture.providers import gemini_costs, gemini_errors, remote_ids
from capture.providers.errors import problem_of
from capture.providers.gemini_redirects import Redirects
from capture.providers.reading import count_of, list_of, lower_names, mapping_of, mappings_of, text_of, unreadable
from capture.providers.replies import (
    Answered,
    Blocked,
    Cost,
    Empty,
    FinalReply,
    Incomplete,
    Pending,
    ProviderError,
    Reply,
)
from capture.providers.sources import Finding, gather, span
from capture.providers.utf8_places import Utf8Places
from capture.providers.waits import wait_in_headers

Document = Mapping[str, Any]

REVISION = "2026-05-20"

_MOST_OUTPUT_TOKENS = 8_000

_AT_WORK = frozenset({"queued", "in_progress"})
# What the API's error codes call a blocked generation.
_FILTERED = frozenset(
    {
        "safety",
        "image_safety",
        "recitation",
        "prohibited_content",
        "blocklist",
        "spii",
        "language",
        "model_armor",
        "content_blocked",
    }
)
_WITHOUT_ANSWER = frozenset({"cancelled", "canceled", "requires_action"})
_STOPPED = frozenset({"incomplete", "budget_exceeded", "requires_continuation", "idle"})


def body(prompt: str, instruction: str, model: str) -> dict[str, Any]:
    """What is sent to start a call.

    Arguments:
        instruction: for the system, or empty for none.
    """
    system = {"system_instruction": instruction} if instruction else {}
    return {
        "model": model,
        "input": prompt,
        **system,
        "tools": [{"type": "google_search"}],
        "background": True,
        # Without it there is nothing to be looked up.
        "store": True,
        "generation_config": {"max_output_tokens": _MOST_OUTPUT_TOKENS, "thinking_level": "low"},
    }


def is_reply(document: Document) -> bool:
    """Whether a body is one of these and not of another of Gemini's APIs."""
    return bool(text_of(document, "status") or list_of(document, "steps"))


def read(document: Document, status: int, headers: Mapping[str, str], redirects: Redirects) -> Reply:
    """Read the body of a success; `status` and `headers` are the HTTP response's.

    Raises:
        ProviderError: the interaction failed, or is none.
    """
    state = text_of(document, "status")
    if state in _AT_WORK:
        return _pending(document, status, headers)
    final: dict[str, Any] = {
        "model": text_of(document, "model"),
        "remote_id": remote_ids.usable(text_of(document, "id")),
        "cost": _cost(document),
    }
    if state == "failed":
        return _failed(document, status, headers, final)
    if state in _WITHOUT_ANSWER:
        # It may hold a piece of an answer, which nobody vouches for.
        return Empty(reason=state, **final)
    parts = list(_parts(document))
    text = "".join(part.text for part in parts)
    if state in ("completed", ""):
        return _completed(document, status, headers, _Answer(text, parts, redirects), final)
    if not text.strip() and state not in _STOPPED:
        # A state that is not known yet: the call may be live, and an id must not be lost.
        return _pending(document, status, headers)
    return Incomplete(reason=state, text=text, **final)


def _pending(document: Document, status: int, headers: Mapping[str, str]) -> Pending:
    remote_id = remote_ids.usable(text_of(document, "id"))
    if not remote_id:
        raise unreadable(status, "The interaction was accepted, but no usable id of it was given.")
    return Pending(remote_id, wait_in_headers(lower_names(headers)))


def _failed(document: Document, status: int, headers: Mapping[str, str], final: dict[str, Any]) -> Blocked:
    """A failure by one of the system's filters is the end of the matter, and no error that could pass."""
    code = text_of(next(iter(mappings_of(document, "errors")), mapping_of(document, "error")), "code").lower()
    if code in _FILTERED:
        return Blocked(reason=code, **final)
    raise _failure(document, status, headers)


def _failure(document: Document, status: int, headers: Mapping[str, str]) -> ProviderError:
    first = next(iter(mappings_of(document, "errors")), mapping_of(document, "error"))
    problem = problem_of(status, {"error": first} if first else document)
    return gemini_errors.error_in(problem, headers, ended=True, cost=_cost(document))


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of the answer's text, where it starts in the whole, and its annotations as they came.

    `sent` is the text before what cannot be stored was replaced: one character for one, but not one byte for one.
    """

    text: str
    sent: str
    start: int
    annotations: tuple[Document, ...]


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer's text, its pieces, and what knows redirects."""

    text: str
    parts: Iterable[_Part]
    redirects: Redirects

    def citations(self) -> Iterator[Finding]:
        """The places at which pages are cited."""
        for part in self.parts:
            cited = [annotation for annotation in part.annotations if annotation.get("type") == "url_citation"]
            for annotation, place in zip(cited, _places(part.sent, cited), strict=True):
                spans = ((part.start + place[0], part.start + place[1]),) if place else ()
                yield self.redirects.finding(
                    text_of(annotation, "url"), text_of(annotation, "title"), cited=True, spans=spans
                )


def _completed(
    document: Document, status: int, headers: Mapping[str, str], answer: _Answer, final: dict[str, Any]
) -> FinalReply:
    if answer.text.strip():
        return Answered(text=answer.text, sources=gather(answer.citations()), **final)
    if mappings_of(document, "errors") or mapping_of(document, "error"):
        raise _failure(document, status, headers)
    return Empty(reason="no_text", **final)


def _parts(document: Document) -> Iterator[_Part]:
    start = 0
    for step in mappings_of(document, "steps"):
        if step.get("type") == "model_output":
            for content in mappings_of(step, "content"):
                if content.get("type") == "text":
                    text = text_of(content, "text")
                    part = _Part(
                        text, content["text"] if text else "", start, tuple(mappings_of(content, "annotations"))
                    )
                    start += len(part.text)
                    yield part


def _places(text: str, annotations: list[Document]) -> list[tuple[int, int] | None]:
    """The annotations' places in their text, in characters.

    They count in UTF-8 bytes, so the documents say, but no recorded answer could prove it. All of one text count
    alike; so if any of them, taken for bytes, would cut a character in two, they are characters.
    """
    places = Utf8Places(text)
    ends = [(annotation.get("start_index", 0), annotation.get("end_index")) for annotation in annotations]
    fitting = [pair for pair in ends if places.span(*pair)]
    if all(places.between_characters(end) for pair in fitting for end in pair):
        return [places.span(*pair) for pair in ends]
    return [span(*pair, len(text)) for pair in ends]


def _cost(document: Document) -> Cost | None:
    usage = mapping_of(document, "usage")
    return gemini_costs.cost(
        text_of(document, "model"),
        read=(count_of(usage, "total_input_tokens"), count_of(usage, "total_tool_use_tokens")),
        written=(count_of(usage, "total_output_tokens"), count_of(usage, "total_thought_tokens")),
        searches=_searches(document, usage),
    )


def _searches(document: Document, usage: Document) -> int:
    """The queries that are charged for, as they are told, or else as they can be seen."""
    told = mappings_of(usage, "grounding_tool_count")
    if told:
        return sum(
            count_of(tool, "count") or 0 for tool in told if tool.get("type", "google_search") == "google_search"
        )
    calls = [step for step in mappings_of(document, "steps") if step.get("type") == "google_search_call"]
    return sum(len(list_of(mapping_of(call, "arguments"), "queries")) for call in calls)
