"""Gemini's two APIs as the simulator speaks them."""

from contextlib import closing
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.simulator.conftest import GOOGLE_KEY, PROMPT, Simulator

BASE = "/gemini/v1beta"
INTERACTIONS = f"{BASE}/interactions"
GENERATE = f"{BASE}/models/gemini-3.8-flash:generateContent"
SEARCH: list[dict[str, Any]] = [{"google_search": {}}]


def generate(simulator: Simulator, prompt: str = PROMPT, path: str = GENERATE, **fields) -> httpx.Response:
    body = {"contents": [{"role": "user", "parts": [{"text": prompt}]}], "tools": SEARCH} | fields
    return simulator.http.post(path, json=body, headers=GOOGLE_KEY)


def candidate(reply: httpx.Response):
    return reply.json()["candidates"][0]


def step(body, kind):
    return next(item for item in body["steps"] if item["type"] == kind)


def text_part(body):
    return step(body, "model_output")["content"][0]


def order(simulator: Simulator, shape: str, call: str = "start", **do):
    simulator.order({"system": "gemini", "call": call, "do": {"shape": shape} | do})


# interactions


def test_a_background_start_answers_at_once(simulator: Simulator):
    body = simulator.start("gemini").json()

    assert body["id"].startswith("v1_")
    assert (body["status"], body["object"], body["model"]) == ("in_progress", "interaction", "gemini-3.8-flash")
    assert "steps" not in body


def test_a_call_is_in_progress_until_it_is_completed(simulator: Simulator):
    simulator.order({"system": "gemini", "call": "start", "do": {"pending_for_s": 10}})
    call_id = simulator.start("gemini").json()["id"]

    states = []
    for seconds in (0, 9, 1):
        simulator.clock.time += seconds
        states.append(simulator.poll(call_id, "gemini").json()["status"])

    assert states == ["in_progress", "in_progress", "completed"]


@pytest.mark.parametrize("sample", range(8))
def test_each_annotation_spans_its_sentence_in_bytes(simulator: Simulator, sample: int):
    part = text_part(simulator.finish("gemini", prompt=f"What are the best headphones? Number {sample}"))

    text = part["text"].encode()
    assert part["annotations"]
    for note in part["annotations"]:
        spanned = text[note["start_index"] : note["end_index"]].decode()
        assert note["type"] == "url_citation"
        assert spanned.endswith((".", "🙂"))
        assert not spanned.startswith(" ")
        assert note["title"].endswith(".example")


def test_bytes_and_characters_differ_in_some_answers(simulator: Simulator):
    order(simulator, "odd_citations")

    part = text_part(simulator.finish("gemini"))

    last = part["annotations"][-1]
    assert last["end_index"] > len(part["text"])
    assert part["text"].encode()[last["start_index"] : last["end_index"]].decode() == "皮肤科医生也推荐它。"
    assert part["annotations"][0]["start_index"] == 0
    assert any("title" not in note for note in part["annotations"])
    assert len({note["url"] for note in part["annotations"]}) < len(part["annotations"])


def test_the_search_is_told_and_counted(simulator: Simulator):
    body = simulator.finish("gemini")

    asked, found = step(body, "google_search_call"), step(body, "google_search_result")
    assert asked["arguments"]["queries"]
    assert found["call_id"] == asked["id"]
    assert body["usage"]["grounding_tool_count"] == [
        {"type": "google_search", "count": len(asked["arguments"]["queries"])}
    ]


def test_steps_come_in_different_orders(simulator: Simulator):
    orders = {tuple(item["type"] for item in simulator.finish("gemini")["steps"]) for _ in range(2)}

    assert len(orders) == 2


def test_usage_adds_up(simulator: Simulator):
    usage = simulator.finish("gemini")["usage"]

    kinds = ("input", "output", "tool_use", "thought")
    assert usage["total_tokens"] == sum(usage[f"total_{kind}_tokens"] for kind in kinds)


def test_without_the_tool_nothing_is_cited(simulator: Simulator):
    body = simulator.finish("gemini", tools=[])

    assert "annotations" not in text_part(body)
    assert [item["type"] for item in body["steps"]] == ["thought", "model_output"]


