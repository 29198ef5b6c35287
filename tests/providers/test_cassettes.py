"""Recorded answers are read as `expected.json` beside them says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from capture.providers.replies import Answered, Blocked, Empty, Incomplete, Kind, Pending, ProviderError, Reply, Scope
from tests.providers.conftest import as_body, make_chatgpt, make_perplexity

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "cassettes"
PROVIDERS = {"chatgpt": make_chatgpt(), "perplexity": make_perplexity()}
# The recordings' notes count what ChatGPT cites, but all that Perplexity lists: its answers cite by bare markers.
COUNTS_CITED_ONLY = {"chatgpt": True, "perplexity": False}

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the recordings are not in {FOLDER}")


def expectations() -> list[Any]:
    if not FOLDER.is_dir():
        return []
    expected: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text())
    return [pytest.param(name, right, id=name) for name, right in expected.items() if name.split("/")[0] in PROVIDERS]


def read(name: str) -> Any:
    response = json.loads((FOLDER / name).read_text())["response"]
    body = response["body"].encode() if isinstance(response["body"], str) else as_body(response["body"])
    try:
        return PROVIDERS[name.split("/")[0]].read(response["status"] or 0, response["headers"] or {}, body)
    except ProviderError as error:
        return error


def outcome_of(reply: Reply | ProviderError) -> str:
    match reply:
        case ProviderError(kind=Kind.FATAL, scope=Scope.MONEY):
            return "error fatal (money)"
        case ProviderError():
            return f"error {reply.kind}"
        case Pending():
            return "pending"
        case Answered():
            return "answer"
        case Empty(reason="cancelled"):
            return "cancelled (no answer)"
        case Empty():
            return "empty"
        case Incomplete() | Blocked():
            return f"{type(reply).__name__.lower()}: {reply.reason}"
    return type(reply).__name__


@pytest.mark.parametrize(("name", "right"), expectations())
def test_a_recording_has_the_right_outcome(name, right):
    reply = read(name)

    assert outcome_of(reply) == right["outcome"]


@pytest.mark.parametrize(("name", "right"), expectations())
def test_a_recording_has_the_right_text(name, right):
    text = getattr(read(name), "text", "")

    assert text.startswith(right["answer_start"])
    assert len(text) == right["answer_chars"]


@pytest.mark.parametrize(("name", "right"), expectations())
def test_a_recording_has_the_right_sources(name, right):
    sources = getattr(read(name), "sources", ())

    counted = [source.url for source in sources if source.cited or not COUNTS_CITED_ONLY[name.split("/")[0]]]

    assert len(counted) == right["distinct_urls"]
    assert counted[: len(right["urls"])] == right["urls"]


@pytest.mark.parametrize(("name", "right"), expectations())
def test_a_recording_asks_for_the_right_wait(name, right):
    wait = getattr(read(name), "wait", None)

    assert wait == right["wait_s"]


@pytest.mark.parametrize(("name", "right"), expectations())
def test_every_span_of_a_recording_holds_the_address_of_its_source(name, right):
    reply = read(name)

    for source in getattr(reply, "sources", ()):
        for start, end in source.spans:
            assert source.raw_url in reply.text[start:end]
