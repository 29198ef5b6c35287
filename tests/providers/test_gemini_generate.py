"""Gemini's generateContent: what is sent, and what each kind of response means."""

from __future__ import annotations

from decimal import Decimal

import pytest

from capture.providers.replies import Answered, Basis, Blocked, Empty, Incomplete, Question
from capture.providers.transport import Patience, Response
from tests.providers.conftest import GEMINI_KEY, CannedTransport, as_body, make_gemini, reply_to

REDIRECT = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/"


def answer(*texts, chunks=(), supports=(), reason="STOP", **more):
    parts = [{"text": text} if isinstance(text, str) else text for text in texts]
    grounding = {"groundingChunks": list(chunks), "groundingSupports": list(supports), **more.pop("grounding", {})}
    candidate = {"content": {"parts": parts, "role": "model"}, "finishReason": reason, "groundingMetadata": grounding}
    return {"candidates": [candidate], "modelVersion": "gemini-3.8-flash", **more}


def chunk(name, title="acme.example", **more):
    return {"web": {"uri": REDIRECT + name, "title": title, **more}}


def support(*numbers, **segment):
    return {"segment": segment, "groundingChunkIndices": list(numbers)}


@pytest.fixture
def generating():
    return make_gemini(api="generate_content")


def test_a_start_asks_at_once_with_googles_search_and_more_time(generating):
    request = generating.start_request(Question("Which shoes?", country="DE", language="de", run="run-7"))

    assert (request.method, request.url) == (
        "POST",
        "https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:generateContent",
    )
    assert request.patience == Patience(silence=120, total=150)
    assert request.headers["x-goog-api-key"] == GEMINI_KEY
    instruction = request.json["systemInstruction"]["parts"][0]["text"]
    assert "DE" in instruction
    assert "de" in instruction.split()[-1]
    assert {**request.json, "systemInstruction": None} == {
        "contents": [{"role": "user", "parts": [{"text": "Which shoes?"}]}],
        "systemInstruction": None,
        "tools": [{"google_search": {}}],
        "generationConfig": {"maxOutputTokens": 8000},
    }


def test_without_country_and_language_there_is_no_instruction(generating):
    assert "systemInstruction" not in generating.start_request(Question("Which shoes?")).json


def test_a_start_brings_the_answer_itself():
    transport = CannedTransport(Response(200, {}, as_body(answer("Acme."))))
    provider = make_gemini(transport, api="generate_content")

    reply = provider.start(Question("Which shoes?"))

    assert isinstance(reply, Answered)
    assert not provider.resumable
    assert provider.start_patience == transport.requests[0][0].patience


def test_parts_are_joined_and_thoughts_left_out(gemini):
    reply = reply_to(gemini, answer({"text": "Let me think.", "thought": True}, "Acme ", {"executable": 1}, "is good."))

    assert reply.text == "Acme is good."


@pytest.mark.parametrize("grounding", [None, {}, 7])
def test_an_answer_without_a_search_has_no_sources(gemini, grounding):
    document = answer("Acme.")
    document["candidates"][0]["groundingMetadata"] = grounding

    assert reply_to(gemini, document).sources == ()


def test_cited_pages_have_their_places_and_others_are_listed(gemini):
    text = "👟 Кроссовки Acme хороши. Да."
    start, end = len("👟 ".encode()), len("👟 Кроссовки Acme хороши.".encode())
    segment = {"startIndex": start, "endIndex": end, "text": "Кроссовки Acme хороши."}

    reply = reply_to(
        gemini, answer(text, chunks=[chunk("a"), chunk("b", "other.example")], supports=[support(0, **segment)])
    )

    cited, listed = reply.sources
    assert (cited.cited, listed.cited) == (True, False)
    assert [text[slice(*span)] for span in cited.spans] == ["Кроссовки Acme хороши."]
    assert (listed.domain, listed.redirect, listed.title) == ("other.example", True, "other.example")


@pytest.mark.parametrize(
    ("segment", "meant"),
    [
        ({"endIndex": 4}, "👟"),  # a start of 0 is left out
        ({"startIndex": 0, "endIndex": 4}, "👟"),
        ({"startIndex": 2, "endIndex": 6}, "👟 Ж"),  # in the middle of two characters
        ({"startIndex": 5, "endIndex": 7, "text": "Ж"}, "Ж"),
        ({"startIndex": 2, "endIndex": 3, "text": "Ж"}, "Ж"),  # counted in characters; the quotation counts
        ({"startIndex": 90, "endIndex": 99, "text": "Ж"}, "Ж"),
        ({"text": "Ж"}, "Ж"),
        ({"startIndex": 0, "endIndex": 4, "text": "not in it"}, "👟"),
        ({"startIndex": 0, "endIndex": 99}, None),
        ({"startIndex": 4, "endIndex": 4}, None),
        ({"startIndex": "0", "endIndex": 4}, None),
        ({"partIndex": 7, "endIndex": 4}, None),
        ({}, None),
    ],
)
def test_a_segment_is_found_in_the_text(gemini, segment, meant):
    text = "👟 Ж."

    source = reply_to(gemini, answer(text, chunks=[chunk("a")], supports=[support(0, **segment)])).sources[0]

    assert source.cited
    assert [text[slice(*span)] for span in source.spans] == ([meant] if meant else [])


