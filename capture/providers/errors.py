"""What an error response means: by its code, then its type, then its message, and only then by its HTTP status.

The status alone misleads: an empty account comes as 429 like a passing rate limit, and an overload has come as 400.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from textwrap import shorten
from typing import Any

from capture.providers.reading import count_of, find_object, lower_names, mapping_of, mappings_of, text_of
from capture.providers.redaction import without_keys
from capture.providers.replies import Cost, Kind, ProviderError, Scope
from capture.providers.waits import wait_of


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an error is.

    Arguments:
        reason: replaces the system's own name of the error, where that says something else or nothing.
    """

    kind: Kind
    scope: Scope = Scope.REQUEST
    reason: str = ""


TRANSIENT = Verdict(Kind.TRANSIENT)
FATAL = Verdict(Kind.FATAL)
BAD_MODEL = Verdict(Kind.FATAL, Scope.MODEL)
BAD_KEY = Verdict(Kind.FATAL, Scope.KEY)
NO_MONEY = Verdict(Kind.FATAL, Scope.MONEY)
WRONG_REGION = Verdict(Kind.FATAL, Scope.REGION)

# What the systems write in words, in lower case. The first that is found counts.
MESSAGES: tuple[tuple[str, Verdict], ...] = (
    ("exceeded your current quota", Verdict(Kind.FATAL, Scope.MONEY, "insufficient_quota")),
    ("insufficient credit", Verdict(Kind.FATAL, Scope.MONEY, "insufficient_quota")),
    ("credit balance", Verdict(Kind.FATAL, Scope.MONEY, "insufficient_quota")),
    ("account is not active", Verdict(Kind.FATAL, Scope.MONEY, "billing_not_active")),
    ("out of credits", Verdict(Kind.FATAL, Scope.MONEY, "insufficient_quota")),
    ("credits are exhausted", Verdict(Kind.FATAL, Scope.MONEY, "insufficient_quota")),
    ("not enough credits", Verdict(Kind.FATAL, Scope.MONEY, "insufficient_quota")),
    ("billing limit", Verdict(Kind.FATAL, Scope.MONEY, "insufficient_quota")),
    ("billing hard limit", Verdict(Kind.FATAL, Scope.MONEY, "insufficient_quota")),
    ("spend limit", Verdict(Kind.FATAL, Scope.MONEY, "insufficient_quota")),
    ("request too large", Verdict(Kind.FATAL, Scope.REQUEST, "request_too_large")),
    ("incorrect api key", Verdict(Kind.FATAL, Scope.KEY, "invalid_api_key")),
    ("invalid api key", Verdict(Kind.FATAL, Scope.KEY, "invalid_api_key")),
    ("country, region, or territory not supported", Verdict(Kind.FATAL, Scope.REGION, "unsupported_country")),
    ("overloaded", Verdict(Kind.TRANSIENT, reason="overloaded")),
    ("rate limit reached", Verdict(Kind.TRANSIENT, reason="rate_limit_exceeded")),
)

_PASSING_STATUSES = frozenset({408, 409, 429, 500, 502, 503, 504, *range(520, 530)})
# 529 is not registered, but is what several systems answer with in an overload.
_OVERLOADED = frozenset({503, 529})
_FATAL_STATUSES = {401: BAD_KEY, 402: NO_MONEY, 403: BAD_KEY, 404: BAD_MODEL, 451: WRONG_REGION}
_RATE_LIMITS = re.compile(r"rate_limit|slow_down|resource_exhausted")
_NAME = re.compile(r"[A-Za-z0-9_.\-]{1,80}")
_TITLE = re.compile(rb"<title[^>]*>([^<]{1,200})", re.IGNORECASE)
_LONGEST_MESSAGE = 500
# What a message means is said at its beginning; all that is looked for in it would take long in megabytes.
_MOST_READ = 10_000


@dataclass(frozen=True, slots=True)
class Rules:
    """What the errors of one system mean.

    Arguments:
        names: verdicts by code or type, in lower case.
        name_endings: verdicts by how a code ends, for families of codes.
        messages: verdicts by words of the message, in lower case.
    """

    names: Mapping[str, Verdict]
    name_endings: Mapping[str, Verdict] = field(default_factory=dict)
    messages: tuple[tuple[str, Verdict], ...] = MESSAGES

    def by_name(self, name: str) -> Verdict | None:
        """The verdict on a code or type, or None when it is not known."""
        endings = (verdict for ending, verdict in self.name_endings.items() if name.endswith(ending))
        return self.names.get(name) or next(endings, None)

    def by_message(self, message: str) -> Verdict | None:
        """The verdict on a message, or None when it says nothing known."""
        message = message.lower()
        return next((verdict for words, verdict in self.messages if words in message), None)


@dataclass(frozen=True, slots=True)
class Problem:
    """What a response says about a failure.

    Arguments:
        status: the HTTP status, or the one inside the body when the response itself was a success; 0 for none.
        names: codes and types, the most telling first, in lower case.
        message: as it came.
        details: Google's list of details.
    """

    status: int
    names: tuple[str, ...] = ()
    message: str = ""
    details: tuple[Mapping[str, Any], ...] = ()


