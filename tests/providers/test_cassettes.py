"""Recorded answers are read as `expected.json` beside them says.

What is compared otherwise than word for word, and why:

- Outcomes: `expected.json` adds the reason to some. An empty answer's reason is ours where it quotes a sentence.
- Texts of Copilot: their lengths were taken with the marks of footnotes, which have no place in an answer. They are
  counted here and added.
- Addresses: `expected.json` counts every address that a reply names as a source, Google's own pages that stand in
  front of others too (`google.com/searchviewer`, `google.com/search`). These are no sources of their own and are
  dropped. They are counted here and added. It also encodes queries anew; an address is kept as it came.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from capture.providers.replies import Answered, Blocked, Empty, Incomplete, Kind, Pending, ProviderError, Reply, Scope
from capture.providers.urls import clean_url
from tests.providers.conftest import MAKERS, as_body

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "cassettes"
PROVIDERS = {slug: make() for slug, make in MAKERS.items()}
# The recordings' notes count what ChatGPT cites, but all that the others list: Perplexity cites by bare markers.
COUNTS_CITED_ONLY = {"chatgpt"}
# What they say in other words.
SAME_OUTCOMES = {
    "empty: Google hasn't returned any results for t": "empty: no_results",
    "pending: call google_ai_overview": "pending",
    "requires_action": "empty: requires_action",
    "cancelled (no answer)": "empty: cancelled",
}
FOOTNOTE = re.compile(r"\s\d+(?=\s*[.।]?$)")

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the recordings are not in {FOLDER}")


def expectations() -> list[Any]:
    if not FOLDER.is_dir():
        return []
    expected: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text())
    return [pytest.param(name, right, id=name) for name, right in expected.items()]


def slug_of(name: str) -> str:
    return name.split("/")[0]


def response_of(name: str) -> Any:
    return json.loads((FOLDER / name).read_text())["response"]


def read(name: str) -> Any:
    response = response_of(name)
    body = response["body"].encode() if isinstance(response["body"], str) else as_body(response["body"])
    try:
        return PROVIDERS[slug_of(name)].read(response["status"] or 0, response["headers"] or {}, body)
    except ProviderError as error:
        return error


def nodes(document: Any) -> Iterator[dict[str, Any]]:
    """Every object in a document, however deep."""
    if isinstance(document, dict):
        yield document
    for inner in document.values() if isinstance(document, dict) else document if isinstance(document, list) else ():
        yield from nodes(inner)


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
        case Incomplete() | Blocked() | Empty():
            return f"{type(reply).__name__.lower()}: {reply.reason}"
    return type(reply).__name__


@pytest.mark.parametrize(("name", "right"), expectations())
def test_a_recording_has_the_right_outcome(name, right):
    outcome = outcome_of(read(name))

    expected = SAME_OUTCOMES.get(right["outcome"], right["outcome"])
    assert outcome == expected or (expected == "empty" and outcome.startswith("empty: "))


def footnotes(name: str) -> int:
    """Characters of the marks of footnotes in Copilot's recorded blocks."""
    marked = (
        node["snippet"]
        for node in nodes(response_of(name)["body"])
        if node.get("reference_indexes") and "snippet" in node
    )
    return sum(len(found.group()) for snippet in marked for found in [FOOTNOTE.search(snippet)] if found)


@pytest.mark.parametrize(("name", "right"), expectations())
def test_a_recording_has_the_right_text(name, right):
    text = getattr(read(name), "text", "")

    assert text.startswith(right["answer_start"])
    left_out = footnotes(name) if slug_of(name) == "copilot" else 0
    assert len(text) + left_out == right["answer_chars"]


def fronts(name: str) -> set[str]:
    """The addresses of Google's own pages that a recording names as sources."""
    named = {node.get(key) for node in nodes(response_of(name)["body"]) for key in ("uri", "link")}
    return {url for url in named if isinstance(url, str) and url.startswith("https://") and clean_url(url) is None}


def comparable(url: str) -> tuple[str, list[tuple[str, str]]]:
    """An address without regard to how its query is encoded."""
    parts = urlsplit(url)
    return parts._replace(query="").geturl(), parse_qsl(parts.query, keep_blank_values=True)


@pytest.mark.parametrize(("name", "right"), expectations())
def test_a_recording_has_the_right_sources(name, right):
    sources = getattr(read(name), "sources", ())
    counted = [source.url for source in sources if source.cited or slug_of(name) not in COUNTS_CITED_ONLY]

    dropped = set() if slug_of(name) in COUNTS_CITED_ONLY else fronts(name)
    assert len(counted) + len(dropped) == right["distinct_urls"]
    first = [comparable(url) for url in right["urls"] if clean_url(url)]
    assert [comparable(url) for url in counted][: len(first)] == first


@pytest.mark.parametrize(("name", "right"), expectations())
def test_no_page_that_only_stands_in_front_of_a_source_is_a_source(name, right):
    for source in getattr(read(name), "sources", ()):
        assert clean_url(source.url) == source.url


@pytest.mark.parametrize(("name", "right"), expectations())
def test_a_recording_asks_for_the_right_wait(name, right):
    wait = getattr(read(name), "wait", None)

    assert wait == right["wait_s"]


@pytest.mark.parametrize(
    ("name", "right"), [each for each in expectations() if slug_of(str(each.values[0])) in {"chatgpt", "perplexity"}]
)
def test_every_span_of_a_recording_holds_the_address_of_its_source(name, right):
    reply = read(name)

    for source in getattr(reply, "sources", ()):
        for start, end in source.spans:
            assert source.raw_url in reply.text[start:end]


def quoted_segments() -> list[Any]:
    found = []
    for each in expectations():
        name = str(each.values[0])
        if slug_of(name) == "gemini" and isinstance(response_of(name)["body"], dict):
            supports = [
                support for node in nodes(response_of(name)["body"]) for support in node.get("groundingSupports", [])
            ]
            found += [pytest.param(name, {s["segment"]["text"] for s in supports}, id=name)] if supports else []
    return found


@pytest.mark.parametrize(("name", "quoted"), quoted_segments())
def test_every_span_of_a_recording_of_gemini_holds_what_its_segment_quotes(name, quoted):
    reply = read(name)

    spans = [reply.text[start:end] for source in reply.sources for start, end in source.spans]
    assert set(spans) <= quoted
    assert spans or not reply.sources


@pytest.mark.parametrize(
    ("name", "right"), [each for each in expectations() if "grounding-api-redirect" in str(each.values[1])]
)
def test_the_sources_of_gemini_have_the_domains_that_their_titles_name(name, right):
    redirects = [source for source in read(name).sources if source.redirect]

    assert redirects
    assert all(source.domain == source.title for source in redirects)
    assert all(source.raw_url.startswith("https://vertexaisearch.cloud.google.com/") for source in redirects)