def test_a_segment_counts_from_the_start_of_its_part(gemini):
    parts = [{"text": "Hm.", "thought": True}, "Ж first. ", "👟 second."]

    reply = reply_to(gemini, answer(*parts, chunks=[chunk("a")], supports=[support(0, partIndex=2, endIndex=4)]))

    assert [reply.text[slice(*span)] for span in reply.sources[0].spans] == ["👟"]


@pytest.mark.parametrize("numbers", [[7], [-1], [True], ["0"], [None], 7])
def test_a_number_that_points_at_no_page_is_left_out(gemini, numbers):
    document = answer("Acme.", chunks=[chunk("a")])
    document["candidates"][0]["groundingMetadata"]["groundingSupports"] = [
        {"segment": {"endIndex": 4}, "groundingChunkIndices": numbers}
    ]

    assert not reply_to(gemini, document).sources[0].cited


def test_numbers_count_the_chunks_that_are_no_pages_too(gemini):
    chunks = ["odd", {"maps": {}}, chunk("c")]

    reply = reply_to(gemini, answer("Acme.", chunks=chunks, supports=[support(2, endIndex=4)]))

    assert [source.cited for source in reply.sources] == [True]


@pytest.mark.parametrize("reason", ["SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "MODEL_ARMOR", "JAILBREAK"])
def test_a_blocked_question_is_blocked(gemini, reason):
    assert reply_to(gemini, {"promptFeedback": {"blockReason": reason}}) == Blocked(reason=reason)


def test_a_feedback_without_a_reason_is_ignored(gemini):
    assert isinstance(reply_to(gemini, answer("Acme.", promptFeedback={"safetyRatings": []})), Answered)
    assert reply_to(gemini, {"promptFeedback": {}}) == Empty(reason="no_candidates")


@pytest.mark.parametrize(
    "reason",
    ["SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR"],
)
@pytest.mark.parametrize("text", ["", "Half an ans"])
def test_a_blocked_answer_is_blocked_whatever_came_before(gemini, reason, text):
    reply = reply_to(gemini, answer(text, reason=reason))

    assert isinstance(reply, Blocked)
    assert reply.reason == reason


@pytest.mark.parametrize("content", [None, {}, {"role": "model"}, {"parts": []}, {"parts": [{"text": ""}]}])
def test_an_answer_that_thinking_used_up_is_incomplete(gemini, content):
    document = {"candidates": [{"content": content, "finishReason": "MAX_TOKENS"}]}

    assert reply_to(gemini, document) == Incomplete(reason="MAX_TOKENS")


def test_an_answer_that_was_cut_off_keeps_its_text(gemini):
    reply = reply_to(gemini, answer("Acme is", reason="MAX_TOKENS"))

    assert (type(reply), reply.text) == (Incomplete, "Acme is")


@pytest.mark.parametrize(
    "reason",
    ["OTHER", "MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "TOO_MANY_TOOL_CALLS", "UNEXPECTED_TOOL_CALL", "NEW"],
)
def test_an_answer_that_came_to_nothing_is_empty(gemini, reason):
    assert reply_to(gemini, {"candidates": [{"finishReason": reason}]}) == Empty(reason=reason)


def test_a_text_that_ended_for_a_reason_nobody_knows_is_incomplete(gemini):
    reply = reply_to(gemini, answer("Acme is", reason="A_NEW_REASON"))

    assert (type(reply), reply.reason, reply.text) == (Incomplete, "A_NEW_REASON", "Acme is")


@pytest.mark.parametrize("texts", [(), ("",), (" \n",)])
def test_an_answer_without_text_is_empty(gemini, texts):
    reply = reply_to(gemini, answer(*texts))

    assert (type(reply), reply.reason) == (Empty, "no_text")


def test_the_cost_counts_tokens_and_queries(gemini):
    usage = {
        "promptTokenCount": 400_000,
        "toolUsePromptTokenCount": 600_000,
        "candidatesTokenCount": 300_000,
        "thoughtsTokenCount": 700_000,
    }

    reply = reply_to(gemini, answer("Acme.", usageMetadata=usage, grounding={"webSearchQueries": ["a", "b", "", 7]}))

    assert reply.cost.amount == Decimal("0.75") + Decimal("3.75") + 2 * Decimal("0.014")
    assert reply.cost.basis is Basis.COMPUTED


def test_a_reply_that_tells_nothing_of_its_cost_has_none(gemini):
    assert reply_to(gemini, answer("Acme.")).cost is None
