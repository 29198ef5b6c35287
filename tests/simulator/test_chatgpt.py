"""The OpenAI Responses API as the simulator speaks it."""

import pytest

from tests.simulator.conftest import KEY, PROMPT, Simulator

PATH = "/openai/v1/responses"


def part(body, kind):
    return next(item for item in body["output"] if item["type"] == kind)


def text_part(body):
    return part(body, "message")["content"][0]


def test_a_background_start_answers_at_once_with_a_queued_call(simulator: Simulator):
    body = simulator.start().json()

    assert body["id"].startswith("resp_")
    assert (body["object"], body["status"], body["background"], body["store"]) == ("response", "queued", True, True)
    assert body["output"] == []
    assert body["usage"] is None
    assert body["metadata"] == {"run": "r1"}
    assert body["tools"][0]["user_location"]["country"] == "DE"
    assert body["tool_usage"]["web_search"] == {"num_requests": 0}


def test_a_call_is_queued_then_in_progress_then_completed(simulator: Simulator):
    simulator.order({"call": "start", "do": {"pending_for_s": 10}})
    call_id = simulator.start().json()["id"]

    states = [simulator.poll(call_id).json()["status"]]
    simulator.clock.time += 9
    states.append(simulator.poll(call_id).json()["status"])
    simulator.clock.time += 1
    states.append(simulator.poll(call_id).json()["status"])

    assert states == ["queued", "in_progress", "completed"]


def test_every_field_is_there_from_the_start_to_the_end(simulator: Simulator):
    started = simulator.start().json()
    simulator.clock.time += 41

    ended = simulator.poll(started["id"]).json()

    assert set(ended) == set(started) | {"billing"}
    assert ended["completed_at"] >= ended["created_at"]
    assert ended["model"].startswith("gpt-6-luna-20")


def test_headers_are_those_of_the_real_one(simulator: Simulator):
    headers = simulator.start().headers

    assert headers["content-type"] == "application/json"
    assert headers["openai-version"] == "2020-10-01"
    assert headers["x-request-id"].startswith("req_")


@pytest.mark.parametrize("sample", range(8))
def test_each_citation_spans_its_inline_link_in_characters(simulator: Simulator, sample: int):
    body = simulator.finish(prompt=f"What are the best headphones? Number {sample}")

    part = text_part(body)
    assert part["annotations"]
    for note in part["annotations"]:
        assert note["type"] == "url_citation"
        inline = part["text"][note["start_index"] : note["end_index"]]
        assert inline.startswith("([")
        assert inline.endswith(f"]({note['url']}))")
        assert note["url"].split("/")[2].endswith(".example")
        assert note["url"].endswith("utm_source=openai")


def test_more_pages_are_listed_than_cited(simulator: Simulator):
    body = simulator.finish()

    listed = {source["url"] for source in part(body, "web_search_call")["action"]["sources"]}
    cited = {note["url"].replace("?utm_source=openai", "") for note in text_part(body)["annotations"]}
    assert len(listed) > len(cited)
    assert body["tool_usage"]["web_search"]["num_requests"] == 1


def test_sources_are_listed_only_when_asked_for(simulator: Simulator):
    body = simulator.finish(include=[])
    asked_late = simulator.http.get(
        f"{PATH}/{body['id']}", params={"include[]": "web_search_call.action.sources"}, headers=KEY
    )

    assert "sources" not in part(body, "web_search_call")["action"]
    assert part(asked_late.json(), "web_search_call")["action"]["sources"]


def test_no_search_tool_means_no_citations(simulator: Simulator):
    body = simulator.finish(tools=[])

    assert text_part(body)["annotations"] == []
    assert [item["type"] for item in body["output"]] == ["reasoning", "message"]


def test_usage_adds_up(simulator: Simulator):
    usage = simulator.finish()["usage"]

    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
    assert usage["output_tokens"] > usage["output_tokens_details"]["reasoning_tokens"] > 0


def test_without_background_the_answer_comes_after_its_latency(simulator: Simulator):
    body = simulator.start(background=False).json()

    assert body["status"] == "completed"
    assert text_part(body)["text"]
    assert 2 <= (simulator.clock.slept[-1] or 0) <= 40


