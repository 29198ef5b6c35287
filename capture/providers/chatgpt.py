"""ChatGPT, asked through OpenAI's Responses API with its web search.

Format: https://github.com/openai/openai-openapi, spec 2.3.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from capture.providers import model_lists, prices
from capture.providers.base import gettext_noop
from capture.providers.errors import (
    BAD_KEY,
    BAD_MODEL,
    FATAL,
    NO_MONEY,
    TRANSIENT,
    WRONG_REGION,
    Rules,
    error_of_response,
)
from capture.providers.reading import count_of, mapping_of, mappings_of, read_object, text_of
from capture.providers.replies import Cost, Question
from capture.providers.responses_api import Document, ResponsesProvider, outputs, units_of
from capture.providers.sources import Finding
from capture.providers.transport import Request
from capture.providers.waits import milliseconds, wait_in_headers

# https://platform.openai.com/docs/guides/error-codes; the list of codes is open.
_RULES = Rules(
    names={
        "model_not_found": BAD_MODEL,
        "context_length_exceeded": FATAL,
        "unsupported_parameter": FATAL,
        "decimal_below_min_value": FATAL,
        "invalid_prompt": FATAL,
        "bio_policy": FATAL,
        "misalignment_policy_violation": FATAL,
        "data_residency_mismatch": FATAL,
        "invalid_api_key": BAD_KEY,
        "insufficient_quota": NO_MONEY,
        "credit_balance_exhausted": NO_MONEY,
        "organization_usage_limit_exceeded": NO_MONEY,
        "billing_hard_limit_reached": NO_MONEY,
        "billing_not_active": NO_MONEY,
        "unsupported_country_region_territory": WRONG_REGION,
        "rate_limit_exceeded": TRANSIENT,
        "slow_down": TRANSIENT,
        "server_error": TRANSIENT,
        "server_is_overloaded": TRANSIENT,
        "service_unavailable_error": TRANSIENT,
    },
    name_endings={"_spend_limit_exceeded": NO_MONEY, "_policy": FATAL, "_policy_violation": FATAL},
)
# It counts the model's thinking too: 1,200 left no room for an answer in four prompts of four.
_MOST_OUTPUT_TOKENS = 8_000
_MOST_SEARCHES = 3


class ChatGPT(ResponsesProvider):
    """OpenAI's model of your choice with web search, which comes close to what ChatGPT answers."""

    slug = "chatgpt"
    label = "ChatGPT"
    surface = "ChatGPT, asked through the OpenAI API"
    lane = "openai"
    env_prefix = "OPENAI"
    default_base_url = "https://api.openai.com/v1"
    default_model = "gpt-6-luna"
    simulator_path = "/openai/v1"
    takes_country = True
    takes_language = False
    locale_note = gettext_noop("ChatGPT takes a country, but no language: it answers in the language of the question.")
    rules = _RULES
    start_path = "/responses"
    poll_path = "/responses"

    def body(self, question: Question) -> dict[str, Any]:
        # Without a location OpenAI takes the United States; the bare type means nowhere in particular.
        location = {"type": "approximate"} | ({"country": question.country} if question.country else {})
        return {
            "model": self.account.model,
            "input": question.text,
            "tools": [{"type": "web_search", "search_context_size": "medium", "user_location": location}],
            # The model may skip the search, as it may when people ask it.
            "tool_choice": "auto",
            "include": ["web_search_call.action.sources"],
            "max_tool_calls": _MOST_SEARCHES,
            "max_output_tokens": _MOST_OUTPUT_TOKENS,
            "background": True,
            # Without it some projects forget the answer before it is fetched.
            "store": True,
            "metadata": {"run": question.run},
        }

    def check_request(self) -> Request:
        return Request("GET", f"{self.account.base_url}/models", self.headers())

    def read_check(self, status: int, headers: Mapping[str, str], body: bytes) -> str:
        if not 200 <= status < 300:
            raise error_of_response(status, headers, body, self.rules)
        models = mappings_of(read_object(body, status), "data")
        return model_lists.in_words((text_of(model, "id") for model in models), self.account.model)

    def consulted(self, document: Document, text: str) -> Iterator[Finding]:
        for call in outputs(document, "web_search_call"):
            for source in mappings_of(mapping_of(call, "action"), "sources"):
                yield Finding(text_of(source, "url"), text_of(source, "title"))

    def cost(self, document: Document) -> Cost | None:
        units = units_of(document, _searches(document))
        if units is None:
            return None
        return prices.computed_cost(self.lane, text_of(document, "model"), self.default_model, units)

    def poll_after(self, headers: Mapping[str, str]) -> float | None:
        wait = milliseconds(headers.get("openai-poll-after-ms", ""))
        return wait if wait is not None else wait_in_headers(headers)


def _searches(document: Document) -> int:
    """The searches that are charged for: one call may ask several queries and counts once."""
    told = count_of(mapping_of(mapping_of(document, "tool_usage"), "web_search"), "num_requests")
    if told is not None:
        return told
    calls = outputs(document, "web_search_call")
    return sum(text_of(mapping_of(call, "action"), "type") == "search" for call in calls)
