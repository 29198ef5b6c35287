"""Gemini's `generateContent`: one call that brings the whole answer.

Format: https://ai.google.dev/api/generate-content.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any

from capture.providers import gemini_costs, remote_ids
from capture.providers.gemini_redirects import Redirects
from capture.providers.reading import count_of, list_of, mapping_of, mappings_of, text_of
from capture.providers.replies import Answered, Blocked, Cost, Empty, FinalReply, Incomplete
from capture.providers.sources import Finder, Finding, gather
from capture.providers.utf8_places import Utf8Places

Document = Mapping[str, Any]

# The model's thinking counts too.
_MOST_OUTPUT_TOKENS = 8_000

# Why the model stopped. The list is open; the rest of it is about images and audio.
_ENDED = frozenset({"STOP", "FINISH_REASON_UNSPECIFIED", ""})
_BLOCKED = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "LANGUAGE",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "MODEL_ARMOR",
        "JAILBREAK",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
    }
)
_CAME_TO_NOTHING = frozenset(
    {
        "OTHER",
        "MALFORMED_FUNCTION_CALL",
        "MALFORMED_RESPONSE",
        "TOO_MANY_TOOL_CALLS",
        "UNEXPECTED_TOOL_CALL",
    }
)


def body(prompt: str, instruction: str) -> dict[str, Any]:
    """What is sent.

    Arguments:
        instruction: for the system, or empty for none.
    """
    system = {"systemInstruction": {"parts": [{"text": instruction}]}} if instruction else {}
    return {
        "contents": [{"role": "user", "parts": [{"text": prompt}]}],
        **system,
        "tools": [{"google_search": {}}],
        "generationConfig": {"maxOutputTokens": _MOST_OUTPUT_TOKENS},
    }


def is_reply(document: Document) -> bool:
    """Whether a body is one of these and not of another of Gemini's APIs."""
    return any(key in document for key in ("candidates", "promptFeedback", "usageMetadata"))


def read(document: Document, redirects: Redirects) -> FinalReply:
    """Read the body of a success."""
    final: dict[str, Any] = {
        "model": text_of(document, "modelVersion"),
        "remote_id": remote_ids.usable(text_of(document, "responseId")),
        "cost": _cost(document),
    }
    candidates = mappings_of(document, "candidates")
    if not candidates:
        blocked = text_of(mapping_of(document, "promptFeedback"), "blockReason")
        return Blocked(reason=blocked, **final) if blocked else Empty(reason="no_candidates", **final)
    parts = _Parts(candidates[0])
    reason = text_of(candidates[0], "finishReason")
    if reason in _BLOCKED:
        return Blocked(reason=reason, **final)
    if reason in _CAME_TO_NOTHING:
        return Empty(reason=reason, **final)
    if reason not in _ENDED:
        return _broken_off(reason, parts.text, final)
    if not parts.text.strip():
        return Empty(reason="no_text", **final)
    return Answered(text=parts.text, sources=gather(_findings(candidates[0], parts, redirects)), **final)


def _broken_off(reason: str, text: str, final: dict[str, Any]) -> FinalReply:
    if text.strip() or reason == "MAX_TOKENS":
        return Incomplete(reason=reason, text=text, **final)
    return Empty(reason=reason, **final)


class _Parts:
    """The parts of an answer, its text, and where in it a segment lies."""

    def __init__(self, candidate: Document) -> None:
        # By the part's number; thoughts have numbers too, and are no part of the answer.
        texts = {
            number: text_of(part, "text")
            for number, part in enumerate(list_of(mapping_of(candidate, "content"), "parts"))
            if isinstance(part, dict) and part.get("thought") is not True
        }
        self.text = "".join(texts.values())
        starts = accumulate(map(len, texts.values()), initial=0)
        self._starts = dict(zip(texts, starts, strict=False))
        self._places = {number: Utf8Places(text) for number, text in texts.items()}
        self._finder = Finder()

    def span(self, segment: Document) -> tuple[int, int] | None:
        """Where a segment lies in the text, in characters, or None when it cannot be said.

        It counts in UTF-8 bytes from the start of its part, and quotes the text it means. Where the two disagree, as
        with an answer whose parts were put together, the quotation counts.
        """
        place = self._counted(segment)
        quotation = text_of(segment, "text")
        if quotation and (place is None or not self._is_at(place, quotation)):
            found = self._finder.only_place(self.text, quotation)
            if found >= 0:
                return found, found + len(quotation)
        return place

    def _is_at(self, place: tuple[int, int], quotation: str) -> bool:
        start, end = place
        return end - start == len(quotation) and self.text.startswith(quotation, start)

    def _counted(self, segment: Document) -> tuple[int, int] | None:
        # Zeros are left out of the JSON.
        number = count_of(segment, "partIndex") or 0
        if number not in self._places:
            return None
        place = self._places[number].span(segment.get("startIndex", 0), segment.get("endIndex"))
        start = self._starts[number]
        return (start + place[0], start + place[1]) if place else None


def _findings(candidate: Document, parts: _Parts, redirects: Redirects) -> Iterator[Finding]:
    grounding = mapping_of(candidate, "groundingMetadata")
    cited = _cited(grounding, parts)
    for number, chunk in enumerate(list_of(grounding, "groundingChunks")):
        page = mapping_of(chunk, "web") if isinstance(chunk, dict) else {}
        yield redirects.finding(
            text_of(page, "uri"),
            text_of(page, "title"),
            domain=text_of(page, "domain"),
            cited=number in cited,
            spans=tuple(cited.get(number, ())),
        )


def _cited(grounding: Document, parts: _Parts) -> dict[int, list[tuple[int, int]]]:
    """By the numbers of the pages that are cited, the places that rest on them."""
    spans: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for support in mappings_of(grounding, "groundingSupports"):
        place = parts.span(mapping_of(support, "segment"))
        for number in list_of(support, "groundingChunkIndices"):
            if type(number) is int:
                spans[number] += [place] if place else []
    return spans


def _cost(document: Document) -> Cost | None:
    usage = mapping_of(document, "usageMetadata")
    return gemini_costs.cost(
        text_of(document, "modelVersion"),
        read=(count_of(usage, "promptTokenCount"), count_of(usage, "toolUsePromptTokenCount")),
        written=(count_of(usage, "candidatesTokenCount"), count_of(usage, "thoughtsTokenCount")),
        searches=sum(_queries(candidate) for candidate in mappings_of(document, "candidates")),
    )


def _queries(candidate: Document) -> int:
    queries = list_of(mapping_of(candidate, "groundingMetadata"), "webSearchQueries")
    return sum(isinstance(query, str) and bool(query.strip()) for query in queries)
