"""Bodies that are made to take long are read within the second that a reader has."""

from __future__ import annotations

import contextlib

import pytest

from capture.providers.replies import Answered, ProviderError
from tests.processor import seconds_of
from tests.providers.conftest import (
    MAKERS,
    as_body,
    make_chatgpt,
    make_copilot,
    make_gemini,
    make_google_ai,
    make_perplexity,
)

PAGE = "https://a.example/"


def many_citations():
    cited = {"type": "url_citation", "url": PAGE, "start_index": 0, "end_index": 1}
    annotations = [cited | {"start_index": place, "end_index": place + 1} for place in range(20_000)]
    return [{"type": "output_text", "text": "x" * 20_001, "annotations": annotations}]


def chatgpt():
    return {"id": "r", "status": "completed", "output": [{"type": "message", "content": many_citations()}]}


def perplexity():
    results = [{"id": 1, "url": PAGE, "title": "A"}] * 3_000
    content = [{"type": "output_text", "text": "[1]" * 20_000, "annotations": []}]
    output = [{"type": "search_results", "results": results}, {"type": "message", "content": content}]
    return {"id": "r", "status": "completed", "output": output}


def gemini():
    content = [part | {"type": "text"} for part in many_citations()]
    return {"id": "v1", "status": "completed", "steps": [{"type": "model_output", "content": content}]}


def serpapi(**fields):
    return {"search_metadata": {"id": "s", "status": "Success"}, **fields}


def pointed_at(references, times, pages=1):
    blocks = [{"type": "paragraph", "snippet": "xxx", "reference_indexes": [0]}] * times
    links = [{"link": f"{PAGE}{number % pages}", "index": 0} for number in range(references)]
    return serpapi(text_blocks=blocks, references=links)


def linked(words, line):
    links = [{"text": f"{words}{number}", "link": f"{PAGE}{number}"} for number in range(2_000)]
    return serpapi(text_blocks=[{"type": "paragraph", "snippet": line, "snippet_links": links}])


def linked_cells(line):
    cells = [{"snippet_links": [{"text": "aaab", "link": PAGE}]}] * 2_000
    return serpapi(text_blocks=[{"type": "table", "table": [[line]], "detailed": [cells]}])


def grounded(text, quotation):
    support = {"segment": {"text": quotation, "endIndex": 3}, "groundingChunkIndices": [0]}
    grounding = {"groundingChunks": [{"web": {"uri": PAGE}}], "groundingSupports": [support] * 3_000}
    return {"candidates": [{"content": {"parts": [{"text": text}]}, "groundingMetadata": grounding}]}


def many_results():
    results = [{"id": 1, "url": f"{PAGE}{number}"} for number in range(100_000)]
    content = [{"type": "output_text", "text": "[1]" * 20_000, "annotations": []}]
    output = [{"type": "search_results", "results": results}, {"type": "message", "content": content}]
    return {"id": "r", "status": "completed", "output": output}


LARGE = {
    "chatgpt": (make_chatgpt, chatgpt),
    "perplexity": (make_perplexity, perplexity),
    "gemini": (make_gemini, gemini),
    "copilot": (make_copilot, lambda: serpapi(header="x", references=[{"link": PAGE, "index": 0}] * 20_000)),
    "google_ai, marks": (make_google_ai, lambda: serpapi(reconstructed_markdown="[1]" * 20_000 + "x")),
    "google_ai, spaced marks": (make_google_ai, lambda: serpapi(reconstructed_markdown=" [1]" * 20_000 + "x")),
    "google_ai, brackets": (make_google_ai, lambda: serpapi(reconstructed_markdown="[" * 60_000)),
    "perplexity, results": (make_perplexity, many_results),
    "gemini, quotations": (make_gemini, lambda: grounded("a" * 200_000, "a" * 500 + "b")),
    "copilot, one page": (make_copilot, lambda: pointed_at(9_000, 20_000)),
    "copilot, many pages": (make_copilot, lambda: pointed_at(9_000, 20_000, pages=9_000)),
    "google_ai, links": (make_google_ai, lambda: linked("zz", "ab " * 70_000)),
    "google_ai, long links": (make_google_ai, lambda: linked("a" * 1_000 + "b", "a" * 200_000)),
    "google_ai, cells": (make_google_ai, lambda: linked_cells("a" * 200_000)),
}
MESSAGES = (
    "word " * 800_000,
    "x" * 4_000_000,
    " " * 4_000_000 + "x",
    "retry " * 700_000,
    "try again in " * 300_000,
    "try again in " + "1s" * 2_000_000,
    "try again in " + "1" * 4_000_000,
    "try again in " + "1 second " * 400_000,
    "api_key=" * 500_000,
    "api_key" + " " * 4_000_000,
    "Bearer " * 600_000,
)


def seconds_for(provider, status, body):
    def read():
        with contextlib.suppress(ProviderError):
            provider.read(status, {}, body)

    return seconds_of(read, 1)


@pytest.mark.parametrize("name", LARGE)
def test_a_large_body_is_read_within_a_second(name):
    make, document = LARGE[name]

    assert seconds_for(make(), 200, as_body(document())) < 1


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message[:15])
@pytest.mark.parametrize("slug", MAKERS)
@pytest.mark.parametrize("status", [200, 429])
def test_an_error_of_megabytes_is_read_within_a_second(message, slug, status):
    document = {"id": "r", "status": "failed", "error": {"message": message}}

    for body in (as_body(document), as_body({"error": message})):
        assert seconds_for(MAKERS[slug](), status, body) < 1


def test_a_wait_of_megabytes_is_none():
    details = [{"@type": "x.RetryInfo", "retryDelay": "1s" * 2_000_000}]
    body = as_body({"error": {"code": 429, "message": "m", "details": details}})

    assert seconds_for(make_gemini(), 429, body) < 1


def test_a_page_that_too_many_places_rest_on_is_still_cited():
    reply = make_copilot().read(200, {}, as_body(pointed_at(500, 2_000, pages=500)))

    assert isinstance(reply, Answered)
    sources = reply.sources
    assert len(sources) == 500
    assert all(source.cited for source in sources)
    assert len(sources[0].spans) == 1_000
