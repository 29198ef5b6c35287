"""Whatever a server sends, reading it gives a reply or a `ProviderError`, and never a reply that lies."""

from __future__ import annotations

import copy
import json
import math
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from capture.providers.replies import Answered, Blocked, Empty, Incomplete, Pending, ProviderError, Refused
from tests.providers.conftest import MAKERS, completed, make_chatgpt, make_gemini, message, reply_to

# The first bodies take a while to be made up; that says nothing about the readers.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

PROVIDERS = st.sampled_from([make() for make in MAKERS.values()])

REDIRECT = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/"

REALISTIC: list[dict[str, Any]] = [
    {"id": "resp_1", "object": "response", "status": "queued", "output": [], "error": None, "usage": None},
    completed(
        {"type": "web_search_call", "action": {"type": "search", "sources": [{"url": "https://acme.example/"}]}},
        {"type": "search_results", "results": [{"id": 1, "url": "https://acme.example/", "title": "Acme"}]},
        {"type": "fetch_url_results", "contents": [{"url": "https://acme.example/", "title": "Acme"}]},
        message(
            "Acme [1].",
            annotations=[{"type": "url_citation", "url": "https://acme.example/", "start_index": 0, "end_index": 4}],
        ),
        usage={"input_tokens": 5, "output_tokens": 7, "cost": {"currency": "USD", "total_cost": 0.01}},
        tool_usage={"web_search": {"num_requests": 1}},
    ),
    completed({"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}),
    completed() | {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
    completed() | {"status": "failed", "error": {"code": "server_error", "message": "Please try again in 3s."}},
    {
        "error": {
            "message": "Slow down.",
            "type": "tokens",
            "code": "rate_limit_exceeded",
            "details": [{"@type": "RetryInfo"}, {"@type": "QuotaFailure", "violations": [{"quotaId": "PerDay"}]}],
        }
    },
    {
        "candidates": [
            {
                "content": {"parts": [{"text": "Hm.", "thought": True}, {"text": "👟 Acme ist gut."}]},
                "finishReason": "STOP",
                "groundingMetadata": {
                    "webSearchQueries": ["shoes"],
                    "groundingChunks": [{"web": {"uri": f"{REDIRECT}a", "title": "acme.example"}}],
                    "groundingSupports": [
                        {
                            "segment": {"partIndex": 1, "startIndex": 5, "endIndex": 9, "text": "Acme"},
                            "groundingChunkIndices": [0],
                        }
                    ],
                },
            }
        ],
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 7},
        "modelVersion": "gemini-3.8-flash",
    },
    {"promptFeedback": {"blockReason": "SAFETY"}},
    {
        "id": "v1_1",
        "status": "completed",
        "steps": [
            {"type": "google_search_call", "arguments": {"queries": ["shoes"]}},
            {
                "type": "model_output",
                "content": [
                    {
                        "type": "text",
                        "text": "👟 Acme.",
                        "annotations": [
                            {"type": "url_citation", "url": f"{REDIRECT}a", "start_index": 5, "end_index": 9}
                        ],
                    }
                ],
            },
        ],
        "usage": {"total_input_tokens": 5, "grounding_tool_count": [{"type": "google_search", "count": 1}]},
    },
    {"id": "v1_1", "status": "failed", "errors": [{"code": "quota_exceeded", "message": "Nothing left."}]},
    {
        "search_metadata": {"id": "6ac4", "status": "Success", "created_at": "2026-10-06 12:34:29 UTC"},
        "header": "Acme.",
        "text_blocks": [
            {"type": "list", "list": [{"snippet": "Acme 1 .", "reference_indexes": [0], "list": [{"snippet": "x"}]}]},
            {
                "type": "table",
                "headers": ["a"],
                "table": [["b", {"snippet": "c"}]],
                "detailed": [[{"reference_indexes": [0]}]],
            },
            {"type": "expandable", "title": "More", "text_blocks": [{"type": "paragraph", "snippet": "Acme too."}]},
            {"type": "comparison", "product_labels": ["A"], "comparison": [{"feature": "f", "values": ["v"]}]},
            {
                "type": "paragraph",
                "snippet": "See Acme.",
                "snippet_links": [{"text": "Acme", "link": "https://a.example"}],
            },
        ],
        "references": [{"index": 0, "link": "https://acme.example/", "title": "Acme"}],
        "reconstructed_markdown": "Acme [0]",
    },
    {"search_metadata": {"id": "6ac4", "status": "Processing"}},
    {"ai_overview": {"page_token": "abc", "text_blocks": [], "error": "Later."}},
]

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.just(10**400),
    st.floats(),
    st.text(st.characters(), max_size=20),
    st.sampled_from(
        ["", " ", "queued", "completed", "failed", "MAX_TOKENS", "list", "\ud800", "\x00", "https://[", "[1]", "resp_1"]
    ),
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(["id", "status", "text", "type", "snippet", "list", "parts", "x"]), inner, max_size=4
        ),
    ),
    max_leaves=10,
)
STATUSES = st.one_of(st.sampled_from([0, 200, 202, 400, 401, 404, 429, 500, 502, 529]), st.integers(-1, 1000))
HEADERS = st.dictionaries(
    st.sampled_from(
        ["Retry-After", "retry-after-ms", "x-should-retry", "openai-poll-after-ms", "x-ratelimit-reset-tokens", "date"]
    ),
    st.one_of(
        st.text(max_size=30),
        st.sampled_from(
            ["7", "-1", "nan", "6m0s", "true", "Sun, 29 Nov 2026 12:00:30 GMT", "Mon, 01 Jan 0001 00:00:00 +2359"]
        ),
    ),
)


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """A realistic body in which some values have been replaced or removed."""
    document = copy.deepcopy(draw(st.sampled_from(REALISTIC)))
    for _ in range(draw(st.integers(1, 4))):
        _mutate(draw, document)
    return document


