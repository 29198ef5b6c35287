"""Faults to order, over HTTP."""

import json
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx
import pytest

from simulator.app import App
from tests.simulator.conftest import KEY, Simulator, chatgpt_form, serving

SYSTEMS = ("chatgpt", "perplexity")


def order(simulator: Simulator, do, call="start", system="chatgpt", **fields):
    simulator.order({"system": system, "call": call, "do": do} | fields)


def charges(simulator: Simulator, system="chatgpt") -> int:
    return int(simulator.counts()["charges"][system]["total"])


def message_part(body):
    return next(item for item in body["output"] if item["type"] == "message")["content"][0]


@pytest.mark.parametrize(
    ("body", "kind", "sent"),
    [({"a": "ä"}, "application/json", '{"a": "ä"}'), ("<p>", "text/plain; charset=utf-8", "<p>")],
)
def test_respond_replaces_the_work(simulator: Simulator, body, kind, sent):
    order(simulator, {"respond": {"status": 418, "headers": {"X-Odd": "1"}, "body": body}})

    reply = simulator.start()

    assert (reply.status_code, reply.headers["x-odd"], reply.headers["content-type"]) == (418, "1", kind)
    assert reply.text == sent
    assert charges(simulator) == 0
    assert simulator.start().status_code == 200


def test_a_poll_can_be_answered_otherwise_and_the_call_lives_on(simulator: Simulator):
    order(simulator, {"respond": {"status": 404, "body": {}}}, call="poll")
    call_id = simulator.start().json()["id"]

    assert [simulator.poll(call_id).status_code for _ in range(2)] == [404, 200]


@pytest.mark.parametrize(("when", "charged"), [("before_accept", 0), ("after_accept", 1)])
@pytest.mark.parametrize("background", [True, False])
def test_a_dropped_start_is_reset_and_charged_only_after_it_was_accepted(simulator, when, charged, background):
    order(simulator, {"drop": when})

    with pytest.raises(httpx.TransportError) as caught:
        simulator.start(background=background)

    counts = simulator.counts()
    assert isinstance(caught.value, httpx.ReadError)
    assert counts["starts"]["chatgpt"]["total"] == 1
    assert counts["charges"]["chatgpt"]["total"] == counts["in_hand"] == charged


def test_a_dropped_poll_is_reset(simulator: Simulator):
    order(simulator, {"drop": "before_accept"}, call="poll")
    call_id = simulator.start().json()["id"]

    with pytest.raises(httpx.ReadError):
        simulator.poll(call_id)

    assert simulator.poll(call_id).status_code == 200


def test_delay_waits_and_goes_on_as_usual(simulator: Simulator):
    order(simulator, {"delay_s": 12.5})

    assert simulator.start().json()["status"] == "queued"
    assert 12.5 in simulator.clock.slept


def test_a_cut_body_declares_its_whole_length(simulator: Simulator):
    order(simulator, {"cut_body": 20})

    with pytest.raises(httpx.RemoteProtocolError, match="received 20 bytes"):
        simulator.start()

    assert charges(simulator) == 1


def test_a_trickle_is_whole_in_the_end_and_takes_its_time(simulator: Simulator):
    order(simulator, {"trickle": 1000})

    reply = simulator.start()

    assert reply.json()["status"] == "queued"
    assert sum(slept or 0 for slept in simulator.clock.slept[2:]) == pytest.approx(len(reply.content) / 1000)


def test_pending_for_so_many_seconds(simulator: Simulator):
    order(simulator, {"pending_for_s": 100})
    call_id = simulator.start().json()["id"]

    simulator.clock.time += 99
    before = simulator.poll(call_id).json()["status"]
    simulator.clock.time += 2

    assert (before, simulator.poll(call_id).json()["status"]) == ("in_progress", "completed")


def test_pending_for_ever(simulator: Simulator):
    order(simulator, {"pending_for_s": None})
    call_id = simulator.start().json()["id"]

    simulator.clock.time += 1e7

    assert simulator.poll(call_id).json()["status"] == "in_progress"
    assert simulator.counts()["in_hand"] == 1


def test_a_poll_can_hold_a_call_up(simulator: Simulator):
    order(simulator, {"pending_for_s": 5}, call="poll")
    call_id = simulator.start().json()["id"]
    simulator.clock.time += 41

    held = simulator.poll(call_id).json()["status"]
    simulator.clock.time += 5

    assert (held, simulator.poll(call_id).json()["status"]) == ("in_progress", "completed")


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("call", ["start", "poll"])
def test_finish_as_replaces_the_final_body(simulator: Simulator, system, call):
    ending = {"status": "incomplete", "incomplete_details": {"reason": "steered"}}
    order(simulator, {"finish_as": ending}, call=call, system=system)

    body = simulator.finish(system)

    assert (body["status"], body["incomplete_details"]) == ("incomplete", {"reason": "steered"})
    assert (body["output"], body["usage"]) == ([], None)
    assert simulator.poll(body["id"], system).json() == body


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize(
    ("shape", "read"),
    [
        ("rate_limit_header", lambda reply: float(reply.headers["retry-after"])),
        ("rate_limit_ms", lambda reply: int(reply.headers["retry-after-ms"]) / 1000),
        ("rate_limit_message", lambda reply: float(reply.text.partition("again in ")[2].partition("s.")[0])),
    ],
)
def test_rate_limits_name_their_wait(simulator: Simulator, system, shape, read):
    order(simulator, {"shape": shape, "wait_s": 3.5}, system=system)

    reply = simulator.start(system)

    assert (reply.status_code, read(reply)) == (429, 3.5)
    assert charges(simulator, system) == 0