def test_without_background_the_answer_comes_in_the_reply(simulator: Simulator):
    body = simulator.start("gemini", background=False).json()

    assert body["status"] == "completed"
    assert text_part(body)["text"]


def test_an_unstored_interaction_cannot_be_polled(simulator: Simulator):
    call_id = simulator.start("gemini", background=False, store=False).json()["id"]

    assert simulator.poll(call_id, "gemini").status_code == 404


def test_cancelling_and_deleting(simulator: Simulator):
    call_id = simulator.start("gemini").json()["id"]

    cancelled = simulator.http.post(f"{INTERACTIONS}/{call_id}/cancel", headers=GOOGLE_KEY).json()
    deleted = simulator.http.delete(f"{INTERACTIONS}/{call_id}", headers=GOOGLE_KEY)

    assert cancelled["status"] == "cancelled"
    assert (deleted.status_code, deleted.json()) == (200, {})
    assert simulator.poll(call_id, "gemini").json()["error"]["code"] == "not_found"


@pytest.mark.parametrize(
    "value",
    [
        PROMPT,
        [{"type": "text", "text": PROMPT}],
        [{"role": "model", "content": "Hello."}, {"role": "user", "content": [{"type": "text", "text": PROMPT}]}],
    ],
)
def test_input_has_several_forms(simulator: Simulator, value):
    simulator.start("gemini", input=value)

    assert simulator.counts()["charges"]["gemini"]["by_prompt"] == {PROMPT: 1}


@pytest.mark.parametrize(
    ("fields", "status", "code"),
    [
        ({"colour": "red"}, 400, "parameter_unknown"),
        ({"model": None}, 400, "invalid_request"),
        ({"input": ""}, 400, "invalid_request"),
        ({"input": {}}, 400, "invalid_request"),
        ({"store": False}, 400, "invalid_request"),
        ({"stream": True}, 400, "invalid_request"),
        ({"input": "x" * 100_001}, 400, "invalid_request"),
        ({"model": "no-such-model"}, 404, "model_not_found"),
    ],
)
def test_a_bad_interaction_is_refused_and_not_charged(simulator: Simulator, fields, status, code):
    reply = simulator.start("gemini", **fields)

    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
    assert simulator.counts()["charges"]["gemini"]["total"] == 0


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff"])
@pytest.mark.parametrize("path", [INTERACTIONS, GENERATE])
def test_a_body_that_is_no_json_object_is_refused(simulator: Simulator, content: bytes, path: str):
    assert simulator.http.post(path, content=content, headers=GOOGLE_KEY).status_code == 400


@pytest.mark.parametrize(
    ("shape", "status", "code"),
    [
        ("failed", "failed", "api_error"),
        ("blocked", "failed", "prohibited_content"),
        ("safety", "failed", "safety"),
        ("recitation", "failed", "recitation"),
        ("incomplete", "incomplete", None),
        ("max_tokens", "incomplete", None),
    ],
)
def test_bad_ends_of_an_interaction_have_a_status_and_perhaps_a_code(simulator: Simulator, shape, status, code):
    order(simulator, shape)

    body = simulator.finish("gemini")

    assert body["status"] == status
    assert [error["code"] for error in body.get("errors", [])] == ([code] if code else [])


# generateContent


def test_generate_content_answers_after_its_latency(simulator: Simulator):
    reply = generate(simulator)

    assert candidate(reply)["finishReason"] == "STOP"
    assert reply.json()["modelVersion"] == "gemini-3.8-flash"
    assert 2 <= (simulator.clock.slept[-1] or 0) <= 40


def test_it_leaves_nothing_to_poll(simulator: Simulator):
    generate(simulator)
    call_id = next(iter(simulator.server.app.store._calls))

    assert simulator.poll(call_id, "gemini").status_code == 404


