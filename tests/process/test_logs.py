"""What a run of real workers writes: which job each line is about, and not a word of what was asked or answered."""

from __future__ import annotations

import json

import pytest

from capture import lanes
from capture.models import Capture
from tests.factories import make_check
from tests.process.running import simulator, worker

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

PROMPTS = ("Which zephyr-driven samovar hums quietest?", "Who mends a quillwork samovar?")
TELLING = 12  # characters, from which on a line of an answer cannot stand in a log by chance


def test_no_line_of_a_run_holds_a_prompt_or_an_answer_at_any_level(tmp_path):
    lanes.make_missing()
    check = make_check(prompts=PROMPTS, providers=("chatgpt", "perplexity", "copilot", "gemini", "google_ai"))
    jobs = set(check.jobs.values_list("pk", flat=True))
    log = tmp_path / "log"

    with simulator("--speed", "1000") as system:
        # What Python says of kept-alive connections as it ends is no log line.
        quiet = {"PYTHONWARNINGS": "error,ignore::ResourceWarning"}
        variables = {"SIMULATOR_URL": system.url, "LOG_LEVEL": "DEBUG", "LOG_FORMAT": "json", **quiet}
        for slug, shape in (("chatgpt", "truncated"), ("perplexity", "refusal"), ("gemini", "failed")):
            system.script({"system": slug, "call": "start", "times": 1, "do": {"shape": shape}})
        with worker("--drain", log=log, **variables) as process:
            assert process.wait(60) == 0

    written = log.read_text()
    lines = [json.loads(line) for line in written.splitlines()]
    assert {line["job"] for line in lines if "job" in line} == jobs
    answers = [line for text in Capture.objects.answered().values_list("text", flat=True) for line in text.splitlines()]
    telling = [line for line in (*PROMPTS, *answers) if len(line) >= TELLING]
    assert len(telling) > 20
    assert [line for line in telling if line in written] == []
    assert "samovar" not in written
