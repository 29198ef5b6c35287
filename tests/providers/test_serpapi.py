"""The systems that SerpApi reads: what is sent, and what each kind of response means."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from urllib.parse import parse_qsl, urlsplit

import pytest

from capture.providers.replies import Answered, Basis, Empty, Kind, Pending, ProviderError, Question, Scope
from capture.providers.transport import Response
from tests.providers.conftest import SERPAPI_KEY, CannedTransport, as_body, error_from, make_copilot, reply_to

QUESTION = Question("Welche Schuhe & «как»?", country="DE", language="de", run="run-7")


def page(*blocks, references=(), status="Success", **more):
    metadata = {"id": "6ac4", "status": status, "created_at": "2026-10-06 12:34:29 UTC"}
    return {"search_metadata": metadata, "text_blocks": [*blocks], "references": [*references], **more}


def paragraph(text, **more):
    return {"type": "paragraph", "snippet": text, **more}


def reference(name, **more):
    return {"link": f"https://{name}.example/", "title": name, **more}


def query_of(request):
    parts = urlsplit(request.url)
    return parts._replace(query="").geturl(), dict(parse_qsl(parts.query, strict_parsing=True))


def test_copilot_is_asked_without_country_and_language(copilot):
    request = copilot.start_request(QUESTION)

    assert (request.method, request.json) == ("GET", None)
    assert query_of(request) == (
        "https://serpapi.com/search.json",
        {"engine": "bing_copilot", "q": QUESTION.text, "async": "true", "api_key": SERPAPI_KEY},
    )


@pytest.mark.parametrize(
    ("country", "language", "fields"),
    [
        ("DE", "de", {"gl": "de", "hl": "de"}),
        ("GB", "", {"gl": "uk"}),
        ("", "zh", {"hl": "zh-cn"}),
        ("IL", "he", {"gl": "il", "hl": "iw"}),
        ("", "", {}),
    ],
)
def test_google_ai_is_asked_with_them_in_googles_codes(google_ai, country, language, fields):
    request = google_ai.start_request(Question("Which shoes?", country=country, language=language))

    assert query_of(request)[1] == {
        "engine": "google_ai_mode",
        "q": "Which shoes?",
        **fields,
        "async": "true",
        "api_key": SERPAPI_KEY,
    }


def test_a_lone_surrogate_in_a_question_does_not_stop_it(copilot):
    assert query_of(copilot.start_request(Question("a\ud800b")))[1]["q"] == "a?b"


def test_a_poll_carries_nothing_but_the_key(google_ai):
    request = google_ai.poll_request("6ac4/../x?q=1")

    assert query_of(request) == (
        "https://serpapi.com/searches/6ac4%2F..%2Fx%3Fq%3D1.json",
        {"api_key": SERPAPI_KEY},
    )


@pytest.mark.parametrize("status", ["Queued", "Processing", "processing"])
def test_a_search_at_work_is_pending(copilot, status):
    assert reply_to(copilot, page(status=status)) == Pending("6ac4")


def test_a_search_at_work_without_an_id_cannot_be_read(copilot):
    error = error_from(copilot, {"search_metadata": {"status": "Queued"}})

    assert (error.reason, error.maybe_charged) == ("unreadable", True)


def test_an_answer_from_the_cache_comes_at_once_with_the_time_at_which_it_was_made():
    provider = make_copilot(CannedTransport(Response(200, {}, as_body(page(paragraph("Acme."))))))

    reply = provider.start(QUESTION)

    assert isinstance(reply, Answered)
    assert reply.made_at == datetime(2026, 10, 6, 12, 34, 29, tzinfo=UTC)


@pytest.mark.parametrize(
    ("metadata", "made_at"),
    [
        ({"created_at": "2026-05-08 12:00:00 UTC", "processed_at": "2026-05-08 12:00:09 UTC"}, 9),
        ({"created_at": "2026-05-08 12:00:07 UTC", "processed_at": "soon"}, 7),
        ({"processed_at": "2026-05-08 12:00:05 UTC"}, 5),
        ({"created_at": "2026-05-08 12:00:07"}, None),
        ({"created_at": 7}, None),
        ({}, None),
    ],
)
def test_the_later_time_counts(copilot, metadata, made_at):
    document = page(paragraph("Acme.")) | {"search_metadata": {"status": "Success", **metadata}}

    expected = None if made_at is None else datetime(2026, 5, 8, 12, 0, made_at, tzinfo=UTC)
    assert reply_to(copilot, document).made_at == expected


def test_what_is_pointed_at_is_cited_and_the_rest_listed(copilot):
    blocks = [paragraph("Acme is good.", reference_indexes=[1, 9, "0", None]), paragraph("So is Other.")]
    references = [reference("a", index=0), reference("b", index=1), reference("c", index=2)]

    reply = reply_to(copilot, page(*blocks, references=references))

    assert [(source.title, source.cited) for source in reply.sources] == [("a", False), ("b", True), ("c", False)]
    assert [reply.text[slice(*span)] for span in reply.sources[1].spans] == ["Acme is good."]


def test_references_without_an_index_count_by_their_places(google_ai):
    reply = reply_to(
        google_ai, page(paragraph("Acme.", reference_indexes=[1]), references=[reference("a"), reference("b")])
    )

    assert [source.cited for source in reply.sources] == [False, True]


def test_links_in_the_text_are_cited_with_their_places(google_ai):
    links = [
        {"text": "Acme", "link": "https://acme.example/?utm_source=x"},
        {"text": "Acme", "link": "https://second.example/"},
        {"text": "nowhere", "link": "https://third.example/"},
        {"link": "https://fourth.example/"},
        {"text": "Acme", "link": "https://www.google.com/searchviewer/10?svid=x"},
    ]

    reply = reply_to(google_ai, page(paragraph("👟 Intro."), paragraph("See Acme and Acme.", snippet_links=links)))

    assert [(source.url, [reply.text[slice(*span)] for span in source.spans]) for source in reply.sources] == [
        ("https://acme.example/", ["Acme"]),
        ("https://second.example/", ["Acme"]),
        ("https://third.example/", []),
        ("https://fourth.example/", []),
    ]
    assert reply.sources[0].spans != reply.sources[1].spans
    assert all(source.cited for source in reply.sources)


@pytest.mark.parametrize("status", [200, 0, 400, 503])
@pytest.mark.parametrize("engine", ["Google", "Bing"])
def test_fault_32_a_search_that_found_nothing_is_empty_whatever_the_status(google_ai, status, engine):
    words = f"{engine} hasn't returned any results for this query."

    reply = reply_to(google_ai, page(error=words), status)

    assert (type(reply), reply.reason) == (Empty, "no_results")


def test_a_finished_search_without_text_is_empty(google_ai):
    reply = reply_to(google_ai, page({"type": "top_stories", "snippet": "News"}))

    assert (type(reply), reply.reason) == (Empty, "no_text")


@pytest.mark.parametrize(
    "document", [{}, {"text_blocks": []}, {"search_metadata": {"status": "New"}}, {"references": 7}]
)
def test_a_body_of_no_known_kind_cannot_be_read(google_ai, document):
    assert error_from(google_ai, document).reason == "unreadable"


@pytest.mark.parametrize("status", [200, 503])
@pytest.mark.parametrize("error", [{}, {"error": "We couldn't get valid results. Please try again later."}])
def test_a_search_that_failed_is_over_and_free(copilot, status, error):
    found = error_from(copilot, page(status="Error") | error, status)

    assert (found.kind, found.scope, found.ended) == (Kind.TRANSIENT, Scope.REQUEST, True)
    assert found.cost is not None
    assert found.cost.amount == 0


def test_an_error_comes_before_what_else_the_body_holds(copilot):
    error = error_from(copilot, page(paragraph("Acme."), error="Something new."))

    assert error.ended
    assert error.cost is not None
    assert error.cost.amount == Decimal("0.015")


def test_an_archive_that_has_expired_is_gone():
    provider = make_copilot(CannedTransport(Response(410, {}, as_body({"error": "This search has expired."}))))

    with pytest.raises(ProviderError) as caught:
        provider.poll("6ac4")

    assert (caught.value.reason, caught.value.ended) == ("gone", True)


def test_a_search_costs_its_price_in_the_plan(copilot):
    reply = reply_to(copilot, page(paragraph("Acme.")))

    assert (reply.cost.amount, reply.cost.basis) == (Decimal("0.015"), Basis.COMPUTED)
    assert copilot.estimate() == Decimal("0.015")


def test_markdown_is_the_text_where_the_blocks_hold_none(google_ai):
    markdown = "As\\-It\\-Is is good. [0] [1]\n\n### References\n\n[0] [A](https://www.google.com/goto?url=x)\n"

    reply = reply_to(google_ai, page(references=[reference("a")], reconstructed_markdown=markdown))

    assert reply.text == "As-It-Is is good."
    assert [source.cited for source in reply.sources] == [False]


def test_an_overview_is_read_like_a_page(google_ai):
    overview = {"text_blocks": [paragraph("Acme.", reference_indexes=[0])], "references": [reference("a", index=0)]}

    reply = reply_to(google_ai, {"search_metadata": {"status": "Success"}, "ai_overview": overview})

    assert (reply.text, reply.sources[0].cited) == ("Acme.", True)


def test_an_overview_that_has_yet_to_be_fetched_is_fetched_by_its_token(google_ai):
    reply = reply_to(google_ai, {"ai_overview": {"page_token": "ab/c=", "serpapi_link": "https://serpapi.com/x"}})

    assert isinstance(reply, Pending)
    assert query_of(google_ai.poll_request(reply.remote_id)) == (
        "https://serpapi.com/search.json",
        {"engine": "google_ai_overview", "page_token": "ab/c=", "api_key": SERPAPI_KEY},
    )


def test_an_overview_that_could_not_be_made_may_be_asked_for_again(google_ai):
    words = "Can't generate an AI overview right now. Try again later."

    error = error_from(google_ai, {"search_metadata": {"status": "Success"}, "ai_overview": {"error": words}})

    assert (error.kind, error.message, error.ended) == (Kind.TRANSIENT, words, True)
