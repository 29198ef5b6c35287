"""Gemini's Interactions API: what is sent, and what each kind of response means."""

from __future__ import annotations

from decimal import Decimal

import pytest

from capture.providers.replies import (
    Answered,
    Blocked,
    Empty,
    Incomplete,
    Kind,
    Pending,
    ProviderError,
    Question,
    Scope,
)
from capture.providers.transport import Response
from tests.providers.conftest import GEMINI_KEY, CannedTransport, as_body, error_from, make_gemini, reply_to

REDIRECT = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/"


def interaction(*steps, status="completed", **more):
    return {
        "id": "v1_1",
        "status": status,
        "object": "interaction",
        "model": "gemini-3.8-flash",
        "steps": [*steps],
        **more,
    }


def output(*contents):
    return {"type": "model_output", "content": [{"type": "text", **content} for content in contents]}


def citation(start, end, name="a", title="acme.example"):
    places = {"start_index": start, "end_index": end}
    return {"type": "url_citation", "url": REDIRECT + name, "title": title} | {
        key: value for key, value in places.items() if value is not None
    }


def test_a_start_asks_in_the_background_with_googles_search(gemini):
    request = gemini.start_request(Question("Which shoes?", country="DE", language="de", run="run-7"))

    assert (request.method, request.url) == ("POST", "https://generativelanguage.googleapis.com/v1beta/interactions")
    assert request.headers["x-goog-api-key"] == GEMINI_KEY
    assert request.headers["Api-Revision"] == "2026-05-20"
    assert request.patience is None
    assert request.json == {
        "model": "gemini-3.8-flash",
        "input": "Which shoes?",
        "system_instruction": (
            "The person who asks is in the country with the ISO 3166 code DE. "
            "Answer in the language with the ISO 639 code de."
        ),
        "tools": [{"type": "google_search"}],
        "background": True,
        "store": True,
        "generation_config": {"max_output_tokens": 8000, "thinking_level": "low"},
    }


def test_without_country_and_language_there_is_no_instruction(gemini):
    assert "system_instruction" not in gemini.start_request(Question("Which shoes?")).json


@pytest.mark.parametrize("api", ["", "interactions", "generate_content"])
def test_a_call_in_the_background_is_looked_after_whatever_is_set_now(api):
    request = make_gemini(api=api).poll_request("v1_a/b")

    assert (request.method, request.url) == (
        "GET",
        "https://generativelanguage.googleapis.com/v1beta/interactions/v1_a%2Fb",
    )


@pytest.mark.parametrize("status", ["queued", "in_progress"])
def test_a_call_at_work_is_pending(gemini, status):
    assert reply_to(gemini, {"id": "v1_1", "status": status}, headers={"Retry-After": "4"}) == Pending("v1_1", 4.0)


@pytest.mark.parametrize("remote_id", [None, "", "  ", "x" * 501, 7])
def test_a_call_at_work_without_a_usable_id_cannot_be_read(gemini, remote_id):
    error = error_from(gemini, {"id": remote_id, "status": "in_progress"})

    assert (error.reason, error.maybe_charged) == ("unreadable", True)


def test_outputs_are_joined_and_other_steps_left_out(gemini):
    steps = [
        {"type": "thought", "summary": [{"type": "text", "text": "Hm."}]},
        output({"text": "Acme "}),
        {"type": "google_search_call", "arguments": {"queries": ["shoes"]}},
        output({"text": "is "}, {"text": "good."}),
        {"type": "something_new"},
    ]

    reply = reply_to(gemini, interaction(*steps))

    assert (type(reply), reply.text, reply.model) == (Answered, "Acme is good.", "gemini-3.8-flash")


def spans(reply):
    return [reply.text[slice(*span)] for source in reply.sources for span in source.spans]


def test_places_count_in_bytes_from_the_start_of_their_text(gemini):
    text = "👟 Кроссовки Acme."
    start, end = len("👟 ".encode()), len("👟 Кроссовки".encode())

    reply = reply_to(
        gemini, interaction(output({"text": "Ж. "}, {"text": text, "annotations": [citation(start, end)]}))
    )

    assert spans(reply) == ["Кроссовки"]
    assert reply.sources[0].cited
    assert (reply.sources[0].domain, reply.sources[0].redirect) == ("acme.example", True)


def test_places_that_would_cut_characters_as_bytes_are_taken_for_characters(gemini):
    text = "👟👟 Кроссовки Acme."
    annotations = [citation(3, 12, "a"), citation(13, 17, "b")]

    reply = reply_to(gemini, interaction(output({"text": text, "annotations": annotations})))

    assert spans(reply) == ["Кроссовки", "Acme"]


@pytest.mark.parametrize(
    ("start", "end", "found"),
    [(0, 4, ["Acme"]), (None, 4, ["Acme"]), (0, 99, []), (4, 4, []), (0, None, []), ("0", 4, [])],
)
def test_a_place_that_is_none_leaves_the_page_cited(gemini, start, end, found):
    reply = reply_to(gemini, interaction(output({"text": "Acme.", "annotations": [citation(start, end)]})))

    assert reply.sources[0].cited
    assert spans(reply) == found


def test_only_citations_of_pages_are_sources(gemini):
    annotations = [{"type": "file_citation", "url": "https://acme.example/"}, "odd", citation(0, 4)]

    reply = reply_to(gemini, interaction(output({"text": "Acme.", "annotations": annotations})))

    assert len(reply.sources) == 1


