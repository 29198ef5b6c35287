"""Perplexity: what is sent, and what each kind of response means."""

from __future__ import annotations

from decimal import Decimal

import pytest

from capture.providers.replies import Basis, Cost, Empty, Pending, ProviderError, Question, Scope
from tests.providers.conftest import completed, error_from, message, reply_to


def results(*found):
    return {"type": "search_results", "results": [{"id": id_, "url": url, "title": title} for id_, url, title in found]}


ACME = (1, "https://acme.example/", "Acme")
OTHER = (2, "https://other.example/", "Other")


def test_a_start_asks_in_the_background_with_the_web_search(perplexity):
    request = perplexity.start_request(Question("Which shoes?", country="DE", language="de", run="run-7"))

    assert (request.method, request.url) == ("POST", "https://api.perplexity.ai/v1/agent")
    assert request.json == {
        "model": "perplexity/sonar",
        "input": "Which shoes?",
        "tools": [
            {
                "type": "web_search",
                "search_context_size": "medium",
                "max_results": 10,
                "user_location": {"country": "DE"},
            }
        ],
        "tool_choice": {"type": "web_search"},
        "language_preference": "de",
        "max_output_tokens": 4000,
        "background": True,
        "store": True,
        "metadata": {"run": "run-7"},
    }


def test_without_country_and_language_neither_is_sent(perplexity):
    request = perplexity.start_request(Question("Which shoes?"))

    assert "user_location" not in request.json["tools"][0]
    assert "language_preference" not in request.json


def test_a_poll_goes_to_responses_and_not_to_agent(perplexity):
    request = perplexity.poll_request("a/../b")

    assert request.url == "https://api.perplexity.ai/v1/responses/a%2F..%2Fb"


def test_a_call_at_work_is_pending(perplexity):
    reply = reply_to(perplexity, {"id": "a1", "status": "in_progress", "output": []}, headers={"Retry-After": "4"})

    assert reply == Pending("a1", after=4.0)


def test_results_with_a_marker_are_cited_and_the_others_listed(perplexity):
    text = "👟 Кроссовки Acme [1] хороши[1]."

    reply = reply_to(perplexity, completed(results(ACME, OTHER), message(text)))

    cited, listed = reply.sources
    assert (cited.url, cited.cited, listed.url, listed.cited) == (ACME[1], True, OTHER[1], False)
    assert [text[start:end] for start, end in cited.spans] == ["[1]", "[1]"]


@pytest.mark.parametrize("result_id", [1, "1", 1.0])
def test_an_id_may_be_a_number_or_a_text(perplexity, result_id):
    reply = reply_to(perplexity, completed(results((result_id, ACME[1], "Acme")), message("Acme [1].")))

    assert reply.sources[0].cited


def test_a_result_without_an_id_is_listed(perplexity):
    reply = reply_to(perplexity, completed(results((None, ACME[1], "Acme")), message("Acme [1].")))

    assert not reply.sources[0].cited


def test_results_of_several_searches_are_gathered(perplexity):
    reply = reply_to(perplexity, completed(results(ACME), results(OTHER, ACME), message("Other [2].")))

    assert [(source.url, source.cited) for source in reply.sources] == [(ACME[1], False), (OTHER[1], True)]


def test_pages_that_were_fetched_are_listed(perplexity):
    fetched = {"type": "fetch_url_results", "contents": [{"url": ACME[1], "title": "Acme"}, "odd"]}

    reply = reply_to(perplexity, completed(fetched, {"type": "something_new"}, message("Acme.")))

    assert [source.url for source in reply.sources] == [ACME[1]]


def test_a_citation_in_an_annotation_is_read_should_one_come(perplexity):
    annotation = {"type": "url_citation", "url": ACME[1], "start_index": 0, "end_index": 4}

    reply = reply_to(perplexity, completed(message("Acme.", annotations=[annotation])))

    assert reply.sources[0].spans == ((0, 4),)


def test_the_cost_is_what_the_reply_says(perplexity):
    reply = reply_to(
        perplexity, completed(message("Acme."), usage={"cost": {"currency": "USD", "total_cost": 0.01135}})
    )

    assert reply.cost.amount == Decimal("0.01135")
    assert reply.cost.basis is Basis.REPORTED


@pytest.mark.parametrize(
    "told",
    [
        {"total_cost": -1},
        {"total_cost": "much"},
        {"total_cost": 1e300},
        {"total_cost": 0.01, "currency": "EUR"},
        None,
        7,
    ],
)
def test_a_cost_that_makes_no_sense_is_computed_instead(perplexity, told):
    usage = {"input_tokens": 10_000, "output_tokens": 1_000, "cost": told}

    reply = reply_to(perplexity, completed(results(ACME), message("Acme."), model="perplexity/sonar", usage=usage))

    assert reply.cost.amount == Decimal("0.0075")
    assert reply.cost.basis is Basis.COMPUTED


def test_a_call_that_wants_a_tool_run_is_empty(perplexity):
    reply = reply_to(perplexity, completed() | {"status": "requires_action"})

    assert reply == Empty(reason="requires_action", model="m")


def test_a_key_that_is_refused_with_a_web_page_is_an_error_of_the_key(perplexity):
    page = "<html><head><title>401 Authorization Required</title></head><center>openresty</center></html>"

    with pytest.raises(ProviderError, match="401 Authorization Required") as caught:
        perplexity.read(401, {"content-type": "text/html"}, page.encode())

    assert caught.value.scope is Scope.KEY


def test_a_failed_call_keeps_what_it_cost(perplexity):
    error = error_from(
        perplexity,
        {"status": "failed", "error": {"type": "internal_error"}, "usage": {"cost": {"total_cost": 0.004}}},
    )

    assert error.ended
    assert error.cost == Cost(Decimal("0.004"), Basis.REPORTED)
