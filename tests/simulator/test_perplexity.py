"""The Perplexity Agent API as the simulator speaks it."""

import re

import pytest

from tests.simulator.conftest import KEY, Simulator

AGENT = "/perplexity/v1/agent"


def test_a_background_start_is_queued_and_polled_under_responses(simulator: Simulator):
    started = simulator.start("perplexity").json()
    simulator.clock.time += 1.9
    waiting = simulator.poll(started["id"], "perplexity").json()
    simulator.clock.time += 39
    ended = simulator.poll(started["id"], "perplexity").json()

    assert (started["status"], waiting["status"], ended["status"]) == ("queued", "in_progress", "completed")
    assert waiting["output"] == []
    assert set(ended) == set(started)


def test_polling_under_agent_is_404(simulator: Simulator):
    call_id = simulator.start("perplexity").json()["id"]

    assert simulator.http.get(f"{AGENT}/{call_id}", headers=KEY).status_code == 404


def test_markers_point_at_search_results_and_annotations_are_empty(simulator: Simulator):
    search, message = simulator.finish("perplexity")["output"]

    part = message["content"][0]
    ids = {result["id"] for result in search["results"]}
    markers = {int(number) for number in re.findall(r"\[(\d+)\]", part["text"])}
    assert search["type"] == "search_results"
    assert part["annotations"] == []
    assert markers
    assert markers < ids
    assert all({"url", "title", "snippet", "source"} <= set(result) for result in search["results"])


def test_cost_is_in_dollars_and_adds_up(simulator: Simulator):
    cost = simulator.finish("perplexity")["usage"]["cost"]

    parts = cost["input_cost"] + cost["output_cost"] + cost["tool_calls_cost"]
    assert cost["currency"] == "USD"
    assert cost["total_cost"] == pytest.approx(parts)
    assert 0.002 < cost["total_cost"] < 0.02


def test_without_background_the_answer_comes_in_the_reply(simulator: Simulator):
    body = simulator.http.post(
        "/perplexity/v1/responses", json={"effort": "low", "input": "Best hotels?"}, headers=KEY
    ).json()

    assert (body["status"], body["model"]) == ("completed", "openai/gpt-6-luna")
    assert [item["type"] for item in body["output"]] == ["search_results", "message"]


def test_an_unstored_answer_cannot_be_polled(simulator: Simulator):
    call_id = simulator.start("perplexity", store=False).json()["id"]

    assert simulator.poll(call_id, "perplexity").status_code == 404


def test_cancelling_ends_the_call(simulator: Simulator):
    call_id = simulator.start("perplexity").json()["id"]

    reply = simulator.http.post(f"/perplexity/v1/responses/{call_id}/cancel", headers=KEY)

    assert reply.json()["status"] == "cancelled"


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"input": None}, "invalid_request"),
        ({"model": None}, "invalid_request"),
        ({"include": []}, "invalid_request"),
        ({"max_tool_calls": 3}, "invalid_request"),
        ({"model": "perplexity/no-such-model"}, "invalid_model"),
        ({"model": "no-such-model"}, "invalid_model"),
        ({"input": 7}, "invalid_parameter"),
        ({"stream": True}, "invalid_parameter"),
        ({"input": "x" * 100_001}, "too_many_prompt_tokens"),
    ],
)
def test_a_bad_request_is_refused_and_not_charged(simulator: Simulator, fields, kind):
    reply = simulator.start("perplexity", **fields)

    error = reply.json()["error"]
    assert reply.status_code == 400
    assert (error["type"], error["code"]) == (kind, 400)
    assert simulator.counts()["charges"]["perplexity"]["total"] == 0


@pytest.mark.parametrize("content", [b"{", b"[]"])
def test_a_body_that_is_no_json_object_is_refused(simulator: Simulator, content: bytes):
    assert simulator.http.post(AGENT, content=content, headers=KEY).json()["error"]["type"] == "invalid_request"


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer invalid"}])
def test_a_bad_key_is_refused_in_json(simulator: Simulator, headers):
    reply = simulator.http.post(AGENT, json={}, headers=headers)

    assert (reply.status_code, reply.json()["error"]["type"]) == (401, "invalid_api_key")


@pytest.mark.parametrize("path", ["/perplexity/v1/responses/resp_unknown", "/perplexity/v1/else"])
def test_what_is_not_there_is_404(simulator: Simulator, path: str):
    reply = simulator.http.get(path, headers=KEY)

    assert (reply.status_code, reply.json()["error"]["type"]) == (404, "not_found")
