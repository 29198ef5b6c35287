"""Which systems can be asked follows from the settings."""

from __future__ import annotations

import pytest

from capture.providers.base import Account
from capture.providers.registry import PROVIDERS, by_slug, configure, missing
from capture.providers.replies import Question
from tests.providers.conftest import GEMINI_KEY, NOWHERE, OPENAI_KEY, SERPAPI_KEY

SIMULATOR = "http://127.0.0.1:9000/"


def test_a_system_with_a_key_is_real_with_its_defaults():
    provider = configure({"OPENAI_API_KEY": OPENAI_KEY}, "", NOWHERE)["chatgpt"]

    assert provider.account == Account(OPENAI_KEY, "https://api.openai.com/v1", "gpt-6-luna")
    assert not provider.account.simulated


def test_base_url_and_model_may_be_set():
    environ = {
        "OPENAI_API_KEY": f" {OPENAI_KEY}\n",
        "OPENAI_BASE_URL": "https://proxy.example/openai/",
        "OPENAI_MODEL": "gpt-6-astra",
    }

    provider = configure(environ, "", NOWHERE)["chatgpt"]

    assert provider.account == Account(OPENAI_KEY, "https://proxy.example/openai", "gpt-6-astra")


def test_a_system_without_a_key_is_simulated_when_there_is_a_simulator():
    provider = configure({"OPENAI_API_KEY": "  "}, SIMULATOR, NOWHERE)["chatgpt"]

    assert provider.account == Account("simulated", "http://127.0.0.1:9000/openai/v1", "gpt-6-luna", simulated=True)


def test_a_system_without_a_key_and_without_a_simulator_is_absent():
    assert configure({"OPENAI_API_KEY": ""}, "  ", NOWHERE) == {}


def test_what_is_missing_is_said():
    configured = configure({"OPENAI_API_KEY": OPENAI_KEY}, "", NOWHERE)

    assert "Perplexity: set PERPLEXITY_API_KEY" in missing(configured)
    assert not any(line.startswith("ChatGPT") for line in missing(configured))


def test_slugs_settings_and_simulator_paths_are_distinct():
    assert set(by_slug.values()) == set(PROVIDERS)
    # Systems that are asked with one key are asked at one address.
    assert len({provider.simulator_path for provider in PROVIDERS}) == len({each.env_prefix for each in PROVIDERS})
    assert len({provider.slug for provider in PROVIDERS}) == len({each.label for each in PROVIDERS}) == len(PROVIDERS)
    assert all(provider.simulator_path.startswith("/") for provider in PROVIDERS)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://api.openai.com",
        "api.openai.com/v1",
        "https://",
        "http://api.openai.com/v1",
        "http://127.0.0.1.evil.example/",
        "https://user:secret@api.openai.com/v1",
        "https://api.openai.com/v1?x=1",
        "https://[::1",
        "https://api.openai.com:port",
        "https://exa mple.com",
        "https://exa\x00mple.com",
        "https://exa\tmple.com/v1",
        "https://api.openai.com/v1\r\nX-Evil: 1",
        "https://api.openai.com/v1%0d%0aX-Evil:1",
        "https://api.openai.com%0d%0a.example",
        "https://api.openai.com\\.example",
        "https://äpi.example",
    ],
)
def test_a_base_url_that_cannot_be_right_is_refused_with_the_systems_name(url):
    with pytest.raises(ValueError, match="ChatGPT") as caught:
        configure({"OPENAI_API_KEY": OPENAI_KEY, "OPENAI_BASE_URL": url}, "", NOWHERE)

    assert OPENAI_KEY not in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://localhost:9000", "http://127.0.0.1:1", "http://[::1]:1", "https://a.example"])
def test_plain_http_may_go_to_this_machine(url):
    assert Account(OPENAI_KEY, url).base_url == url


def test_plain_http_may_go_to_a_simulator_anywhere():
    assert Account("simulated", "http://simulator:9000", simulated=True).simulated


@pytest.mark.parametrize("key", ["", "sk-über", "sk-two words", "sk-line\nbreak"])
def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(key):
    with pytest.raises(ValueError, match="key") as caught:
        Account(key, "https://api.openai.com/v1")

    assert "sk-" not in str(caught.value)


def test_a_key_is_not_in_the_representation_of_an_account():
    assert OPENAI_KEY not in repr(Account(OPENAI_KEY, "https://api.openai.com/v1"))


def test_one_key_of_serpapi_is_enough_for_both_of_its_systems():
    providers = configure({"SERPAPI_API_KEY": SERPAPI_KEY, "SERPAPI_BASE_URL": "https://proxy.example/s/"}, "", NOWHERE)

    assert list(providers) == ["copilot", "google_ai"]
    assert {provider.account.base_url for provider in providers.values()} == {"https://proxy.example/s"}
    assert {provider.lane for provider in providers.values()} == {"serpapi"}


def test_all_five_systems_are_simulated_when_no_key_is_set():
    providers = configure({}, SIMULATOR, NOWHERE)

    assert list(providers) == ["chatgpt", "perplexity", "copilot", "gemini", "google_ai"]
    assert all(provider.account.simulated for provider in providers.values())


@pytest.mark.parametrize("simulator", ["", SIMULATOR])
@pytest.mark.parametrize(
    ("value", "api", "resumable"),
    [
        (None, "interactions", True),
        (" ", "interactions", True),
        ("interactions", "interactions", True),
        (" generate_content\n", "generate_content", False),
    ],
)
def test_the_way_in_which_gemini_is_asked_is_a_setting(value, api, resumable, simulator):
    environ = {} if value is None else {"GEMINI_API": value}
    keys = {} if simulator else {"GEMINI_API_KEY": GEMINI_KEY}

    gemini = configure({**environ, **keys}, simulator, NOWHERE)["gemini"]

    assert (gemini.account.api, gemini.resumable) == (api, resumable)


@pytest.mark.parametrize("value", ["generateContent", "Interactions", "both"])
def test_a_way_that_does_not_exist_is_refused_in_words(value):
    with pytest.raises(ValueError, match="GEMINI_API must be one of: interactions, generate_content"):
        configure({"GEMINI_API_KEY": GEMINI_KEY, "GEMINI_API": value}, "", NOWHERE)


@pytest.mark.parametrize("provider", PROVIDERS, ids=[provider.slug for provider in PROVIDERS])
def test_a_system_says_what_it_makes_of_country_language_and_samples(provider):
    if not (provider.takes_country and provider.takes_language):
        assert provider.locale_note
    assert provider.locale_note.endswith(".") or not provider.locale_note
    assert provider.samples_note.endswith(".") or not provider.samples_note
    assert not provider.surface.endswith(".")
    assert bool(provider.samples_note) is (provider.most_samples is not None)


def test_what_a_system_takes_is_what_it_is_sent():
    def sent(provider, **question):
        request = provider.start_request(Question("Which shoes?", **question))
        return request.url + str(request.json)

    for provider in configure({}, SIMULATOR, NOWHERE).values():
        plain = sent(provider)
        assert (sent(provider, country="DE") != plain) is provider.takes_country
        assert (sent(provider, language="de") != plain) is provider.takes_language
