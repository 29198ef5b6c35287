"""ChatGPT: what is sent, and what each kind of response means."""

from __future__ import annotations

from decimal import Decimal

import pytest

from capture.providers.replies import Answered, Basis, Blocked, Empty, Incomplete, Pending, Question, Refused
from tests.providers.conftest import OPENAI_KEY, completed, error_from, message, reply_to


def citation(start, end, url="https://acme.example/", title="Acme"):
    return {"type": "url_citation", "start_index": start, "end_index": end, "url": url, "title": title}


def test_a_start_asks_in_the_background_with_the_web_search(chatgpt):
    request = chatgpt.start_request(Question("Which shoes?", country="DE", language="de", run="run-7"))

    assert (request.method, request.url) == ("POST", "https://api.openai.com/v1/responses")
    assert request.headers["Authorization"] == f"Bearer {OPENAI_KEY}"
    assert request.json == {
        "model": "gpt-6-luna",
        "input": "Which shoes?",
        "tools": [
            {
                "type": "web_search",
                "search_context_size": "medium",
                "user_location": {"type": "approximate", "country": "DE"},
            }
        ],
        "tool_choice": "auto",
        "include": ["web_search_call.action.sources"],
        "max_tool_calls": 3,
        "max_output_tokens": 8000,
        "background": True,
        "store": True,
        "metadata": {"run": "run-7"},
    }


def test_without_a_country_the_location_is_nowhere_and_not_the_united_states(chatgpt):
    request = chatgpt.start_request(Question("Which shoes?"))

    assert request.json["tools"][0]["user_location"] == {"type": "approximate"}


@pytest.mark.parametrize(
    ("remote_id", "path"),
    [
        ("resp_1", "resp_1"),
        ("../models", "..%2Fmodels"),
        ("..", "%2E%2E"),
        (".", "%2E"),
        ("a?b#c", "a%3Fb%23c"),
        ("a\r\nX: y", "a%0D%0AX%3A%20y"),
        ("a\ud800", "a%3F"),
    ],
)
def test_an_id_is_one_segment_of_the_poll_address_whatever_is_in_it(chatgpt, remote_id, path):
    request = chatgpt.poll_request(remote_id)

    assert request.url == f"https://api.openai.com/v1/responses/{path}"
    assert request.method == "GET"


@pytest.mark.parametrize("state", ["queued", "in_progress"])
def test_a_call_at_work_is_pending(chatgpt, state):
    reply = reply_to(chatgpt, {"id": "resp_1", "status": state, "output": [message("half an ans")]})

    assert reply == Pending("resp_1")


def test_the_pace_of_polls_is_taken_from_the_header(chatgpt):
    reply = reply_to(chatgpt, {"id": "resp_1", "status": "queued"}, headers={"OpenAI-Poll-After-Ms": "2500"})

    assert reply == Pending("resp_1", after=2.5)


@pytest.mark.parametrize("remote_id", [None, "", "  ", 7, "x" * 501])
def test_an_accepted_call_without_a_usable_id_may_have_been_charged(chatgpt, remote_id):
    error = error_from(chatgpt, {"id": remote_id, "status": "queued"})

    assert error.reason == "unreadable"
    assert error.maybe_charged


def test_the_text_is_all_parts_of_all_messages(chatgpt):
    reply = reply_to(chatgpt, completed(message("One. ", "Two. "), {"type": "reasoning"}, message("Three.")))

    assert reply.text == "One. Two. Three."


def test_spans_of_later_parts_are_shifted(chatgpt):
    reply = reply_to(chatgpt, completed(message("😀 Привет. ", "See Acme.", annotations=[citation(4, 8)])))

    (source,) = reply.sources
    ((start, end),) = source.spans
    assert reply.text[start:end] == "Acme"


def test_spans_count_characters_and_not_bytes(chatgpt):
    text = "Кроссовки 👟👟 хвалит (acme.example)."
    start = text.index("(")

    reply = reply_to(chatgpt, completed(message(text, annotations=[citation(start, start + 14)])))

    assert reply.sources[0].spans == ((start, start + 14),)
    assert text[start : start + 14] == "(acme.example)"


@pytest.mark.parametrize(
    ("start", "end"), [(-1, 3), (0, 99), (3, 3), (4, 2), (None, 3), ("0", "3"), (True, 3), (0.5, 3)]
)
def test_a_span_outside_the_text_is_dropped_and_its_source_kept(chatgpt, start, end):
    reply = reply_to(chatgpt, completed(message("Acme.", annotations=[citation(start, end)])))

    (source,) = reply.sources
    assert source.cited
    assert source.spans == ()


