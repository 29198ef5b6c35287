"""SerpApi: a search is submitted, and its page is fetched from an archive once it has been read.

Formats: https://serpapi.com/search-api, https://serpapi.com/search-archive-api, https://serpapi.com/account-api and
https://serpapi.com/api-status-and-error-codes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, ClassVar
from urllib.parse import urlencode

from capture.providers import prices, remote_ids, serpapi_markdown
from capture.providers.base import Provider, gettext_noop
from capture.providers.errors import (
    BAD_KEY,
    FATAL,
    NO_MONEY,
    TRANSIENT,
    Rules,
    error_of,
    error_of_response,
    problem_of,
)
from capture.providers.reading import (
    count_of,
    find_object,
    lower_names,
    mapping_of,
    mappings_of,
    read_object,
    text_of,
    unreadable,
)
from capture.providers.replies import (
    Answered,
    Basis,
    Cost,
    Empty,
    FinalReply,
    Pending,
    ProviderError,
    Question,
    Reply,
)
from capture.providers.serpapi_blocks import Composition
from capture.providers.sources import MOST_SPANS, Finding, gather
from capture.providers.transport import Request
from capture.providers.waits import wait_in_headers

Document = Mapping[str, Any]

_NO_SEARCHES = replace(NO_MONEY, reason="out_of_searches")
_TOO_FAST = replace(TRANSIENT, reason="rate_limit_exceeded")
# Its errors are sentences without a code.
_RULES = Rules(
    names={},
    messages=(
        ("out of searches", _NO_SEARCHES),
        # The limit of an hour passes, and its message may name the plan too.
        ("throughput", _TOO_FAST),
        ("hourly", _TOO_FAST),
        ("per hour", _TOO_FAST),
        ("searches for the month", _NO_SEARCHES),
        ("monthly searches", _NO_SEARCHES),
        ("searches are exhausted", _NO_SEARCHES),
        ("searches exhausted", _NO_SEARCHES),
        ("no searches left", _NO_SEARCHES),
        ("plan limit", _NO_SEARCHES),
        ("limit of your plan", _NO_SEARCHES),
        ("upgrade plans", _NO_SEARCHES),
        ("invalid api key", replace(BAD_KEY, reason="invalid_api_key")),
        ("missing api key", replace(BAD_KEY, reason="invalid_api_key")),
        ("missing query", replace(FATAL, reason="missing_parameter")),
        ("unsupported `", replace(FATAL, reason="unsupported_parameter")),
    ),
)
# "Google hasn't returned any results for this query." It is no failure: there was nothing to be seen.
_NO_RESULTS = "hasn't returned any results"
_AT_WORK = frozenset({"queued", "processing"})
_OVER = frozenset({"success", "error"})
_TIME = "%Y-%m-%d %H:%M:%S UTC"
_FREE = Cost(Decimal(0), Basis.COMPUTED)


class SerpApiProvider(Provider):
    """A system whose page SerpApi reads."""

    lane = "serpapi"
    env_prefix = "SERPAPI"
    default_base_url = "https://serpapi.com"
    simulator_path = "/serpapi"
    most_samples = 1
    samples_note = gettext_noop(
        "SerpApi answers the same question from its cache for an hour, so a second sample would be a copy of the first."
    )
    # The name of the page among those that SerpApi reads.
    engine: ClassVar[str]
    # The page's text still holds the marks of footnotes.
    footnotes: ClassVar[bool] = False

    @abstractmethod
    def locale(self, question: Question) -> dict[str, str]:
        """What is sent of the question's country and language."""

    def content(self, document: Document) -> Document:
        """The part of a finished search that holds the answer's blocks and references."""
        return document

    def start_request(self, question: Question) -> Request:
        # Not with no_cache, which is not to be used together with async.
        return self.request(
            "/search.json", engine=self.engine, q=question.text, **self.locale(question), **{"async": "true"}
        )

    def poll_request(self, remote_id: str) -> Request:
        # Nothing but the key: with a query it would be taken for a new search.
        return self.request(f"/searches/{remote_ids.path_segment(remote_id)}.json")

    def check_request(self) -> Request:
        return self.request("/account.json")

    def request(self, path: str, **fields: str) -> Request:
        """A request with the key in the only place in which SerpApi takes it: the address."""
        query = urlencode({**fields, "api_key": self.account.api_key}, errors="replace")
        return Request("GET", f"{self.account.base_url}{path}?{query}", {"Accept": "application/json"})

    def estimate(self) -> Decimal:
        return prices.estimate(self.lane, "", "")

    def read(self, status: int, headers: Mapping[str, str], body: bytes) -> Reply:
        # A status of 0 means that none is known; then the body must speak for itself.
        good = not status or 200 <= status < 300
        document = read_object(body, status) if good else find_object(body)
        if document is None:
            raise error_of_response(status, headers, body, _RULES)
        error = text_of(document, "error")
        if _NO_RESULTS in error:
            return Empty(reason="no_results", **self._final(document))
        if error or document.get("error") or not good:
            # An error may come with any status, a good one too.
            raise self._failure(document, status, headers)
        return self.pending(document, status, headers) or self._ended(document, status, headers)

    def pending(self, document: Document, status: int, headers: Mapping[str, str]) -> Pending | None:
        """The search as it is at work, or None when it is over."""
        if _state(document) not in _AT_WORK:
            return None
        remote_id = _remote_id(document)
        if not remote_id:
            raise unreadable(status, "The search was accepted, but no usable id of it was given.")
        return Pending(remote_id, wait_in_headers(lower_names(headers)))

    def _failure(self, document: Document, status: int, headers: Mapping[str, str]) -> ProviderError:
        state = _state(document)
        # Only successful searches are charged.
        cost = {"error": _FREE, "success": self._price()}.get(state)
        error = error_of(problem_of(status, document), headers, _RULES, ended=state in _OVER, cost=cost)
        if status < 300 and error.reason == f"http_{status}":
            # A sentence that is not known; and a good status is no reason for a failure.
            error.reason = "search_failed"
        return error

    def _ended(self, document: Document, status: int, headers: Mapping[str, str]) -> FinalReply:
        page = self.content(document)
        if _state(document) == "error" or page.get("error"):
            raise self._failure({**document, **page}, status, headers)
        composition = Composition(page, footnotes=self.footnotes)
        text = composition.text or serpapi_markdown.plain(text_of(page, "reconstructed_markdown"))
        if text:
            return Answered(text=text, sources=gather(_findings(page, composition)), **self._final(document))
        if _state(document) != "success":
            raise unreadable(status, "The answer is neither a text nor a search in a state that is known.")
        return Empty(reason="no_text", **self._final(document))

    def _final(self, document: Document) -> dict[str, Any]:
        return {"remote_id": _remote_id(document), "cost": self._price(), "made_at": _made_at(document)}

    def _price(self) -> Cost:
        return prices.computed_cost(self.lane, "", "", prices.Units(searches=1))

    def read_check(self, status: int, headers: Mapping[str, str], body: bytes) -> str:
        if not 200 <= status < 300:
            raise error_of_response(status, headers, body, _RULES)
        account = read_object(body, status)
        if account.get("error"):
            raise error_of(problem_of(status, account), headers, _RULES)
        return _left(account)