def problem_of(status: int, document: Mapping[str, Any]) -> Problem:
    """Find the failure in a parsed body: `{"error": {…}}`, `{"error": "text"}` or the fields themselves."""
    error = mapping_of(document, "error") or document
    message = text_of(error, "message") or text_of(document, "error") or text_of(document, "detail")
    details = tuple(mappings_of(error, "details"))
    return Problem(_true_status(status, error), tuple(_names(error, details)), _beginning(message), details)


def _beginning(message: str) -> str:
    if len(message) <= _MOST_READ:
        return message
    # Without the last word, which may be the half of a key that nobody would know for one.
    whole_words = message[:_MOST_READ].rpartition(" ")[0]
    return f"{whole_words} …"


def _names(error: Mapping[str, Any], details: tuple[Mapping[str, Any], ...]) -> Iterator[str]:
    for mapping, key in (
        *((detail, "reason") for detail in details),
        (error, "code"),
        (error, "type"),
        (error, "status"),
    ):
        name = text_of(mapping, key)
        if _NAME.fullmatch(name):
            yield name.lower()


def _true_status(status: int, error: Mapping[str, Any]) -> int:
    code = count_of(error, "code") or 0
    return code if status < 300 and 400 <= code < 600 else status


def error_of_response(status: int, headers: Mapping[str, str], body: bytes, rules: Rules) -> ProviderError:
    """The error that a response with a failing HTTP status is; the body may be anything."""
    return error_of(problem_of_response(status, body), headers, rules)


def problem_of_response(status: int, body: bytes) -> Problem:
    """Find the failure in a response with a failing HTTP status; the body may be anything."""
    document = find_object(body)
    return problem_of(status, document) if document else Problem(status, message=_title(body))


def error_of(
    problem: Problem, headers: Mapping[str, str], rules: Rules, *, ended: bool = False, cost: Cost | None = None
) -> ProviderError:
    """The error that a failure is.

    Arguments:
        headers: of the response, for the wait and for `x-should-retry`; names in any case.
        ended: the call is over.
        cost: what the call cost all the same.
    """
    headers = lower_names(headers)
    reason, verdict = _judge(problem, headers, rules)
    passing = verdict.kind is Kind.TRANSIENT
    limited = _is_rate_limit(problem, reason)
    wait = _wait(problem, headers, limited) if passing else None
    return ProviderError(
        kind=verdict.kind,
        reason=reason,
        message=_public_message(problem),
        scope=verdict.scope,
        wait=wait,
        ended=ended,
        cost=cost,
        heard=True,
        throttled=passing and (limited or wait is not None or _is_overload(problem)),
    )


def _judge(problem: Problem, headers: Mapping[str, str], rules: Rules) -> tuple[str, Verdict]:
    known = [(name, verdict) for name in problem.names if (verdict := rules.by_name(name))]
    # An empty account is told by the code or by the type, and sometimes a rate limit by the other.
    named = min(known, key=lambda pair: pair[1].scope is not Scope.MONEY, default=None)
    by_message = rules.by_message(problem.message)
    # A passing code is only as good as its message: the same code comes with a request that will never fit.
    if by_message and (named is None or (named[1].kind is Kind.TRANSIENT and by_message.kind is Kind.FATAL)):
        named = (by_message.reason, by_message)
    if named:
        return named[1].reason or named[0], named[1]
    return next(iter(problem.names), f"http_{problem.status}"), _by_status(problem.status, headers)


def _by_status(status: int, headers: Mapping[str, str]) -> Verdict:
    # OpenAI's own clients obey this header before they look at the status. It is about the request; a call that
    # failed inside a successful response is another matter.
    should_retry = headers.get("x-should-retry", "").strip().lower()
    if status < 300 or should_retry == "true":
        return TRANSIENT
    if should_retry == "false" or (status not in _PASSING_STATUSES and status < 500):
        return _FATAL_STATUSES.get(status, FATAL)
    return TRANSIENT


def _is_rate_limit(problem: Problem, reason: str) -> bool:
    return problem.status == 429 or any(_RATE_LIMITS.search(name) for name in (reason, *problem.names))


def _is_overload(problem: Problem) -> bool:
    return problem.status in _OVERLOADED or "overloaded" in problem.message.lower()


def _wait(problem: Problem, headers: Mapping[str, str], limited: bool) -> float | None:
    return wait_of(headers, message=problem.message, details=problem.details, rate_limited=limited)


def _public_message(problem: Problem) -> str:
    # Cut between words, so that no half of a key is left that nobody would know for one.
    message = shorten(without_keys(problem.message), _LONGEST_MESSAGE, placeholder=" …")
    return message or f"HTTP {problem.status}, and no reason was given."


def _title(body: bytes) -> str:
    found = _TITLE.search(body[:10_000])
    return found.group(1).decode("utf-8", "replace").replace("\x00", "") if found else ""
