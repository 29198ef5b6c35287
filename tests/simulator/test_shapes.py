"""Every shape of every system, as a start or the poll after it meets it."""

import json
from typing import Any

import httpx
import pytest

from simulator.script import BODY_SHAPES, INSTEAD_SHAPES
from simulator.systems import SYSTEMS
from tests.simulator.conftest import FORMS, GOOGLE_KEY, PROMPT, Simulator, id_of

EVERY = [(system, shape) for system in SYSTEMS for shape in system.shapes]
ENDINGS = [(system.slug, shape) for system in SYSTEMS for shape in system.endings]

STATUSES = {"html_401": 401, "html_502": 502, "overloaded": 503, "bad_key": 401, "no_money": 429} | {
    "expired": 410,
    "out_of_searches": 429,
    "quota_day": 429,
    "quota_exceeded": 429,
    "quota_minute": 429,
    "region": 400,
    "throughput": 429,
}
"""Of replies in place of the work; rate limits are 429 everywhere."""

EXCEPTIONS = {
    ("perplexity", "no_money"): 401,
    ("perplexity", "overloaded"): 429,
    ("gemini", "bad_key"): 400,
    ("gemini", "no_money"): 402,
}

WITHOUT_TEXT = {"failed", "blocked", "no_text", "no_results", "status_error", "max_tokens", "safety", "recitation"}
GENERATE = "/gemini/v1beta/models/gemini-3.8-flash:generateContent"


def order(simulator: Simulator, system: str, shape: str, call: str = "start") -> None:
    simulator.order({"system": system, "call": call, "do": {"shape": shape}})


def text_of(body: dict[str, Any]) -> str:
    """All that a body says, whichever its form."""
    messages = [part for item in body.get("output", []) for part in item.get("content", [])]
    steps = [part for step in body.get("steps", []) for part in step.get("content", [])]
    candidates = [part for item in body.get("candidates", []) for part in item.get("content", {}).get("parts", [])]
    said = [part.get("text") or part.get("refusal") for part in messages + steps + candidates]
    return "".join(map(str, said)) + str(body.get("header", "")) + _snippets(body.get("text_blocks", []))


def _snippets(blocks: list[dict[str, Any]]) -> str:
    return "".join(block.get("snippet", "") + _snippets(block.get("list", [])) for block in blocks)


def addresses_of(body: dict[str, Any]) -> int:
    """How many addresses a body holds that a reader could take for sources."""
    text = json.dumps({name: value for name, value in body.items() if name != "search_metadata"})
    return text.count("https://") + text.count("/grounding-api-redirect/")


@pytest.mark.parametrize(("system", "shape"), EVERY, ids=lambda value: getattr(value, "slug", value))
def test_a_shape_strikes_one_start_and_the_next_goes_well(simulator: Simulator, system, shape):
    order(simulator, system.slug, shape)

    struck = simulator.start(system.slug)
    charges = simulator.counts()["charges"][system.slug]["total"]

    if shape in INSTEAD_SHAPES or shape in system.own_errors:
        expected = EXCEPTIONS.get((system.slug, shape), STATUSES.get(shape, 429))
        assert (struck.status_code, charges) == (expected, 0)
    else:
        assert (struck.status_code, charges) == (200, 0 if shape in system.free_endings else 1)
    if shape in BODY_SHAPES:
        with pytest.raises(json.JSONDecodeError):
            struck.json()
    assert text_of(simulator.finish(system.slug))
    assert simulator.counts()["starts"][system.slug]["total"] == 2


@pytest.mark.parametrize(("system", "shape"), ENDINGS)
@pytest.mark.parametrize("call", ["start", "poll"])
def test_a_shape_ends_a_call(simulator: Simulator, system, shape, call):
    order(simulator, system, shape, call)

    reply = simulator.finished(system)

    body = reply.json()
    assert reply.status_code == (503 if shape == "status_error" else 200)
    assert bool(text_of(body)) == (shape not in WITHOUT_TEXT)
    assert simulator.poll(id_of(reply), system).json() == body


@pytest.mark.parametrize("shape", [shape for system, shape in ENDINGS if system == "gemini"])
def test_a_shape_ends_a_synchronous_call_too(simulator: Simulator, shape):
    order(simulator, "gemini", shape)

    reply = simulator.http.post(
        GENERATE,
        json={"contents": [{"parts": [{"text": "Best hotels?"}]}], "tools": [{"google_search": {}}]},
        headers=GOOGLE_KEY,
    )

    assert reply.status_code == (500 if shape == "failed" else 200)
    assert bool(text_of(reply.json())) == (shape not in WITHOUT_TEXT)


@pytest.mark.parametrize("system", FORMS)
def test_no_citations_are_none_at_all(simulator: Simulator, system):
    order(simulator, system, "no_citations")

    bare, usual = simulator.finish(system), simulator.finish(system)

    assert addresses_of(bare) == 0
    assert addresses_of(usual) > 3


@pytest.mark.parametrize("system", FORMS)
def test_odd_citations_hold_what_a_reader_must_survive(simulator: Simulator, system):
    order(simulator, system, "odd_citations")

    text = text_of(simulator.finish(system))

    assert all(odd in text for odd in ("🧴", "Дермалюна", "👩‍👩‍👧‍👦", "e\u0301lite", "皮肤"))


@pytest.mark.parametrize("system", FORMS)
def test_the_hostile_answer_arrives_with_its_nasties(simulator: Simulator, system):
    order(simulator, system, "hostile")

    text = text_of(simulator.finish(system))

    assert all(nasty in text for nasty in ("<script>", "](javascript:", "\x00", "\ud800"))


@pytest.mark.parametrize("system", FORMS)
@pytest.mark.parametrize("when", ["before_accept", "after_accept"])
def test_a_dropped_start_is_counted_and_charged_by_when_it_was_dropped(simulator: Simulator, system, when):
    simulator.order({"system": system, "call": "start", "do": {"drop": when}})

    with pytest.raises(httpx.ReadError):
        simulator.start(system)

    counts = simulator.counts()
    assert counts["starts"][system]["by_prompt"] == {PROMPT: 1}
    assert counts["charges"][system]["total"] == (when == "after_accept")


@pytest.mark.parametrize("system", FORMS)
@pytest.mark.parametrize("do", [{"cut_body": 20}, {"delay_s": 3}, {"trickle": 5_000}, {"pending_for_s": None}])
def test_steps_of_every_other_kind_work_with_every_system(simulator: Simulator, system, do):
    simulator.order({"system": system, "call": "start", "do": do})

    if "cut_body" in do:
        with pytest.raises(httpx.RemoteProtocolError, match="received 20 bytes"):
            simulator.start(system)
    else:
        assert bool(text_of(simulator.finish(system))) == ("pending_for_s" not in do)
    assert simulator.counts()["charges"][system]["total"] == 1