def _state(document: Document) -> str:
    return text_of(mapping_of(document, "search_metadata"), "status").strip().lower()


def _remote_id(document: Document) -> str:
    return remote_ids.usable(text_of(mapping_of(document, "search_metadata"), "id"))


def _made_at(document: Document) -> datetime | None:
    """When the search was made; the later one of the times that are told, so that no fresh one looks like a copy."""
    metadata = mapping_of(document, "search_metadata")
    times = [_time(text_of(metadata, key)) for key in ("created_at", "processed_at")]
    return max(filter(None, times), default=None)


def _time(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, _TIME).replace(tzinfo=UTC)
    except ValueError:
        return None


def _findings(page: Document, composition: Composition) -> Iterator[Finding]:
    """All pages that are shown beside the answer, and those that the answer links to."""
    marks = {index: tuple(spans[:MOST_SPANS]) for index, spans in composition.marks.items()}
    for number, reference in enumerate(mappings_of(page, "references")):
        index = count_of(reference, "index")
        spans = marks.get(number if index is None else index, ())
        link, title = text_of(reference, "link"), text_of(reference, "title")
        yield Finding(link, title, cited=bool(spans), spans=spans)
    yield from composition.links


def _left(account: Document) -> str:
    """What is left of an account, in words."""
    left = count_of(account, "total_searches_left")
    left = count_of(account, "plan_searches_left") if left is None else left
    used, most = count_of(account, "this_hour_searches"), count_of(account, "account_rate_limit_per_hour")
    words = "the key is accepted" if left is None else f"searches left: {left:,}"
    return words if used is None or most is None else f"{words}; {used:,} of {most:,} used in this hour"
