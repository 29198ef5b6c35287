"""What the errors of the Gemini API mean.

Formats: https://ai.google.dev/gemini-api/docs/troubleshooting and
https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from capture.providers.errors import (
    BAD_KEY,
    BAD_MODEL,
    NO_MONEY,
    TRANSIENT,
    WRONG_REGION,
    Problem,
    Rules,
    error_of,
    problem_of_response,
)
from capture.providers.reading import lower_names, mappings_of, text_of
from capture.providers.replies import Cost, Kind, ProviderError, Scope
from capture.providers.waits import server_time, until_midnight_pacific

_RULES = Rules(
    names={
        # Reasons in the details. A bad key comes as 400 INVALID_ARGUMENT.
        "api_key_invalid": BAD_KEY,
        "api_key_expired": BAD_KEY,
        "api_key_service_blocked": BAD_KEY,
        "api_key_http_referrer_blocked": BAD_KEY,
        "api_key_ip_address_blocked": BAD_KEY,
        "service_disabled": BAD_KEY,
        "consumer_suspended": BAD_KEY,
        "billing_disabled": NO_MONEY,
        # Statuses. INVALID_ARGUMENT and FAILED_PRECONDITION are left to the message and the HTTP status.
        "unauthenticated": BAD_KEY,
        "permission_denied": BAD_KEY,
        "not_found": BAD_MODEL,
        "resource_exhausted": TRANSIENT,
        "quota_exceeded": TRANSIENT,
        "unavailable": TRANSIENT,
        "internal": TRANSIENT,
        "aborted": TRANSIENT,
        "deadline_exceeded": TRANSIENT,
    },
    # "Exceeded your current quota" is not here: with Google that is any rate limit.
    messages=(
        ("api key not valid", replace(BAD_KEY, reason="api_key_invalid")),
        ("api key expired", replace(BAD_KEY, reason="api_key_invalid")),
        ("user location is not supported", replace(WRONG_REGION, reason="unsupported_country")),
        ("not available in your country", replace(WRONG_REGION, reason="unsupported_country")),
        ("prepayment credits", replace(NO_MONEY, reason="insufficient_quota")),
        ("credits are depleted", replace(NO_MONEY, reason="insufficient_quota")),
        ("spending cap", replace(NO_MONEY, reason="insufficient_quota")),
        ("high demand", replace(TRANSIENT, reason="overloaded")),
        ("overloaded", replace(TRANSIENT, reason="overloaded")),
    ),
)
_QUOTAS = frozenset({"resource_exhausted", "quota_exceeded"})
# GenerateRequestsPerDayPerProjectPerModel, generate_requests_per_model_per_day.
_DAILY = re.compile(r"per[_ ]?day", re.IGNORECASE)
_NONE_AT_ALL = re.compile(r"\blimit: 0(?![0-9]|[.,][0-9])")


def error_of_response(status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
    """The error that a response with a failing HTTP status is; the body may be anything."""
    return error_in(problem_of_response(status, body), headers)


def error_in(
    problem: Problem, headers: Mapping[str, str], *, ended: bool = False, cost: Cost | None = None
) -> ProviderError:
    """The error that a failure is; arguments as for `errors.error_of`."""
    error = error_of(problem, headers, _RULES, ended=ended, cost=cost)
    if error.kind is Kind.TRANSIENT and (problem.status == 429 or _QUOTAS.intersection(problem.names)):
        _look_at_quotas(error, problem, headers)
    return error


def _look_at_quotas(error: ProviderError, problem: Problem, headers: Mapping[str, str]) -> None:
    """Tell the quotas apart that come in the same words: of a minute, of a day, and none at all."""
    if _NONE_AT_ALL.search(problem.message) or "0" in _quotas(problem, "quotaValue"):
        error.kind, error.scope, error.reason, error.wait = Kind.FATAL, Scope.MONEY, "no_quota", None
    elif "quota_exceeded" in problem.names or any(map(_DAILY.search, _daily_hints(problem))):
        error.reason = "daily_quota"
        # With it comes a delay of less than a minute, which is not meant for the day.
        error.wait = max(error.wait or 0.0, until_midnight_pacific(server_time(lower_names(headers))))


def _daily_hints(problem: Problem) -> Iterator[str]:
    yield from _quotas(problem, "quotaId")
    yield from _quotas(problem, "quotaMetric")
    yield problem.message


def _quotas(problem: Problem, key: str) -> Iterator[str]:
    """What the violated quotas say under a key."""
    for detail in problem.details:
        if text_of(detail, "@type").endswith("QuotaFailure"):
            for violation in mappings_of(detail, "violations"):
                yield text_of(violation, key)