def _mutate(draw: st.DrawFn, node: Any) -> None:
    """Walk down at random and change what is found there."""
    while isinstance(node, dict | list) and node:
        key = draw(st.sampled_from(list(node) if isinstance(node, dict) else range(len(node))))
        if not isinstance(node[key], dict | list) or draw(st.booleans()):
            if draw(st.booleans()):
                node[key] = draw(ANYTHING)
            else:
                del node[key]
            return
        node = node[key]


def check(provider, status, headers, body):
    try:
        reply = provider.read(status, headers, body)
    except ProviderError as error:
        check_error(error)
    else:
        check_reply(reply)


def check_error(error):
    assert error.message
    assert error.reason
    assert error.wait is None or 0 <= error.wait <= 86_400
    assert error.cost is None or (error.cost.amount.is_finite() and error.cost.amount >= 0)


def check_reply(reply):
    assert isinstance(reply, Pending | Answered | Refused | Blocked | Incomplete | Empty)
    if isinstance(reply, Pending):
        assert reply.remote_id.strip()
        assert reply.after is None or 0 <= reply.after <= 86_400
        return
    assert reply.cost is None or (reply.cost.amount.is_finite() and reply.cost.amount >= 0)
    text = getattr(reply, "text", "")
    # It can be stored: there is no NUL in it and no lone surrogate.
    assert "\x00" not in text.encode().decode()
    assert reply.made_at is None or reply.made_at.tzinfo
    if isinstance(reply, Answered):
        assert text.strip()
        assert all(0 <= start < end <= len(text) for source in reply.sources for start, end in source.spans)


@PATIENT
@given(PROVIDERS, STATUSES, HEADERS, st.one_of(ANYTHING, mutated()))
@example(make_chatgpt(), 200, {}, {"status": "completed", "usage": {"input_tokens": math.inf}})
def test_any_json_is_read_or_turned_down(provider, status, headers, document):
    check(provider, status, headers, json.dumps(document).encode())


@PATIENT
@given(PROVIDERS, STATUSES, HEADERS, mutated(), st.data())
def test_any_cut_or_scratched_body_is_read_or_turned_down(provider, status, headers, document, data):
    body = bytearray(json.dumps(document, ensure_ascii=False).encode("utf-8", "replace"))
    place = data.draw(st.integers(0, len(body)))

    if data.draw(st.booleans()):
        body[place:] = b""
    else:
        body[place : place + 1] = data.draw(st.binary(max_size=3))

    check(provider, status, headers, bytes(body))


@PATIENT
@given(PROVIDERS, STATUSES, HEADERS, st.binary())
def test_any_bytes_are_read_or_turned_down(provider, status, headers, body):
    check(provider, status, headers, body)


@pytest.mark.parametrize("status", [0, 200, 500])
@pytest.mark.parametrize("depth", [500, 900, 100_000])
def test_any_depth_is_read_or_turned_down(status, depth):
    body = b'{"output": ' + b"[" * depth + b"]" * depth + b', "error": {"message": "x"}}'

    for make in MAKERS.values():
        check(make(), status, {}, body)


@pytest.mark.parametrize("depth", [5, 100, 400])
def test_a_page_of_any_depth_is_read(depth):
    body = b'{"text_blocks": ' + b'[{"type": "list", "list": ' * depth + b"[]" + b"}]" * depth + b', "header": "x"}'

    assert reply_to(MAKERS["google_ai"](), json.loads(body)).text == "x"


def test_a_long_answer_is_read_within_a_second():
    """Places are not sought anew from the start of the text for every citation."""
    text = "Кроссовки 👟 " * 100_000
    segments = [
        {"segment": {"startIndex": 9 * n, "endIndex": 9 * n + 9}, "groundingChunkIndices": [0]} for n in range(5_000)
    ]
    candidate = {
        "content": {"parts": [{"text": text}]},
        "groundingMetadata": {
            "groundingChunks": [{"web": {"uri": f"{REDIRECT}a"}}],
            "groundingSupports": segments,
        },
    }
    body = json.dumps({"candidates": [candidate]}).encode()

    began = time.monotonic()
    make_gemini().read(200, {}, body)

    assert time.monotonic() - began < 1
