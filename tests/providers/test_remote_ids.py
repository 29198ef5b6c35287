"""What ends a call carries the system's id of it, also when it comes at once with the start."""

from __future__ import annotations

import pytest

from tests.providers.conftest import MAKERS, reply_to

OPENAI = {"id": "remote-1", "status": "completed"}
SERPAPI = {"search_metadata": {"id": "remote-1", "status": "Success"}}
MESSAGE = {"type": "message", "content": [{"type": "output_text", "text": "x"}]}
REFUSAL = {"type": "message", "content": [{"type": "refusal", "refusal": "x"}]}
STEP = {"type": "model_output", "content": [{"type": "text", "text": "x"}]}
PARTS = {"content": {"parts": [{"text": "x"}]}}


@pytest.mark.parametrize(
    ("slug", "document"),
    [
        ("chatgpt", OPENAI | {"output": [MESSAGE]}),
        ("chatgpt", OPENAI | {"output": [REFUSAL]}),
        ("chatgpt", OPENAI | {"status": "incomplete"}),
        ("chatgpt", OPENAI | {"status": "cancelled"}),
        ("chatgpt", OPENAI),
        ("perplexity", OPENAI | {"output": [MESSAGE]}),
        ("gemini", OPENAI | {"steps": [STEP]}),
        ("gemini", OPENAI | {"status": "incomplete", "steps": [STEP]}),
        ("gemini", OPENAI | {"status": "failed", "error": {"code": "safety"}}),
        ("gemini", {"responseId": "remote-1", "candidates": [PARTS]}),
        ("gemini", {"responseId": "remote-1", "promptFeedback": {"blockReason": "SAFETY"}}),
        ("copilot", SERPAPI | {"header": "x"}),
        ("google_ai", SERPAPI | {"reconstructed_markdown": "x"}),
        ("google_ai", SERPAPI | {"error": "Google hasn't returned any results for this query."}),
    ],
)
def test_the_systems_id_is_in_the_reply(slug, document):
    assert reply_to(MAKERS[slug](), document).remote_id == "remote-1"
