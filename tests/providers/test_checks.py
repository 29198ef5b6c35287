"""A key is checked for free, and what comes back is a few words or an error."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from capture.providers.replies import Kind, ProviderError, Scope
from capture.providers.transport import Response
from tests.providers.conftest import MAKERS, SERPAPI_KEY, CannedTransport, as_body

ADDRESSES = {
    "chatgpt": "https://api.openai.com/v1/models",
    "perplexity": "https://api.perplexity.ai/v1/responses/resp_00000000-0000-0000-0000-000000000000",
    "copilot": "https://serpapi.com/account.json",
    "gemini": "https://generativelanguage.googleapis.com/v1beta/models",
    "google_ai": "https://serpapi.com/account.json",
}


def checked(slug, status, document):
    transport = CannedTransport(Response(status, {}, document if isinstance(document, bytes) else as_body(document)))
    return MAKERS[slug](transport).check()


@pytest.mark.parametrize(("slug", "address"), ADDRESSES.items())
def test_a_check_only_looks(slug, address):
    request = MAKERS[slug]().check_request()

    assert (request.method, urlsplit(request.url)._replace(query="").geturl(), request.json) == ("GET", address, None)


@pytest.mark.parametrize(
    ("slug", "status", "document", "words"),
    [
        (
            "chatgpt",
            200,
            {"data": [{"id": "gpt-6-luna"}, {"id": "gpt-6-sol"}, 7]},
            "the key is accepted; gpt-6-luna is among its models (2 in all)",
        ),
        (
            "chatgpt",
            200,
            {"data": [{"id": "gpt-6-sol"}]},
            "the key is accepted, but gpt-6-luna is not among its models (1 in all)",
        ),
        (
            "gemini",
            200,
            {"models": [{"name": "models/gemini-3.8-flash"}, {}]},
            "the key is accepted; gemini-3.8-flash is among its models (1 in all)",
        ),
        ("perplexity", 404, {"error": {"type": "not_found", "code": 404}}, "the key is accepted"),
        ("perplexity", 200, {"id": "x", "status": "completed"}, "the key is accepted"),
        ("copilot", 200, {"total_searches_left": 1250, "plan_searches_left": 250}, "searches left: 1,250"),
        ("copilot", 200, {"plan_searches_left": 0}, "searches left: 0"),
        (
            "google_ai",
            200,
            {"total_searches_left": 250, "this_hour_searches": 3, "account_rate_limit_per_hour": 50},
            "searches left: 250; 3 of 50 used in this hour",
        ),
        ("google_ai", 200, {"account_email": "a@b.example", "api_key": SERPAPI_KEY}, "the key is accepted"),
    ],
)
def test_a_good_key_is_told_in_words(slug, status, document, words):
    assert checked(slug, status, document) == words


BAD_KEYS = {
    "chatgpt": (401, {"error": {"code": "invalid_api_key", "message": "Incorrect API key provided: sk-x."}}),
    "perplexity": (401, b"<html><head><title>401 Authorization Required</title></head></html>"),
    "copilot": (401, {"error": "Invalid API key."}),
    "gemini": (400, {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "API key not valid."}}),
    "google_ai": (200, {"error": "Invalid API key."}),
}


@pytest.mark.parametrize(("slug", "response"), BAD_KEYS.items())
def test_a_bad_key_is_an_error_of_the_key(slug, response):
    with pytest.raises(ProviderError) as caught:
        checked(slug, *response)

    assert (caught.value.kind, caught.value.scope) == (Kind.FATAL, Scope.KEY)


@pytest.mark.parametrize("slug", MAKERS)
@pytest.mark.parametrize(("status", "body"), [(200, b"<html>"), (200, b""), (503, b"<html>"), (429, b"{}")])
def test_what_is_no_answer_to_a_check_is_an_error_that_cost_nothing(slug, status, body):
    with pytest.raises(ProviderError) as caught:
        checked(slug, status, body)

    assert not caught.value.maybe_charged


@pytest.mark.parametrize("slug", MAKERS)
def test_a_check_that_cannot_be_carried_out_cost_nothing(slug):
    lost = ProviderError(Kind.TRANSIENT, "timeout", "Late.", maybe_charged=True)

    with pytest.raises(ProviderError) as caught:
        MAKERS[slug](CannedTransport(lost)).check()

    assert not caught.value.maybe_charged
