"""Perplexity, asked through its Agent API.

Format: https://docs.perplexity.ai/docs/agent-api.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from capture.providers import prices
from capture.providers.errors import BAD_KEY, BAD_MODEL, FATAL, NO_MONEY, TRANSIENT, Rules, error_of_response
from capture.providers.reading import count_of, dollars_of, mapping_of, mappings_of, read_object, text_of
from capture.providers.replies import Basis, Cost, Question
from capture.providers.responses_api import Document, ResponsesProvider, outputs, units_of
from capture.providers.sources import MOST_SPANS, Finding
from capture.providers.transport import Request

_RULES = Rules(
    names={
        "invalid_request": FATAL,
        "invalid_parameter": FATAL,
        "too_many_prompt_tokens": FATAL,
        "payload_too_large": FATAL,
        "invalid_model": BAD_MODEL,
        "invalid_api_key": BAD_KEY,
        "forbidden": BAD_KEY,
        "insufficient_quota": NO_MONEY,
        "request_rate_limit_exceeded": TRANSIENT,
        "overloaded": TRANSIENT,
        "internal_error": TRANSIENT,
        "bad_gateway": TRANSIENT,
        "gateway_timeout": TRANSIENT,
    },
)
_MOST_OUTPUT_TOKENS = 4_000
_MOST_RESULTS = 10
# An id that no call has.
_NO_CALL = "resp_00000000-0000-0000-0000-000000000000"
# [3] in the text points at the search result whose id is 3.
_MARKER = re.compile(r"\[([0-9]{1,6})\]")


class Perplexity(ResponsesProvider):
    """Perplexity's own model with its own search."""

    slug = "perplexity"
    label = "Perplexity"
    surface = "Perplexity, asked through the Agent API"
    lane = "perplexity"
    env_prefix = "PERPLEXITY"
    default_base_url = "https://api.perplexity.ai"
    default_model = "perplexity/sonar"
    simulator_path = "/perplexity"
    takes_country = True
    takes_language = True
    rules = _RULES
    start_path = "/v1/agent"
    # Not /v1/agent, which only starts.
    poll_path = "/v1/responses"

    def body(self, question: Question) -> dict[str, Any]:
        search: dict[str, Any] = {
            "type": "web_search",
            "search_context_size": "medium",
            "max_results": _MOST_RESULTS,
        }
        if question.country:
            search["user_location"] = {"country": question.country}
        language = {"language_preference": question.language} if question.language else {}
        # Fields that it does not know are refused, so this is not the place for OpenAI's.
        return {
            "model": self.account.model,
            "input": question.text,
            "tools": [search],
            "tool_choice": {"type": "web_search"},
            **language,
            "max_output_tokens": _MOST_OUTPUT_TOKENS,
            "background": True,
            "store": True,
            "metadata": {"run": question.run},
        }

    def check_request(self) -> Request:
        # The list of models (GET /v1/models) is given to anybody, so it tells nothing about a key. That this look-up
        # comes after the key is looked at is not documented.
        return self.poll_request(_NO_CALL)

    def read_check(self, status: int, headers: Mapping[str, str], body: bytes) -> str:
        if status not in (200, 404):
            raise error_of_response(status, headers, body, self.rules)
        read_object(body, status)
        return "the key is accepted"

    def consulted(self, document: Document, text: str) -> Iterator[Finding]:
        markers = _markers(text)
        for search in outputs(document, "search_results"):
            for result in mappings_of(search, "results"):
                spans = markers.get(_result_id(result), ())
                yield Finding(text_of(result, "url"), text_of(result, "title"), cited=bool(spans), spans=spans)
        for fetch in outputs(document, "fetch_url_results"):
            for page in mappings_of(fetch, "contents"):
                yield Finding(text_of(page, "url"), text_of(page, "title"))

    def cost(self, document: Document) -> Cost | None:
        told = mapping_of(mapping_of(document, "usage"), "cost")
        total = dollars_of(told, "total_cost")
        if total is not None and told.get("currency", "USD") == "USD":
            return Cost(total, Basis.REPORTED)
        fetches = sum(len(mappings_of(fetch, "contents")) for fetch in outputs(document, "fetch_url_results"))
        units = units_of(document, len(outputs(document, "search_results")), fetches)
        if units is None:
            return None
        return prices.computed_cost(self.lane, text_of(document, "model"), self.default_model, units)


def _markers(text: str) -> dict[str, tuple[tuple[int, int], ...]]:
    """The places of the markers in the text by the id that they point at."""
    spans: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for marker in _MARKER.finditer(text):
        spans[str(int(marker.group(1)))].append(marker.span())
    return {number: tuple(places[:MOST_SPANS]) for number, places in spans.items()}


def _result_id(result: Document) -> str:
    number = count_of(result, "id")
    return text_of(result, "id").strip() if number is None else str(number)
