"""Bodies that are made to take long are read within the second that a reader has."""

from __future__ import annotations

import contextlib
import time

import pytest

from capture.providers.replies import ProviderError
from tests.providers.conftest import as_body, make_chatgpt, make_copilot, make_gemini, make_google_ai, make_perplexity

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


LARGE = {
    "chatgpt": (make_chatgpt, chatgpt),
    "perplexity": (make_perplexity, perplexity),
    "gemini": (make_gemini, gemini),
    "copilot": (make_copilot, lambda: serpapi(header="x", references=[{"link": PAGE, "index": 0}] * 20_000)),
    "google_ai, marks": (make_google_ai, lambda: serpapi(reconstructed_markdown="[1]" * 20_000 + "x")),
    "google_ai, spaced marks": (make_google_ai, lambda: serpapi(reconstructed_markdown=" [1]" * 20_000 + "x")),
    "google_ai, brackets": (make_google_ai, lambda: serpapi(reconstructed_markdown="[" * 60_000)),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_large_body_is_read_within_a_second(name):
    make, document = LARGE[name]
    body = as_body(document())

    began = time.process_time()
    with contextlib.suppress(ProviderError):
        make().read(200, {}, body)
    took = time.process_time() - began

    assert took < 1