def test_what_was_only_consulted_is_listed_behind_what_is_cited(chatgpt):
    search = {
        "type": "web_search_call",
        "action": {
            "type": "search",
            "sources": [
                {"url": "https://other.example/"},
                {"type": "api"},
                {"url": "https://acme.example/?utm_source=openai"},
            ],
        },
    }

    reply = reply_to(chatgpt, completed(search, message("Acme.", annotations=[citation(0, 4)])))

    assert [(source.url, source.cited) for source in reply.sources] == [
        ("https://acme.example/", True),
        ("https://other.example/", False),
    ]


def test_an_answer_costs_its_tokens_and_its_searches(chatgpt):
    reply = reply_to(
        chatgpt,
        completed(
            message("Acme."),
            model="gpt-6-luna",
            usage={"input_tokens": 15_000, "output_tokens": 2_000},
            tool_usage={"web_search": {"num_requests": 2}},
        ),
    )

    assert reply.cost.amount == Decimal("0.0225")
    assert reply.cost.basis is Basis.COMPUTED


def test_older_answers_are_charged_by_their_search_calls(chatgpt):
    calls = [{"type": "web_search_call", "action": {"type": kind}} for kind in ("search", "open_page", "search")]

    reply = reply_to(chatgpt, completed(*calls, message("Acme."), usage={"input_tokens": 0, "output_tokens": 0}))

    assert reply.cost.amount == Decimal("0.02")


def test_an_answer_without_usage_has_no_cost(chatgpt):
    reply = reply_to(chatgpt, completed(message("Acme."), usage=None))

    assert reply.cost is None


def test_a_refusal_in_words_is_refused(chatgpt):
    refusal = {"type": "message", "content": [{"type": "refusal", "refusal": "I can't help with that."}]}

    reply = reply_to(chatgpt, completed(refusal))

    assert reply == Refused(text="I can't help with that.", model="m")


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ([], "no_message"),
        ([{"type": "reasoning"}], "no_message"),
        ([{"type": "function_call", "name": "f"}], "function_call"),
        ([message("")], "no_text"),
        ([message(" \n\t ")], "no_text"),
        ([{"type": "message", "content": None}], "no_text"),
    ],
)
def test_a_completed_call_without_text_is_empty(chatgpt, output, reason):
    reply = reply_to(chatgpt, completed(*output))

    assert reply == Empty(reason=reason, model="m")


def test_a_cancelled_call_is_empty_even_with_a_piece_of_an_answer(chatgpt):
    reply = reply_to(chatgpt, completed(message("Half")) | {"status": "cancelled"})

    assert reply == Empty(reason="cancelled", model="m")


def test_a_call_that_wants_a_tool_run_is_empty(chatgpt):
    reply = reply_to(chatgpt, completed() | {"status": "requires_action"})

    assert reply == Empty(reason="requires_action", model="m")


@pytest.mark.parametrize("reason", ["max_output_tokens", "max_tokens", "steered", "something_new"])
def test_a_cut_answer_is_incomplete_with_the_text_so_far(chatgpt, reason):
    cut = completed(message("So far")) | {"status": "incomplete", "incomplete_details": {"reason": reason}}

    reply = reply_to(chatgpt, cut)

    assert reply == Incomplete(reason=reason, text="So far", model="m")


def test_a_cut_answer_without_a_reason_is_incomplete_too(chatgpt):
    reply = reply_to(chatgpt, completed() | {"status": "incomplete", "incomplete_details": None})

    assert reply == Incomplete(reason="unknown", model="m")


def test_an_answer_stopped_by_the_filter_is_blocked(chatgpt):
    cut = completed(message("So f")) | {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}

    reply = reply_to(chatgpt, cut)

    assert reply == Blocked(reason="content_filter", model="m")


def test_a_flagged_question_that_was_answered_is_an_answer(chatgpt):
    reply = reply_to(chatgpt, completed(message("I'm sorry you feel so."), moderation={"input": {"flagged": True}}))

    assert isinstance(reply, Answered)


@pytest.mark.parametrize("document", [{}, {"status": "resting"}, {"foo": 1}, {"status": 7, "output": "text"}])
def test_an_unknown_state_without_text_cannot_be_read(chatgpt, document):
    error = error_from(chatgpt, document)

    assert error.reason == "unreadable"
    assert error.maybe_charged


def test_what_a_database_cannot_store_is_replaced_one_for_one(chatgpt):
    reply = reply_to(chatgpt, completed(message("a\x00b\ud800c")))

    assert reply.text == "a\ufffdb\ufffdc"
