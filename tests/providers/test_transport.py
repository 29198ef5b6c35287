"""One exchange over a real socket: whatever goes wrong is one `ProviderError` that says whether it may have cost."""

from __future__ import annotations

import gzip
import json
import threading
import time
import traceback
from typing import Any

import pytest

from capture.providers.replies import Kind, ProviderError
from capture.providers.transport import HttpTransport, Patience, Request
from tests.providers.socket_server import seconds_since, serving, unused_url

KEY = "sk-plainlyInvented0123456789"
TIMEOUTS: dict[str, Any] = {"connect_timeout": 1.0, "read_timeout": 0.4, "deadline": 1.0}


@pytest.fixture
def transport():
    with HttpTransport(**TIMEOUTS, max_bytes=100_000) as made:
        yield made


def post(url, path="/v1/responses?api_key=hidden"):
    return Request("POST", url + path, {"Authorization": f"Bearer {KEY}"}, {"input": "Which shoes? 👟"})


def error_from(transport, behaviour, *, fresh=True):
    with serving(behaviour) as server, pytest.raises(ProviderError) as caught:
        transport.send(post(server.url), fresh_connection=fresh)
    return caught.value


def echo(connection):
    while request := connection.read_request():
        connection.respond(request, headers="X-Seen: yes\r\n")


def test_a_request_arrives_as_it_was_meant(transport):
    with serving(echo) as server:
        response = transport.send(post(server.url), fresh_connection=True)

    head, _, body = response.body.partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/responses?api_key=hidden HTTP/1.1\r\n")
    assert f"Authorization: Bearer {KEY}".encode() in head
    assert json.loads(body) == {"input": "Which shoes? 👟"}
    assert (response.status, response.headers["x-seen"]) == (200, "yes")


def test_a_lone_surrogate_in_a_question_does_not_stop_it(transport):
    with serving(echo) as server:
        response = transport.send(Request("POST", server.url, json={"input": "a\ud800b"}), fresh_connection=True)

    assert response.body.endswith(b'{"input": "a?b"}')


def test_starts_have_connections_of_their_own_and_polls_share_one(transport):
    with serving(echo) as server:
        for _ in range(3):
            transport.send(Request("GET", server.url), fresh_connection=False)
        assert server.connections == 1

        for _ in range(3):
            transport.send(post(server.url), fresh_connection=True)
        assert server.connections == 4


def test_an_error_status_is_a_response_like_any_other(transport):
    def bad_gateway(connection):
        connection.read_request()
        connection.respond(b"<html>", "502 Bad Gateway", "Retry-After: 3\r\n")

    with serving(bad_gateway) as server:
        response = transport.send(post(server.url), fresh_connection=True)

    assert (response.status, response.body, response.headers["retry-after"]) == (502, b"<html>", "3")


def test_a_packed_body_is_unpacked(transport):
    def packed(connection):
        connection.read_request()
        connection.respond(gzip.compress(b'{"a": 1}'), headers="Content-Encoding: gzip\r\n")

    with serving(packed) as server:
        response = transport.send(post(server.url), fresh_connection=True)

    assert response.body == b'{"a": 1}'


def test_a_refused_connection_was_never_charged(transport):
    with pytest.raises(ProviderError) as caught:
        transport.send(post(unused_url()), fresh_connection=True)

    error = caught.value
    assert (error.kind, error.reason, error.maybe_charged) == (Kind.TRANSIENT, "unreachable", False)
    assert "127.0.0.1" in error.message
    assert "refused" in error.message


@pytest.mark.parametrize(
    "url", ["https://[::1", "nothing", "gopher://acme.example/", "http://acme.example:99999/", "http://\ud800/"]
)
def test_an_address_that_cannot_be_asked_was_never_charged(transport, url):
    with pytest.raises(ProviderError) as caught:
        transport.send(Request("GET", url), fresh_connection=True)

    assert (caught.value.reason, caught.value.maybe_charged) == ("unreachable", False)


@pytest.mark.parametrize("key", ["sk-invented\r\nX-Evil: 1", "sk-üinvented"])
def test_a_header_that_cannot_be_sent_is_not_shown(transport, key):
    with serving(echo) as server, pytest.raises(ProviderError) as caught:
        transport.send(Request("GET", server.url, {"Authorization": key}), fresh_connection=True)

    assert not caught.value.maybe_charged
    assert "invented" not in "".join(traceback.format_exception(caught.value))