def test_an_unstored_synchronous_answer_cannot_be_read_again(simulator: Simulator):
    body = simulator.start(background=False, store=False).json()

    assert simulator.poll(body["id"]).status_code == 404


def test_an_unstored_background_answer_can(simulator: Simulator):
    assert simulator.finish(store=False)["status"] == "completed"


def test_cancelling_twice_is_fine_and_ends_the_call(simulator: Simulator):
    call_id = simulator.start().json()["id"]

    replies = [simulator.http.post(f"{PATH}/{call_id}/cancel", headers=KEY) for _ in range(2)]
    simulator.clock.time += 41

    assert [reply.json()["status"] for reply in replies] == ["cancelled", "cancelled"]
    assert simulator.poll(call_id).json()["status"] == "cancelled"
    assert simulator.counts()["in_hand"] == 0


def test_cancelling_a_finished_call_shows_it(simulator: Simulator):
    body = simulator.finish()

    assert simulator.http.post(f"{PATH}/{body['id']}/cancel", headers=KEY).json() == body


def test_a_deleted_call_is_gone(simulator: Simulator):
    call_id = simulator.start().json()["id"]

    reply = simulator.http.delete(f"{PATH}/{call_id}", headers=KEY)

    assert reply.json() == {"id": call_id, "object": "response", "deleted": True}
    assert simulator.poll(call_id).status_code == 404


@pytest.mark.parametrize(
    ("fields", "param", "code"),
    [
        ({"model": None}, "model", "missing_required_parameter"),
        ({"input": ""}, "input", "missing_required_parameter"),
        ({"model": "no-such-model"}, "model", "model_not_found"),
        ({"model": 7}, "model", "invalid_type"),
        ({"input": 7}, "input", "invalid_type"),
        ({"colour": "red"}, "colour", "unknown_parameter"),
        ({"temperature": 0.5}, "temperature", None),
        ({"stream": True}, "stream", "unsupported_value"),
        ({"input": "x" * 100_001}, "input", "context_length_exceeded"),
    ],
)
def test_a_bad_request_is_refused_and_not_charged(simulator: Simulator, fields, param, code):
    reply = simulator.start(**fields)

    error = reply.json()["error"]
    assert reply.status_code == 400
    assert (error["type"], error["param"], error["code"]) == ("invalid_request_error", param, code)
    assert simulator.counts()["charges"]["chatgpt"]["total"] == 0


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff"])
def test_a_body_that_is_no_json_object_is_refused(simulator: Simulator, content: bytes):
    reply = simulator.http.post(PATH, content=content, headers=KEY)

    assert reply.status_code == 400
    assert reply.json()["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer invalid-key"}, {"authorization": "Basic abc"}])
@pytest.mark.parametrize("method", ["POST", "GET"])
def test_a_bad_key_is_refused(simulator: Simulator, headers, method):
    path = PATH if method == "POST" else f"{PATH}/resp_1"

    reply = simulator.http.request(method, path, headers=headers)

    assert reply.status_code == 401
    assert set(reply.json()["error"]) == {"message", "type", "param", "code"}
    assert reply.json()["error"]["code"] == ("invalid_api_key" if "Bearer" in str(headers) else None)


def test_any_other_key_will_do(simulator: Simulator):
    reply = simulator.http.get("/openai/v1/models", headers={"authorization": "Bearer sk-anything"})

    assert "gpt-6-luna" in [model["id"] for model in reply.json()["data"]]


@pytest.mark.parametrize("path", [f"{PATH}/resp_unknown", "/openai/v1/nothing", f"{PATH}/a/b/c", "/elsewhere"])
def test_what_is_not_there_is_404(simulator: Simulator, path: str):
    reply = simulator.http.get(path, headers=KEY)

    assert reply.status_code == 404
    assert "error" in reply.json()


def test_a_perplexity_id_is_unknown_here(simulator: Simulator):
    call_id = simulator.start("perplexity").json()["id"]

    assert simulator.poll(call_id).status_code == 404


def test_input_may_be_a_list_of_messages(simulator: Simulator):
    simulator.start(input=[{"role": "system", "content": "Be short."}, {"role": "user", "content": PROMPT}])
    simulator.start(input=[{"role": "user", "content": [{"type": "input_text", "text": PROMPT}]}])

    assert simulator.counts()["charges"]["chatgpt"]["by_prompt"] == {PROMPT: 2}
