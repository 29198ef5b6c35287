"""`manage.py ask` and `checkproviders` against a running simulator; neither needs a database."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from capture.providers import registry
from tests.process.running import simulator

SLUGS = list(registry.by_slug)


@pytest.fixture(scope="module")
def system():
    with simulator("--speed", "1000") as running:
        yield running


@pytest.fixture(autouse=True)
def _at_the_simulator(settings, system):
    settings.CAPTURE_PROVIDER_KEYS = {}
    settings.SIMULATOR_URL = system.url


@pytest.mark.parametrize("slug", SLUGS)
def test_every_system_answers_a_question(slug, capsys):
    call_command("ask", slug, "Which espresso machine is best?", country="DE", json=True)

    found = json.loads(capsys.readouterr().out)
    assert (found["outcome"], found["simulated"]) == ("answered", True)
    assert found["surface"] == registry.by_slug[slug].surface
    assert found["text"].strip()
    assert all(source["url"].startswith("https://") and ".example/" in source["url"] for source in found["sources"])
    assert float(found["cost"]) > 0


def test_an_answer_is_shown_with_its_sources_cost_and_time(capsys):
    call_command("ask", "chatgpt", "Which espresso machine is best?")

    shown = capsys.readouterr().out
    assert "Outcome: answered (simulated)" in shown
    assert "Sources:" in shown
    assert "ChatGPT, asked through the OpenAI API" in shown
    assert "(computed)" in shown


def test_a_refused_key_is_told_without_the_key(settings, system, capsys):
    settings.CAPTURE_PROVIDER_KEYS = {"OPENAI_API_KEY": "invalid-5b1e", "OPENAI_BASE_URL": f"{system.url}/openai/v1"}

    with pytest.raises(SystemExit, match="1"):
        call_command("ask", "chatgpt", "Which espresso machine is best?")

    shown = capsys.readouterr()
    assert "the key was refused" in shown.out
    assert "invalid-5b1e" not in shown.out + shown.err


def test_a_system_that_is_not_configured_says_what_to_set(settings):
    settings.SIMULATOR_URL = ""

    with pytest.raises(CommandError, match="set SERPAPI_API_KEY"):
        call_command("ask", "copilot", "Which espresso machine is best?")


@pytest.mark.parametrize("country", ["Deutschland", "D", "D1"])
def test_a_country_that_is_no_code_is_refused(country):
    with pytest.raises(CommandError, match="two letters"):
        call_command("ask", "chatgpt", "Which?", f"--country={country}")


def test_it_says_what_becomes_of_a_country_that_the_system_does_not_take(capsys):
    call_command("ask", "copilot", "Which espresso machine is best?", "--country=DE")

    assert registry.by_slug["copilot"].locale_note in capsys.readouterr().err


def test_a_failure_says_that_it_may_have_been_charged(system, capsys):
    system.script({"system": "chatgpt", "call": "start", "do": {"drop": "after_accept"}})

    with pytest.raises(SystemExit, match="1"):
        call_command("ask", "chatgpt", "Which espresso machine is best?")

    assert "It may have been charged" in capsys.readouterr().out


def test_an_empty_question_is_refused():
    with pytest.raises(CommandError, match="empty"):
        call_command("ask", "chatgpt", "  ")


def test_checkproviders_tells_what_works(capsys):
    call_command("checkproviders", json=True)

    found = json.loads(capsys.readouterr().out)
    assert [each["provider"] for each in found] == SLUGS
    assert all(each["configured"] and each["simulated"] and each["works"] for each in found)
    assert "searches left" in next(each["detail"] for each in found if each["provider"] == "copilot")


def test_checkproviders_tells_what_does_not_work_and_what_is_not_configured(settings, system, capsys):
    key = "invalid-77aa"
    settings.CAPTURE_PROVIDER_KEYS = {
        "SERPAPI_API_KEY": key,
        "SERPAPI_BASE_URL": f"{system.url}/serpapi",
        "GEMINI_API_KEY": "g",
        "GEMINI_BASE_URL": "http://127.0.0.1:9",
    }
    settings.SIMULATOR_URL = ""

    with pytest.raises(SystemExit, match="1"):
        call_command("checkproviders")

    shown = capsys.readouterr().out
    assert "ChatGPT: not configured: set OPENAI_API_KEY" in shown
    assert "Copilot: does not work: " in shown
    assert "Gemini: does not work: unreachable" in shown
    assert key not in shown