def test_a_rate_limit_may_name_a_date(simulator: Simulator):
    order(simulator, {"shape": "rate_limit_date", "wait_s": 30})

    until = parsedate_to_datetime(simulator.start().headers["retry-after"])

    now = datetime.fromtimestamp(simulator.clock.time, UTC)
    assert 29 <= (until - now).total_seconds() <= 30


@pytest.mark.parametrize(("wait_s", "said"), [(0.35, "350ms"), (1, "1s"), (360, "6m0s")])
def test_waits_in_messages_are_go_durations(simulator: Simulator, wait_s, said):
    order(simulator, {"shape": "rate_limit_message", "wait_s": wait_s})

    assert f"Please try again in {said}." in simulator.start().json()["error"]["message"]


@pytest.mark.parametrize(
    ("system", "shape", "status", "kind"),
    [
        ("chatgpt", "no_money", 429, "insufficient_quota"),
        ("chatgpt", "bad_key", 401, "invalid_request_error"),
        ("chatgpt", "overloaded", 503, "service_unavailable_error"),
        ("perplexity", "no_money", 401, "insufficient_quota"),
        ("perplexity", "bad_key", 401, "invalid_api_key"),
        ("perplexity", "overloaded", 429, "overloaded"),
    ],
)
def test_errors_come_in_the_systems_own_form(simulator: Simulator, system, shape, status, kind):
    order(simulator, {"shape": shape}, system=system)

    reply = simulator.start(system)

    assert (reply.status_code, reply.json()["error"]["type"]) == (status, kind)


@pytest.mark.parametrize("call", ["start", "poll"])
@pytest.mark.parametrize(("shape", "status"), [("html_502", 502), ("html_401", 401)])
def test_pages_in_html(simulator: Simulator, call, shape, status):
    call_id = simulator.start().json()["id"]
    order(simulator, {"shape": shape}, call=call)

    reply = simulator.start() if call == "start" else simulator.poll(call_id)

    assert (reply.status_code, reply.headers["content-type"]) == (status, "text/html")
    assert reply.text.startswith("<html>")


@pytest.mark.parametrize("shape", ["truncated", "empty"])
def test_an_unusable_body_under_200_was_charged(simulator: Simulator, shape):
    order(simulator, {"shape": shape})

    reply = simulator.start()

    assert reply.status_code == 200
    with pytest.raises(json.JSONDecodeError):
        reply.json()
    assert charges(simulator) == 1


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("call", ["start", "poll"])
@pytest.mark.parametrize(
    ("shape", "status"),
    [
        ("failed", "failed"),
        ("incomplete", "incomplete"),
        ("blocked", "incomplete"),
        ("refusal", "completed"),
        ("no_text", "completed"),
        ("hostile", "completed"),
    ],
)
def test_a_call_can_be_made_to_end_badly(simulator: Simulator, system, call, shape, status):
    order(simulator, {"shape": shape}, call=call, system=system)

    body = simulator.finish(system)

    assert body["status"] == status
    assert (body["error"] is not None) == (shape == "failed")
    assert any(item["type"] == "message" for item in body["output"]) == (shape in ("incomplete", "refusal", "hostile"))
    assert simulator.finish(system)["status"] == "completed"


def test_reasons_are_told(simulator: Simulator):
    order(simulator, {"shape": "incomplete"})
    order(simulator, {"shape": "blocked"})

    reasons = [simulator.finish()["incomplete_details"]["reason"] for _ in range(2)]

    assert reasons == ["max_output_tokens", "content_filter"]


def test_a_refusal_has_a_part_of_its_own_only_at_openai(simulator: Simulator):
    for system in SYSTEMS:
        order(simulator, {"shape": "refusal"}, system=system)

    parts = [message_part(simulator.finish(system)) for system in SYSTEMS]

    assert [part["type"] for part in parts] == ["refusal", "output_text"]


def test_a_prompt_filter_strikes_only_there(simulator: Simulator):
    order(simulator, {"shape": "no_money"}, prompt_contains="tea", times=None)

    statuses = [simulator.start(prompt=prompt).status_code for prompt in ("coffee", "tea", "more tea")]

    assert statuses == [200, 429, 429]


def test_an_invalid_request_uses_no_step_up(simulator: Simulator):
    order(simulator, {"shape": "no_money"})

    assert [simulator.start(model=None).status_code, simulator.start().status_code] == [400, 429]


def test_delays_are_real_seconds_whatever_the_speed():
    with serving(App(speed=float("inf"))) as server, httpx.Client(base_url=server.url) as http:
        http.post("/__control__/script", json=[{"call": "start", "do": {"delay_s": 0.05}}])
        path, body = chatgpt_form("Best bikes?")
        began = time.monotonic()
        http.post(path, json=body, headers=KEY)

    assert time.monotonic() - began >= 0.05
