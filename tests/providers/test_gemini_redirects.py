"""Where Gemini's redirects lead is looked up once, without a key, nowhere but where they live, and harmlessly."""

from __future__ import annotations

import time

import pytest

from capture.providers.replies import Kind, ProviderError
from capture.providers.transport import HttpTransport, Patience, Response
from tests.providers.conftest import (
    GEMINI_KEY,
    CannedTransport,
    make_chatgpt,
    make_copilot,
    make_gemini,
    make_google_ai,
    make_perplexity,
    reply_to,
)
from tests.providers.socket_server import seconds_since, serving

REDIRECT = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/AUZIYQ=="


def found(location, status=302):
    return CannedTransport(Response(status, {"Location": location} if location is not None else {}, b""))


def test_a_redirect_is_looked_up_without_a_key_and_in_a_short_time():
    transport = found("https://acme.example/shoes?utm_source=x&id=7")

    assert make_gemini(transport).resolve(REDIRECT) == "https://acme.example/shoes?id=7"

    [(request, _)] = transport.requests
    assert (request.method, request.url, dict(request.headers), request.json) == ("GET", REDIRECT, {}, None)
    assert request.patience == Patience(5, 5)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_every_kind_of_redirect_is_read(status):
    assert make_gemini(found("https://acme.example/", status)).resolve(REDIRECT) == "https://acme.example/"


@pytest.mark.parametrize(
    "url",
    [
        "http://vertexaisearch.cloud.google.com/grounding-api-redirect/a",
        "https://vertexaisearch.cloud.google.com:8443/grounding-api-redirect/a",
        "https://user@vertexaisearch.cloud.google.com/grounding-api-redirect/a",
        "https://vertexaisearch.cloud.google.com.evil.example/grounding-api-redirect/a",
        "https://evil.example/grounding-api-redirect/a",
        "https://generativelanguage.googleapis.com/grounding-api-redirect/a",
        "http://127.0.0.1/grounding-api-redirect/a",
        "https://[::1",
        "file:///etc/passwd",
        "",
    ],
)
def test_nothing_is_sent_to_anywhere_else(url):
    transport = found("https://acme.example/")

    assert make_gemini(transport).resolve(url) is None
    assert transport.requests == []


@pytest.mark.parametrize(
    ("location", "status"),
    [
        (None, 302),
        ("", 302),
        ("/relative", 302),
        ("javascript:alert(1)", 302),
        ("https://[::1", 302),
        ("https://www.google.com/search?q=x", 302),
        (REDIRECT + "more", 302),
        ("https://acme.example/", 200),
        ("https://acme.example/", 404),
    ],
)
def test_what_leads_nowhere_is_none(location, status):
    assert make_gemini(found(location, status)).resolve(REDIRECT) is None


def test_a_failure_is_none():
    assert make_gemini(CannedTransport(ProviderError(Kind.TRANSIENT, "timeout", "Late."))).resolve(REDIRECT) is None


def test_a_simulated_account_looks_up_its_simulators_redirects_and_no_others():
    transport = found("https://acme.example/")
    gemini = make_gemini(transport, base_url="http://simulator:9000/gemini", simulated=True)

    assert gemini.resolve("http://simulator:9000/gemini/grounding-api-redirect/a") == "https://acme.example/"
    assert gemini.resolve("http://simulator:9000/grounding-api-redirect/a") == "https://acme.example/"
    assert len(transport.requests) == 2
    for url in (REDIRECT, "http://simulator:9001/grounding-api-redirect/a", "http://simulator:9000/v1beta/models"):
        assert gemini.resolve(url) is None
    assert len(transport.requests) == 2


@pytest.mark.parametrize(
    ("title", "domain", "told"),
    [
        ("Acme.example", "", "acme.example"),
        ("www.пример.рф", "", "www.пример.рф"),
        ("Weather in Berlin", "", ""),
        ("Acme | Shoes", "acme.example", "acme.example"),
        ("", "", ""),
        ("example", "", ""),
    ],
)
def test_the_domain_is_the_title_where_that_is_one(title, domain, told):
    web = {"uri": REDIRECT, "title": title, "domain": domain}
    candidate = {"content": {"parts": [{"text": "x"}]}, "groundingMetadata": {"groundingChunks": [{"web": web}]}}

    source = reply_to(make_gemini(), {"candidates": [candidate]}).sources[0]

    assert (source.domain, source.redirect, source.raw_url) == (told, True, REDIRECT)


@pytest.mark.parametrize("make", [make_chatgpt, make_perplexity, make_copilot, make_google_ai])
def test_other_systems_have_no_redirects(make):
    transport = found("https://acme.example/")

    assert make(transport).resolve(REDIRECT) is None
    assert transport.requests == []


@pytest.fixture
def transport():
    with HttpTransport(connect_timeout=1, read_timeout=1, deadline=1) as made:
        yield made


def simulated(transport, server):
    return make_gemini(transport, base_url=f"{server.url}/gemini", simulated=True)


def test_a_redirect_over_a_real_connection_is_read_and_not_followed(transport):
    seen = []

    def redirect(connection):
        seen.append(connection.read_request())
        connection.respond(b"moved", "302 Found", "Location: https://acme.example/a?srsltid=x\r\n")

    with serving(redirect) as server:
        url = f"{server.url}/gemini/grounding-api-redirect/a"
        assert simulated(transport, server).resolve(url) == "https://acme.example/a"

    [request] = seen
    assert request.startswith(b"GET /gemini/grounding-api-redirect/a HTTP/1.1\r\n")
    assert GEMINI_KEY.encode() not in request
    assert b"key" not in request.lower()


@pytest.mark.parametrize("ending", ["silence", "reset", "rubbish", "trickle"])
def test_whatever_goes_wrong_on_the_connection_is_none(transport, ending, monkeypatch):
    monkeypatch.setattr("capture.providers.gemini_redirects._PATIENCE", Patience(0.3, 0.6))

    def misbehave(connection):
        connection.read_request()
        if ending == "silence":
            connection.stay_silent()
        elif ending == "reset":
            connection.reset()
        elif ending == "rubbish":
            connection.send(b"nothing like HTTP\r\n\r\n")
        else:
            connection.trickle(b"HTTP/1.1 302 Found\r\n" + b"X: y\r\n" * 100, 0.1)

    began = time.monotonic()
    with serving(misbehave) as server:
        url = f"{server.url}/gemini/grounding-api-redirect/a"
        assert simulated(transport, server).resolve(url) is None
        assert seconds_since(began) < 2


def test_a_redirect_of_a_question_is_still_an_error(transport):
    def redirect(connection):
        connection.read_request()
        connection.respond(b"", "302 Found", "Location: https://acme.example/\r\n")

    with serving(redirect) as server, pytest.raises(ProviderError) as caught:
        simulated(transport, server).poll("v1_1")

    assert caught.value.reason == "redirect"
