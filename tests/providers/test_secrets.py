"""No key is to be seen in what is shown, raised or logged, whatever a system does."""

from __future__ import annotations

import logging
import traceback
from urllib.parse import quote

import pytest

from capture.providers.replies import ProviderError, Question
from capture.providers.transport import HttpTransport, Response
from tests.providers.conftest import MAKERS, CannedTransport, as_body
from tests.providers.socket_server import serving, unused_url

# Of a form that nobody would know for a key, and that addresses write in another way.
KEY = "plainly+Invented/Key7"
QUESTION = Question("Which shoes?", country="DE", language="de", run="run-7")
CALLS = {
    "start": lambda provider: provider.start(QUESTION),
    "poll": lambda provider: provider.poll("id-1"),
    "check": lambda provider: provider.check(),
}


def shown(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)) + repr(error) + str(error)


def hidden(text: str) -> bool:
    return not any(form in text for form in (KEY, quote(KEY, safe=""), quote(KEY)))


@pytest.mark.parametrize("slug", MAKERS)
def test_no_key_is_in_what_is_printed(slug):
    provider = MAKERS[slug](api_key=KEY)

    requests = [provider.start_request(QUESTION), provider.poll_request("id-1"), provider.check_request()]
    assert hidden(repr(requests) + str(requests) + repr(provider) + repr(provider.account))


@pytest.mark.parametrize("slug", MAKERS)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("status", [200, 400, 401, 404, 429, 503])
@pytest.mark.parametrize("echo", [KEY, quote(KEY, safe=""), f"GET /search.json?api_key={quote(KEY, safe='')}&q=x"])
def test_a_key_that_a_system_repeats_is_not_passed_on(slug, call, status, echo):
    body = as_body(
        {"error": {"message": f"Not with {echo} here.", "code": status}}
        if slug in {"chatgpt", "gemini"}
        else {"error": f"Not with {echo} here."}
    )
    provider = MAKERS[slug](CannedTransport(Response(status, {}, body)), api_key=KEY)

    try:
        told = repr(CALLS[call](provider))
    except ProviderError as error:
        told = shown(error)

    assert hidden(told)


def answer(connection):
    while connection.read_request():
        connection.respond(b'{"error": "no"}', "401 Unauthorized")


def cut(connection):
    connection.read_request()
    connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{")


def reset(connection):
    connection.read_request()
    connection.reset()


def silence(connection):
    connection.read_request()
    connection.stay_silent()


def elsewhere(connection):
    connection.read_request()
    connection.respond(b"", "301 Moved", f"Location: https://evil.example/?api_key={quote(KEY)}\r\n")


@pytest.mark.parametrize("slug", MAKERS)
@pytest.mark.parametrize("behaviour", [answer, cut, reset, silence, elsewhere, None])
def test_no_key_is_logged_or_raised_whatever_happens_on_the_connection(slug, behaviour, caplog):
    for name in ("", "httpx", "httpcore"):
        caplog.set_level(logging.DEBUG, logger=name)
    with HttpTransport(connect_timeout=0.5, read_timeout=0.2, deadline=0.5) as transport:
        if behaviour is None:
            told = failures(MAKERS[slug](transport, api_key=KEY, base_url=unused_url()))
        else:
            with serving(behaviour) as server:
                told = failures(MAKERS[slug](transport, api_key=KEY, base_url=server.url))

    assert hidden(told)
    assert hidden(caplog.text)
    assert hidden("".join(str(record.__dict__) for record in caplog.records))


def failures(provider):
    told = ""
    for call in CALLS.values():
        with pytest.raises(ProviderError) as caught:
            call(provider)
        told += shown(caught.value)
    return told


def test_the_http_library_still_logs_what_is_no_secret(caplog):
    caplog.set_level(logging.INFO, logger="httpx")
    with HttpTransport() as transport, serving(answer) as server:
        failures(MAKERS["copilot"](transport, api_key=KEY, base_url=server.url))

    assert "engine=bing_copilot" in caplog.text
    assert "api_key=…" in caplog.text