def close_after_request(connection):
    connection.read_request()


def reset_after_request(connection):
    connection.read_request()
    connection.reset()


def nonsense(connection):
    connection.read_request()
    connection.send(b"what is this\r\n\r\n")


@pytest.mark.parametrize("behaviour", [close_after_request, reset_after_request, nonsense])
@pytest.mark.parametrize("fresh", [True, False])
def test_a_connection_lost_after_the_request_may_have_been_charged(transport, behaviour, fresh):
    error = error_from(transport, behaviour, fresh=fresh)

    assert (error.kind, error.reason, error.maybe_charged) == (Kind.TRANSIENT, "connection_lost", True)


def cut_by_length(connection):
    connection.read_request()
    connection.send(b'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"id": "resp_1", "sta')


def cut_in_chunks(connection):
    connection.read_request()
    connection.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n63\r\nhalf")


def cut_by_reset(connection):
    cut_by_length(connection)
    time.sleep(0.1)  # so that the head is read before the reset throws it away
    connection.reset()


@pytest.mark.parametrize("behaviour", [cut_by_length, cut_in_chunks, cut_by_reset])
def test_a_body_that_is_cut_may_have_been_charged(transport, behaviour):
    error = error_from(transport, behaviour)

    assert (error.kind, error.reason, error.maybe_charged) == (Kind.TRANSIENT, "cut_body", True)


def silent(connection):
    connection.read_request()
    connection.stay_silent()


def silent_after_the_head(connection):
    cut_by_length(connection)
    connection.stay_silent()


@pytest.mark.parametrize("behaviour", [silent, silent_after_the_head])
def test_silence_is_a_timeout_that_may_have_been_charged(transport, behaviour):
    error = error_from(transport, behaviour)

    assert (error.kind, error.reason, error.maybe_charged) == (Kind.TRANSIENT, "timeout", True)


def trickling_head(connection):
    connection.read_request()
    connection.trickle(b"HTTP/1.1 200 OK\r\nX-Padding: " + b"x" * 1000, pause=0.05)


def trickling_body(connection):
    connection.read_request()
    connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    connection.trickle(b"x" * 1000, pause=0.05)


@pytest.mark.parametrize("behaviour", [trickling_head, trickling_body])
@pytest.mark.parametrize("fresh", [True, False])
def test_a_server_that_trickles_is_left_at_the_deadline(transport, behaviour, fresh):
    began = time.monotonic()

    error = error_from(transport, behaviour, fresh=fresh)

    assert (error.reason, error.maybe_charged) == ("timeout", True)
    assert 0.9 < seconds_since(began) < 3


def test_a_silent_server_is_left_at_the_deadline_even_when_one_read_might_take_longer():
    began = time.monotonic()

    with HttpTransport(read_timeout=20.0, deadline=0.5) as impatient:
        error = error_from(impatient, silent)

    assert (error.reason, error.maybe_charged) == ("timeout", True)
    assert 0.4 < seconds_since(began) < 3


def test_a_deadline_is_over_with_its_exchange(transport):
    def slow_then_quick(connection):
        connection.read_request()
        time.sleep(0.3)
        connection.respond(b"{}")

    with serving(slow_then_quick) as server:
        for _ in range(5):
            response = transport.send(post(server.url), fresh_connection=True)

    assert response.status == 200


def test_a_body_that_is_too_large_is_left(transport):
    def large(connection):
        connection.read_request()
        connection.respond(b"x" * 100_001)

    error = error_from(transport, large)

    assert (error.kind, error.reason, error.maybe_charged) == (Kind.FATAL, "too_large", True)


def test_a_small_body_that_unpacks_to_a_large_one_is_left(transport):
    def bomb(connection):
        connection.read_request()
        connection.respond(gzip.compress(b"x" * 1_000_000), headers="Content-Encoding: gzip\r\n")

    error = error_from(transport, bomb)

    assert error.reason == "too_large"