@pytest.mark.parametrize("shape", [None, "odd_citations"])
@pytest.mark.parametrize("sample", range(4))
def test_segments_are_counted_in_bytes_and_a_start_of_0_is_left_out(simulator: Simulator, sample: int, shape):
    if shape:
        order(simulator, shape)

    answer = candidate(generate(simulator, f"What are the best headphones? Number {sample}"))

    text = answer["content"]["parts"][0]["text"].encode()
    supports = answer["groundingMetadata"]["groundingSupports"]
    chunks = answer["groundingMetadata"]["groundingChunks"]
    assert supports
    for support in supports:
        segment = support["segment"]
        assert segment.get("startIndex") != 0
        assert text[segment.get("startIndex", 0) : segment["endIndex"]].decode() == segment["text"]
        assert all(chunks[index]["web"]["uri"] for index in support["groundingChunkIndices"])
    assert ("startIndex" in supports[0]["segment"]) == (not text.startswith(supports[0]["segment"]["text"].encode()))


def test_titles_are_domains(simulator: Simulator):
    chunks = candidate(generate(simulator))["groundingMetadata"]["groundingChunks"]

    assert all(chunk["web"]["title"].endswith(".example") for chunk in chunks)


@pytest.mark.parametrize("tools", [[], [{"codeExecution": {}}]])
def test_without_a_search_the_grounding_is_empty(simulator: Simulator, tools):
    assert candidate(generate(simulator, tools=tools))["groundingMetadata"] == {}


def test_both_spellings_of_the_tool_search(simulator: Simulator):
    assert candidate(generate(simulator, tools=[{"googleSearch": {}}]))["groundingMetadata"]["webSearchQueries"]


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        ("refusal", "STOP"),
        ("incomplete", "MAX_TOKENS"),
        ("max_tokens", "MAX_TOKENS"),
        ("no_text", "OTHER"),
        ("safety", "SAFETY"),
        ("recitation", "RECITATION"),
    ],
)
def test_bad_ends_have_a_finish_reason(simulator: Simulator, shape, reason):
    order(simulator, shape)

    assert candidate(generate(simulator))["finishReason"] == reason


def test_a_blocked_prompt_has_no_candidate(simulator: Simulator):
    order(simulator, "blocked")

    body = generate(simulator).json()

    assert body["promptFeedback"] == {"blockReason": "PROHIBITED_CONTENT"}
    assert "candidates" not in body


@pytest.mark.parametrize(
    ("fields", "status", "name"),
    [
        ({"colour": "red"}, 400, "INVALID_ARGUMENT"),
        ({"contents": []}, 400, "INVALID_ARGUMENT"),
        ({"contents": "text"}, 400, "INVALID_ARGUMENT"),
        ({"contents": [{"parts": [{"text": "x" * 100_001}]}]}, 400, "INVALID_ARGUMENT"),
        ({"path": f"{BASE}/models/no-such-model:generateContent"}, 404, "NOT_FOUND"),
    ],
)
def test_a_bad_request_is_refused_and_not_charged(simulator: Simulator, fields, status, name):
    reply = generate(simulator, **fields)

    assert (reply.status_code, reply.json()["error"]["status"]) == (status, name)
    assert simulator.counts()["charges"]["gemini"]["total"] == 0


# keys, quotas, models