def test_a_completed_call_without_text_is_empty(gemini):
    reply = reply_to(gemini, interaction({"type": "thought"}))

    assert (type(reply), reply.reason) == (Empty, "no_text")


@pytest.mark.parametrize("status", ["cancelled", "requires_action"])
def test_a_call_that_ended_otherwise_is_empty_even_with_a_piece_of_text(gemini, status):
    reply = reply_to(gemini, interaction(output({"text": "Ac"}), status=status))

    assert (type(reply), reply.reason) == (Empty, status)


@pytest.mark.parametrize("status", ["incomplete", "budget_exceeded", "requires_continuation", "idle"])
@pytest.mark.parametrize("text", ["", "Acme is"])
def test_a_call_that_stopped_early_is_incomplete(gemini, status, text):
    reply = reply_to(gemini, interaction(output({"text": text}), status=status))

    assert (type(reply), reply.reason, reply.text) == (Incomplete, status, text)


def test_a_state_that_is_not_known_is_told_with_its_text_and_looked_at_again_without(gemini):
    assert isinstance(reply_to(gemini, interaction(output({"text": "Acme is"}), status="paused")), Incomplete)
    assert reply_to(gemini, interaction(status="paused")) == Pending("v1_1")


@pytest.mark.parametrize(
    ("more", "kind", "scope"),
    [
        ({}, Kind.TRANSIENT, Scope.REQUEST),
        ({"errors": [{"code": "internal", "message": "Sorry."}]}, Kind.TRANSIENT, Scope.REQUEST),
        ({"errors": [{"code": 429, "message": "x, limit: 0, model: y"}]}, Kind.FATAL, Scope.MONEY),
        ({"errors": [{"code": "permission_denied", "message": ""}]}, Kind.FATAL, Scope.KEY),
        ({"errors": [{"code": "FAILED", "message": "Your prepayment credits are depleted."}]}, Kind.FATAL, Scope.MONEY),
        ({"error": {"code": 400, "message": "Bad."}}, Kind.FATAL, Scope.REQUEST),
    ],
)
def test_a_failed_call_is_over(gemini, more, kind, scope):
    error = error_from(gemini, interaction(status="failed", **more))

    assert (error.kind, error.scope, error.ended) == (kind, scope, True)


def test_a_completed_call_that_holds_only_errors_failed(gemini):
    error = error_from(gemini, interaction(errors=[{"code": "unavailable", "message": "Sorry."}]))

    assert (error.kind, error.ended) == (Kind.TRANSIENT, True)


def test_a_call_that_is_not_known_any_more_is_gone():
    body = as_body({"error": {"code": 404, "message": "Not found.", "status": "NOT_FOUND"}})
    provider = make_gemini(CannedTransport(Response(404, {}, body)))

    with pytest.raises(ProviderError) as caught:
        provider.poll("v1_1")

    assert (caught.value.reason, caught.value.ended, caught.value.scope) == ("gone", True, Scope.REQUEST)


USAGE = {
    "total_input_tokens": 400_000,
    "total_tool_use_tokens": 600_000,
    "total_output_tokens": 300_000,
    "total_thought_tokens": 700_000,
}
CALLS = [
    {"type": "google_search_call", "arguments": {"queries": ["a", "b"]}},
    {"type": "google_search_call", "arguments": {"queries": ["c"]}},
]


@pytest.mark.parametrize(
    ("usage", "queries"),
    [
        (USAGE, 3),
        (USAGE | {"grounding_tool_count": []}, 3),
        (
            USAGE
            | {"grounding_tool_count": [{"type": "google_search", "count": 5}, {"type": "google_maps", "count": 9}]},
            5,
        ),
        (USAGE | {"grounding_tool_count": [{"count": 5}]}, 5),
        (USAGE | {"grounding_tool_count": [{"type": "google_search", "count": "many"}]}, 0),
    ],
)
def test_the_cost_counts_tokens_and_queries(gemini, usage, queries):
    reply = reply_to(gemini, interaction(*CALLS, output({"text": "Acme."}), usage=usage))

    assert reply.cost.amount == Decimal("4.5") + queries * Decimal("0.014")


def test_a_body_of_no_known_kind_cannot_be_read(gemini):
    for document in ({}, {"object": "interaction"}, {"steps": 7}):
        assert error_from(gemini, document).reason == "unreadable"


@pytest.mark.parametrize("code", ["safety", "RECITATION", "prohibited_content", "spii", "content_blocked"])
def test_a_generation_that_a_filter_stopped_is_blocked_and_not_tried_again(gemini, code):
    document = interaction(status="failed", errors=[{"code": code, "message": "Generation blocked."}])

    reply = reply_to(gemini, document)

    assert reply == Blocked(reason=code.lower(), model=reply.model, cost=reply.cost)


@pytest.mark.parametrize("odd", ["\x00", "\x00\x00€"])
def test_bytes_are_counted_in_the_text_as_it_was_sent(gemini, odd):
    text = f"{odd}Acme is good."
    start = len(odd.encode())
    cited = {"type": "url_citation", "url": "https://a.example/", "start_index": start, "end_index": start + 4}

    reply = reply_to(gemini, interaction(output({"text": text, "annotations": [cited]})))

    ((first, last),) = reply.sources[0].spans
    assert reply.text[first:last] == "Acme"