def test_a_body_that_cannot_be_unpacked_may_have_been_charged(transport):
    def not_packed(connection):
        connection.read_request()
        connection.respond(b"plain", headers="Content-Encoding: gzip\r\n")

    error = error_from(transport, not_packed)

    assert (error.kind, error.reason, error.maybe_charged) == (Kind.TRANSIENT, "bad_encoding", True)


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary Redirect", "304 Not Modified"])
def test_a_redirect_is_an_error_and_not_followed(transport, status):
    def elsewhere(connection):
        connection.read_request()
        connection.respond(b"", status, "Location: /elsewhere\r\n")

    with serving(elsewhere) as server:
        with pytest.raises(ProviderError) as caught:
            transport.send(post(server.url), fresh_connection=True)
        assert server.connections == 1

    assert (caught.value.kind, caught.value.reason) == (Kind.FATAL, "redirect")


def plain_text(connection):
    connection.peer.recv(10)
    connection.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def silent_at_once(connection):
    connection.stay_silent()


@pytest.mark.parametrize("behaviour", [plain_text, silent_at_once])
def test_an_encrypted_connection_that_does_not_come_about_was_never_charged(transport, behaviour):
    with serving(behaviour) as server, pytest.raises(ProviderError) as caught:
        transport.send(post(server.url.replace("http:", "https:")), fresh_connection=True)

    assert (caught.value.reason, caught.value.maybe_charged) == ("unreachable", False)


def test_cookies_are_not_kept(transport):
    def sets_a_cookie(connection):
        while request := connection.read_request():
            connection.respond(request, headers="Set-Cookie: a=b; Path=/\r\n")

    with serving(sets_a_cookie) as server:
        transport.send(Request("GET", server.url), fresh_connection=False)
        second = transport.send(Request("GET", server.url), fresh_connection=False)

    assert b"cookie" not in second.body.lower()


def test_proxies_of_the_environment_are_ignored(transport, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", unused_url())

    with serving(echo) as server, HttpTransport(**TIMEOUTS) as made:
        response = made.send(Request("GET", server.url), fresh_connection=True)

    assert response.status == 200


@pytest.mark.parametrize("behaviour", [close_after_request, reset_after_request, cut_by_length, silent, trickling_head])
def test_no_error_shows_the_key_or_the_query(transport, behaviour):
    error = error_from(transport, behaviour)

    shown = "".join(traceback.format_exception(error)) + repr(error) + str(error)
    assert KEY not in shown
    assert "hidden" not in shown


def test_many_threads_may_send_at_once_each_with_its_own_deadline(transport):
    def answer_or_trickle(connection):
        if connection.read_request().startswith(b"GET"):
            connection.respond(b"{}")
        else:
            connection.trickle(b"x" * 1000, pause=0.05)

    outcomes: list[int | str] = []

    def ask(number):
        request = Request("GET", server.url) if number % 2 else post(server.url)
        try:
            outcomes.append(transport.send(request, fresh_connection=True).status)
        except ProviderError as error:
            outcomes.append(error.reason)

    with serving(answer_or_trickle) as server:
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)

    assert sorted(outcomes, key=str) == [200] * 20 + ["timeout"] * 20


def test_a_request_may_have_more_patience_than_others(transport):
    def slow(connection):
        connection.read_request()
        connection.stop.wait(0.7)
        connection.respond(b"late")

    with serving(slow) as server:
        patient = Request("GET", server.url, patience=Patience(silence=5, total=5))
        assert transport.send(patient, fresh_connection=True).body == b"late"
        # And the next one has not.
        with pytest.raises(ProviderError, match="in time"):
            transport.send(Request("GET", server.url), fresh_connection=True)


@pytest.mark.parametrize("patience", [Patience(silence=0.1, total=5), Patience(silence=5, total=0.1)])
def test_a_request_may_have_less_patience_than_others(transport, patience):
    began = time.monotonic()

    with serving(lambda connection: connection.stay_silent()) as server, pytest.raises(ProviderError) as caught:
        transport.send(Request("GET", server.url, patience=patience), fresh_connection=False)

    assert caught.value.reason == "timeout"
    assert seconds_since(began) < 0.4


def test_a_redirect_that_is_asked_for_is_an_answer(transport):
    def redirect(connection):
        connection.read_request()
        connection.respond(b"", "302 Found", "Location: https://acme.example/\r\n")

    with serving(redirect) as server:
        response = transport.send(Request("GET", server.url, redirects=True), fresh_connection=False)

    assert (response.status, response.headers["location"]) == (302, "https://acme.example/")
