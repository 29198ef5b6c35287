"""A start may be ambiguous, a poll never is."""

from __future__ import annotations

import traceback

import pytest

from capture.providers.replies import Kind, Pending, ProviderError, Question, Scope
from capture.providers.transport import Response
from tests.providers.conftest import OPENAI_KEY, CannedTransport, as_body, make_chatgpt

QUESTION = Question("Which shoes?", run="run-7")


def provider_with(outcome):
    return make_chatgpt(CannedTransport(outcome))


def start_error(outcome):
    with pytest.raises(ProviderError) as caught:
        provider_with(outcome).start(QUESTION)
    return caught.value


def poll_error(outcome):
    with pytest.raises(ProviderError) as caught:
        provider_with(outcome).poll("resp_1")
    return caught.value


def test_a_start_goes_over_a_fresh_connection_and_a_poll_need_not():
    transport = CannedTransport(Response(200, {}, as_body({"id": "resp_1", "status": "queued"})))
    provider = make_chatgpt(transport)

    assert provider.start(QUESTION) == provider.poll("resp_1") == Pending("resp_1")

    assert [fresh for _, fresh in transport.requests] == [True, False]


@pytest.mark.parametrize("status", [502, 504, 520, 524])
def test_a_start_that_a_gateway_gave_up_on_may_have_been_charged(status):
    assert start_error(Response(status, {}, b"<html>")).maybe_charged


@pytest.mark.parametrize("status", [400, 401, 408, 429, 500, 503])
def test_a_start_that_was_turned_down_was_not_charged(status):
    assert not start_error(Response(status, {}, b"<html>")).maybe_charged


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"status": "queued"}', b'{"id": "resp_1", "sta'])
def test_a_start_whose_success_cannot_be_read_may_have_been_charged(body):
    assert start_error(Response(200, {}, body)).maybe_charged


@pytest.mark.parametrize(
    "outcome",
    [
        Response(200, {}, b""),
        Response(502, {}, b""),
        ProviderError(Kind.TRANSIENT, "timeout", "No answer.", maybe_charged=True),
    ],
)
def test_a_poll_is_never_charged(outcome):
    error = poll_error(outcome)

    assert not error.maybe_charged
    assert not error.ended


@pytest.mark.parametrize("status", [404, 410])
def test_a_call_that_is_not_known_any_more_is_over(status):
    error = poll_error(Response(status, {}, as_body({"error": {"message": "Response not found."}})))

    assert (error.kind, error.reason, error.scope, error.ended) == (Kind.TRANSIENT, "gone", Scope.REQUEST, True)
    assert error.maybe_charged


def test_the_accounts_own_key_is_hidden_wherever_it_comes_back():
    body = as_body({"error": {"message": f"You said >{OPENAI_KEY}< to us."}})

    error = start_error(Response(400, {}, body))

    assert OPENAI_KEY not in "".join(traceback.format_exception(error))
    assert "You said" in error.message


def test_a_key_without_a_known_form_is_hidden_too():
    provider = make_chatgpt(
        CannedTransport(Response(400, {}, as_body({"error": "no plainKey7 here"}))), api_key="plainKey7"
    )

    with pytest.raises(ProviderError) as caught:
        provider.poll("resp_1")

    assert "plainKey7" not in str(caught.value)


def test_no_half_of_a_key_is_left_where_a_long_message_is_cut():
    words = "word " * 98 + "plainKey7plainKey7plainKey7"
    provider = make_chatgpt(CannedTransport(Response(400, {}, as_body({"error": words}))), api_key=words.split()[-1])

    with pytest.raises(ProviderError) as caught:
        provider.poll("resp_1")

    assert "plain" not in str(caught.value)


def test_requests_do_not_show_the_key():
    provider = provider_with(Response(200, {}, b""))

    assert OPENAI_KEY not in repr(provider.start_request(QUESTION))
    assert OPENAI_KEY not in repr(provider.poll_request("resp_1"))


@pytest.mark.parametrize("body", [b"<html><h1>404 Not Found</h1><hr>nginx</html>", b"", b"not found"])
def test_a_page_of_something_on_the_way_does_not_end_a_call(body):
    error = poll_error(Response(404, {"content-type": "text/html"}, body))

    assert not error.ended
    assert not error.maybe_charged


def test_a_key_that_comes_back_as_the_name_of_an_error_is_hidden_too():
    error = start_error(Response(400, {}, as_body({"error": {"code": OPENAI_KEY, "message": "No."}})))

    assert OPENAI_KEY.lower() not in error.reason.lower()


def test_a_reply_in_a_state_that_is_not_known_keeps_its_id():
    reply = make_chatgpt(CannedTransport(Response(200, {}, as_body({"id": "resp_9", "status": "searching"})))).start(
        Question("Which?")
    )

    assert reply == Pending("resp_9")