@pytest.mark.parametrize("path", [INTERACTIONS, GENERATE])
def test_a_wrong_key_is_a_bad_request_and_none_is_forbidden(simulator: Simulator, path: str):
    wrong = simulator.http.post(path, json={}, headers={"x-goog-api-key": "invalid-key"})
    none = simulator.http.post(path, json={})

    assert (wrong.status_code, wrong.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")
    assert wrong.json()["error"]["details"][0]["reason"] == "API_KEY_INVALID"
    assert (none.status_code, none.json()["error"]["status"]) == (403, "PERMISSION_DENIED")


@pytest.mark.parametrize(
    ("shape", "quota"), [("quota_minute", "GenerateRequestsPerMinute"), ("quota_day", "GenerateRequestsPerDay")]
)
@pytest.mark.parametrize("wait_s", [48, 34.4])
def test_quotas_name_themselves_and_a_wait(simulator: Simulator, shape, quota, wait_s):
    order(simulator, shape, wait_s=wait_s)

    reply = simulator.start("gemini")

    failure, retry = reply.json()["error"]["details"]
    assert failure["violations"][0]["quotaId"].startswith(quota)
    assert retry["retryDelay"] == f"{wait_s}s"
    assert "retry-after" not in reply.headers


def test_a_wait_in_a_message_is_told_in_googles_words(simulator: Simulator):
    order(simulator, "rate_limit_message", wait_s=48.9)

    assert "Please retry in 48.9s." in simulator.start("gemini").json()["error"]["message"]


def test_models_are_listed_and_shown(simulator: Simulator):
    listed = simulator.http.get(f"{BASE}/models", headers=GOOGLE_KEY).json()["models"]
    shown = simulator.http.get(f"{BASE}/{listed[0]['name']}", headers=GOOGLE_KEY).json()

    assert shown == listed[0]
    assert simulator.http.get(f"{BASE}/models/none", headers=GOOGLE_KEY).status_code == 404
    assert simulator.http.get(f"{BASE}/models?key=simulated").status_code == 200
    assert simulator.http.get(f"{BASE}/models").status_code == 403


def test_the_list_of_models_can_be_made_to_fail(simulator: Simulator):
    order(simulator, "overloaded", call="other")

    assert [simulator.http.get(f"{BASE}/models", headers=GOOGLE_KEY).status_code for _ in range(2)] == [503, 200]


@pytest.mark.parametrize("path", [f"{INTERACTIONS}/v1_unknown", f"{BASE}/nothing", f"{INTERACTIONS}/a/b/c"])
def test_what_is_not_there_is_404(simulator: Simulator, path: str):
    assert simulator.http.get(path, headers=GOOGLE_KEY).status_code == 404


# redirects


def links(simulator: Simulator) -> list[str]:
    return [chunk["web"]["uri"] for chunk in candidate(generate(simulator))["groundingMetadata"]["groundingChunks"]]


def test_links_lead_back_here_and_on_to_the_invented_sites(simulator: Simulator):
    found = links(simulator)

    replies = [simulator.http.get(link) for link in found]

    assert all(link.startswith(f"{simulator.server.url}/gemini/grounding-api-redirect/") for link in found)
    assert {reply.status_code for reply in replies} == {302}
    assert all((urlsplit(reply.headers["location"]).hostname or "").endswith(".example") for reply in replies)
    assert simulator.counts()["redirects"] == len(found)


def test_links_are_the_same_each_time(simulator: Simulator):
    first = links(simulator)
    simulator.http.post("/__control__/reset")

    assert links(simulator) == first


@pytest.mark.parametrize("token", ["", "SIM", "AAAA", "SIM!!", "SIMabc"])
def test_a_link_that_is_none_of_ours_is_404(simulator: Simulator, token: str):
    assert simulator.http.get(f"/gemini/grounding-api-redirect/{token}").status_code == 404


def test_hostile_links_make_one_header_line(simulator: Simulator):
    order(simulator, "hostile")

    replies = [head_of(link) for link in links(simulator)]

    assert [status for status, _ in replies] == [302] * len(replies)
    assert replies[0][1] == "javascript:alert('source')"
    assert all(location.isascii() and location.isprintable() for _, location in replies)


def head_of(link: str) -> tuple[int, str]:
    """By a client that does not look at where a redirect leads: httpx fails on some addresses before it returns."""
    parts = urlsplit(link)
    with closing(HTTPConnection(parts.netloc)) as connection:
        connection.request("GET", parts.path)
        reply = connection.getresponse()
        return reply.status, reply.headers["location"]


@pytest.mark.parametrize(
    "do", [{"shape": "html_502"}, {"respond": {"status": 302, "headers": {"location": "http://127.0.0.1:9/x"}}}]
)
def test_a_redirect_can_be_made_to_go_wrong(simulator: Simulator, do):
    simulator.order({"system": "gemini", "call": "redirect", "do": do})
    link = links(simulator)[0]

    first, second = simulator.http.get(link), simulator.http.get(link)

    assert first.headers.get("location") != second.headers["location"]
