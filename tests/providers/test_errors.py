"""Errors are judged by code, type, message and status, in this order."""

from __future__ import annotations

import pytest

from capture.providers.replies import Kind, ProviderError, Scope
from tests.providers.conftest import MAKERS, error_from, make_chatgpt, make_copilot, make_gemini, make_perplexity

HTML = b"<html><head><title>Bad gateway</title></head><body>cloudflare</body></html>"
TOO_LARGE = "Request too large for gpt-6-luna on tokens per min (TPM): Limit 30000, Requested 31538."
QUOTA = "You exceeded your current quota, please check your plan and billing details."
NOT_ACTIVE = "Your account is not active, please check your billing details on our website."
EXHAUSTED = "Your searches for the month are exhausted. You can upgrade plans on SerpApi.com website."
OVERLOAD = "Our servers are currently overloaded. Please try again later."

OPENAI = [
    # status, code, type, message -> kind, scope
    (429, "insufficient_quota", "insufficient_quota", "", Kind.FATAL, Scope.MONEY),
    (429, "credit_balance_exhausted", "insufficient_quota", "", Kind.FATAL, Scope.MONEY),
    (429, "organization_spend_limit_exceeded", None, "", Kind.FATAL, Scope.MONEY),
    (429, "project_spend_limit_exceeded", None, "", Kind.FATAL, Scope.MONEY),
    (429, "organization_usage_limit_exceeded", "insufficient_quota", "", Kind.FATAL, Scope.MONEY),
    (429, "a_new_code", "insufficient_quota", "", Kind.FATAL, Scope.MONEY),
    (429, "rate_limit_exceeded", "insufficient_quota", "", Kind.FATAL, Scope.MONEY),
    (429, None, None, QUOTA, Kind.FATAL, Scope.MONEY),
    (429, "billing_not_active", "billing_not_active", NOT_ACTIVE, Kind.FATAL, Scope.MONEY),
    (429, None, None, NOT_ACTIVE, Kind.FATAL, Scope.MONEY),
    (429, None, "requests", "You have run out of credits.", Kind.FATAL, Scope.MONEY),
    (429, "rate_limit_exceeded", "tokens", TOO_LARGE, Kind.FATAL, Scope.REQUEST),
    (429, "rate_limit_exceeded", "tokens", "Please try again in 2s.", Kind.TRANSIENT, Scope.REQUEST),
    (429, "slow_down", None, "", Kind.TRANSIENT, Scope.REQUEST),
    (429, None, None, "", Kind.TRANSIENT, Scope.REQUEST),
    (400, None, "invalid_request_error", OVERLOAD, Kind.TRANSIENT, Scope.REQUEST),
    (400, "server_is_overloaded", None, "", Kind.TRANSIENT, Scope.REQUEST),
    (0, "server_is_overloaded", None, "", Kind.TRANSIENT, Scope.REQUEST),
    (400, "model_not_found", "invalid_request_error", "", Kind.FATAL, Scope.MODEL),
    (404, "model_not_found", "invalid_request_error", "", Kind.FATAL, Scope.MODEL),
    (400, "context_length_exceeded", "invalid_request_error", "", Kind.FATAL, Scope.REQUEST),
    (400, "unsupported_parameter", None, "", Kind.FATAL, Scope.REQUEST),
    (400, None, "invalid_request_error", "Unsupported parameter: 'temperature'.", Kind.FATAL, Scope.REQUEST),
    (400, "decimal_below_min_value", None, "", Kind.FATAL, Scope.REQUEST),
    (400, "invalid_prompt", None, "", Kind.FATAL, Scope.REQUEST),
    (401, "invalid_api_key", "invalid_request_error", "", Kind.FATAL, Scope.KEY),
    (401, None, None, "", Kind.FATAL, Scope.KEY),
    (403, "unsupported_country_region_territory", None, "", Kind.FATAL, Scope.REGION),
    (403, None, None, "Country, region, or territory not supported", Kind.FATAL, Scope.REGION),
    (403, None, None, "", Kind.FATAL, Scope.KEY),
    (409, None, None, "", Kind.TRANSIENT, Scope.REQUEST),
    (500, None, "server_error", "", Kind.TRANSIENT, Scope.REQUEST),
    (500, "server_error", "server_error", "", Kind.TRANSIENT, Scope.REQUEST),
    (503, "server_is_overloaded", "service_unavailable_error", "", Kind.TRANSIENT, Scope.REQUEST),
    (503, "slow_down", "service_unavailable_error", "", Kind.TRANSIENT, Scope.REQUEST),
]

PERPLEXITY = [
    (400, 400, "invalid_request", "", Kind.FATAL, Scope.REQUEST),
    (400, 400, "invalid_model", "", Kind.FATAL, Scope.MODEL),
    (400, 400, "invalid_parameter", "", Kind.FATAL, Scope.REQUEST),
    (400, 400, "too_many_prompt_tokens", "", Kind.FATAL, Scope.REQUEST),
    (401, 401, "invalid_api_key", "", Kind.FATAL, Scope.KEY),
    (403, 403, "forbidden", "", Kind.FATAL, Scope.KEY),
    (404, 404, "not_found", "", Kind.FATAL, Scope.MODEL),
    (413, 413, "payload_too_large", "", Kind.FATAL, Scope.REQUEST),
    (424, 424, "a_new_type", "", Kind.FATAL, Scope.REQUEST),
    (429, 429, "request_rate_limit_exceeded", "", Kind.TRANSIENT, Scope.REQUEST),
    (429, 429, "overloaded", "", Kind.TRANSIENT, Scope.REQUEST),
    (500, 500, "internal_error", "", Kind.TRANSIENT, Scope.REQUEST),
    (502, 502, "bad_gateway", "", Kind.TRANSIENT, Scope.REQUEST),
    (504, 504, "gateway_timeout", "", Kind.TRANSIENT, Scope.REQUEST),
    (200, 401, "a_new_type", "", Kind.FATAL, Scope.KEY),
]

GEMINI = [
    # HTTP status, Google's status, reason in the details, message -> kind, scope
    (400, "INVALID_ARGUMENT", "API_KEY_INVALID", "API key not valid.", Kind.FATAL, Scope.KEY),
    (400, "INVALID_ARGUMENT", "", "API key not valid. Please pass a valid API key.", Kind.FATAL, Scope.KEY),
    (400, "INVALID_ARGUMENT", "", "API key expired. Please renew the API key.", Kind.FATAL, Scope.KEY),
    (400, "INVALID_ARGUMENT", "", "Invalid JSON payload.", Kind.FATAL, Scope.REQUEST),
    (400, "FAILED_PRECONDITION", "", "User location is not supported for the API use.", Kind.FATAL, Scope.REGION),
    (
        400,
        "FAILED_PRECONDITION",
        "",
        "Gemini API free tier is not available in your country.",
        Kind.FATAL,
        Scope.REGION,
    ),
    (400, "FAILED_PRECONDITION", "", "Something else.", Kind.FATAL, Scope.REQUEST),
    (401, "UNAUTHENTICATED", "", "", Kind.FATAL, Scope.KEY),
    (402, "", "", "", Kind.FATAL, Scope.MONEY),
    (402, "FAILED_PRECONDITION", "", "Please add billing.", Kind.FATAL, Scope.MONEY),
    (403, "PERMISSION_DENIED", "", "", Kind.FATAL, Scope.KEY),
    (403, "PERMISSION_DENIED", "BILLING_DISABLED", "", Kind.FATAL, Scope.MONEY),
    (403, "PERMISSION_DENIED", "SERVICE_DISABLED", "", Kind.FATAL, Scope.KEY),
    (404, "NOT_FOUND", "", "models/x is not found.", Kind.FATAL, Scope.MODEL),
    (429, "RESOURCE_EXHAUSTED", "", "Resource has been exhausted (e.g. check quota).", Kind.TRANSIENT, Scope.REQUEST),
    (429, "RESOURCE_EXHAUSTED", "RATE_LIMIT_EXCEEDED", QUOTA, Kind.TRANSIENT, Scope.REQUEST),
    (429, "RESOURCE_EXHAUSTED", "", f"{QUOTA} metric: x, limit: 0, model: y", Kind.FATAL, Scope.MONEY),
    (429, "RESOURCE_EXHAUSTED", "", f"{QUOTA} metric: x, limit: 0", Kind.FATAL, Scope.MONEY),
    (429, "RESOURCE_EXHAUSTED", "", f"{QUOTA} metric: x, limit: 05", Kind.TRANSIENT, Scope.REQUEST),
    (429, "RESOURCE_EXHAUSTED", "", f"{QUOTA} metric: x, limit: 1000000", Kind.TRANSIENT, Scope.REQUEST),
    (429, "RESOURCE_EXHAUSTED", "", "Your prepayment credits are depleted.", Kind.FATAL, Scope.MONEY),
    (500, "INTERNAL", "", "", Kind.TRANSIENT, Scope.REQUEST),
    (503, "UNAVAILABLE", "", "This model is currently experiencing high demand.", Kind.TRANSIENT, Scope.REQUEST),
    (400, "", "", "The model is overloaded.", Kind.TRANSIENT, Scope.REQUEST),
    (504, "DEADLINE_EXCEEDED", "", "", Kind.TRANSIENT, Scope.REQUEST),
    (200, "UNAVAILABLE", "", "", Kind.TRANSIENT, Scope.REQUEST),
    (0, "PERMISSION_DENIED", "", "", Kind.FATAL, Scope.KEY),
]

SERPAPI = [
    (400, "Missing query `q` parameter.", Kind.FATAL, Scope.REQUEST),
    (400, "Unsupported `xx` country - gl parameter.", Kind.FATAL, Scope.REQUEST),
    (401, "Invalid API key. Your API key should be here: https://serpapi.com/manage-api-key", Kind.FATAL, Scope.KEY),
    (403, "Your account is blocked.", Kind.FATAL, Scope.KEY),
    (429, "Your account has run out of searches.", Kind.FATAL, Scope.MONEY),
    (429, "You have exceeded the hourly throughput of your plan.", Kind.TRANSIENT, Scope.REQUEST),
    (429, "Too many.", Kind.TRANSIENT, Scope.REQUEST),
    (500, "Something went wrong.", Kind.TRANSIENT, Scope.REQUEST),
    (503, "Google could not be reached.", Kind.TRANSIENT, Scope.REQUEST),
    # It reports some of them under a good status.
    (200, "Your account has run out of searches.", Kind.FATAL, Scope.MONEY),
    (200, "Invalid API key.", Kind.FATAL, Scope.KEY),
    (200, "Unsupported `google_nope` search engine.", Kind.FATAL, Scope.REQUEST),
    (200, "You are exceeding your throughput.", Kind.TRANSIENT, Scope.REQUEST),
    (200, "Something new.", Kind.TRANSIENT, Scope.REQUEST),
    (0, "Your account has run out of searches.", Kind.FATAL, Scope.MONEY),
    *((status, EXHAUSTED, Kind.FATAL, Scope.MONEY) for status in (0, 200, 400, 403, 429, 503)),
    (429, "You have reached your plan limit.", Kind.FATAL, Scope.MONEY),
    (429, "You have exceeded your hourly limit. You can upgrade plans.", Kind.TRANSIENT, Scope.REQUEST),
]


def google_body(status, name, reason="", message="", *details):
    found = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}] if reason else []
    return {"error": {"code": status, "message": message, "status": name, "details": [*found, *details]}}


def quota(**violation):
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]}


RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "48s"}
# Eleven in the evening in California.
LATE = {"Date": "Mon, 30 Nov 2026 07:00:00 GMT"}


@pytest.mark.parametrize(("status", "name", "reason", "message", "kind", "scope"), GEMINI)
@pytest.mark.parametrize("wrapped", [False, True], ids=["plain", "in a list"])
def test_an_error_of_gemini_has_the_right_kind_and_scope(status, name, reason, message, kind, scope, wrapped):
    document = google_body(status or 403, name, reason, message)

    error = error_from(make_gemini(), [document] if wrapped else document, status)

    assert (error.kind, error.scope) == (kind, scope)
    assert not error.ended


@pytest.mark.parametrize(("status", "words", "kind", "scope"), SERPAPI)
def test_an_error_of_serpapi_has_the_right_kind_and_scope(status, words, kind, scope):
    error = error_from(make_copilot(), {"error": words}, status)

    assert (error.kind, error.scope) == (kind, scope)
    assert not error.ended


@pytest.mark.parametrize(
    ("detail", "reason", "wait"),
    [
        (quota(quotaId="GenerateRequestsPerMinutePerProjectPerModel"), "resource_exhausted", 48.0),
        (quota(quotaId="GenerateRequestsPerDayPerProjectPerModel-FreeTier"), "daily_quota", 3600.0),
        (quota(quotaMetric="x/generate_requests_per_model_per_day"), "daily_quota", 3600.0),
        (quota(quotaId="GenerateRequestsPerDayPerProjectPerModel", quotaValue="0"), "no_quota", None),
        (quota(), "resource_exhausted", 48.0),
    ],
)
def test_googles_daily_quota_waits_for_midnight_in_california(detail, reason, wait):
    document = google_body(429, "RESOURCE_EXHAUSTED", "", QUOTA, detail, RETRY_INFO)

    error = error_from(make_gemini(), document, 429, LATE)

    assert (error.reason, error.wait) == (reason, wait)
    assert error.kind is (Kind.FATAL if wait is None else Kind.TRANSIENT)


def test_a_longer_wait_that_google_asks_for_is_kept():
    document = google_body(429, "RESOURCE_EXHAUSTED", "", "Please retry in 10h17m5s.", quota(quotaId="RequestsPerDay"))

    assert error_from(make_gemini(), document, 429, LATE).wait == 10 * 3600 + 17 * 60 + 5


def test_the_interactions_apis_word_for_a_used_up_quota_is_read():
    document = {"error": {"code": "quota_exceeded", "message": "Quota exceeded."}}

    error = error_from(make_gemini(), document, 429, LATE)

    assert (error.kind, error.reason, error.wait) == (Kind.TRANSIENT, "daily_quota", 3600.0)


def body(code, kind, message):
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


@pytest.mark.parametrize(("status", "code", "name", "message", "kind", "scope"), OPENAI)
def test_an_error_of_openai_has_the_right_kind_and_scope(status, code, name, message, kind, scope):
    error = error_from(make_chatgpt(), body(code, name, message), status)

    assert (error.kind, error.scope) == (kind, scope)
    assert not error.ended


@pytest.mark.parametrize(("status", "code", "name", "message", "kind", "scope"), PERPLEXITY)
def test_an_error_of_perplexity_has_the_right_kind_and_scope(status, code, name, message, kind, scope):
    error = error_from(make_perplexity(), body(code, name, message), status)

    assert (error.kind, error.scope) == (kind, scope)


@pytest.mark.parametrize(
    ("code", "message", "kind", "scope"),
    [
        ("server_error", "An error occurred.", Kind.TRANSIENT, Scope.REQUEST),
        ("server_error", QUOTA, Kind.FATAL, Scope.MONEY),
        (None, QUOTA, Kind.FATAL, Scope.MONEY),
        ("rate_limit_exceeded", "Please try again in 3s.", Kind.TRANSIENT, Scope.REQUEST),
        ("invalid_prompt", "", Kind.FATAL, Scope.REQUEST),
        ("bio_policy", "", Kind.FATAL, Scope.REQUEST),
        ("misalignment_policy_violation", "", Kind.FATAL, Scope.REQUEST),
        ("data_residency_mismatch", "", Kind.FATAL, Scope.REQUEST),
        ("a_new_code", "", Kind.TRANSIENT, Scope.REQUEST),
        (None, None, Kind.TRANSIENT, Scope.REQUEST),
    ],
)
def test_a_call_that_failed_inside_a_success_is_over(code, message, kind, scope):
    error = error_from(make_chatgpt(), {"id": "resp_1", "status": "failed"} | body(code, None, message))

    assert (error.kind, error.scope) == (kind, scope)
    assert error.ended
    assert not error.maybe_charged


def test_a_failed_call_without_an_error_object_is_transient_and_over():
    error = error_from(make_chatgpt(), {"id": "resp_1", "status": "failed", "error": None})

    assert error.kind is Kind.TRANSIENT
    assert error.ended


TRANSIENT_STATUSES = [408, 409, 429, 500, 502, 503, 504, *range(520, 530)]
FATAL_STATUSES = [300, 304, 400, 401, 402, 403, 404, 405, 410, 413, 418, 422, 424, 451]


@pytest.mark.parametrize("content", [b"", HTML, b"[]", b'"text"', b"{", b'{"detail": "x"}', b'{"error": []}'])
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *((status, Kind.TRANSIENT) for status in TRANSIENT_STATUSES),
        *((status, Kind.FATAL) for status in FATAL_STATUSES),
    ],
)
@pytest.mark.parametrize("provider", [make() for make in MAKERS.values()], ids=MAKERS.keys())
def test_a_body_that_says_nothing_leaves_the_judgement_to_the_status(provider, status, kind, content):
    with pytest.raises(ProviderError) as caught:
        provider.read(status, {}, content)

    assert caught.value.kind is kind
    assert caught.value.message


@pytest.mark.parametrize(
    ("header", "status", "kind"),
    [
        ("true", 400, Kind.TRANSIENT),
        ("TRUE", 401, Kind.TRANSIENT),
        ("false", 500, Kind.FATAL),
        ("perhaps", 500, Kind.TRANSIENT),
    ],
)
def test_the_header_x_should_retry_overrides_the_status(header, status, kind):
    error = error_from(make_chatgpt(), {}, status, {"X-Should-Retry": header})

    assert error.kind is kind


def test_the_header_x_should_retry_does_not_override_the_code():
    error = error_from(make_chatgpt(), body("insufficient_quota", None, ""), 429, {"x-should-retry": "true"})

    assert error.scope is Scope.MONEY


def test_an_error_wrapped_in_a_list_of_one_is_read():
    error = error_from(make_chatgpt(), [body("insufficient_quota", None, "")], 429)

    assert error.scope is Scope.MONEY


@pytest.mark.parametrize(
    "document", [{"error": "Nothing left."}, {"message": "Nothing left."}, {"detail": "Nothing left."}]
)
def test_an_error_that_is_only_words_is_read(document):
    error = error_from(make_chatgpt(), document, 400)

    assert error.message == "Nothing left."


def test_a_success_that_holds_only_an_error_is_an_error_of_a_call_that_may_go_on():
    error = error_from(make_chatgpt(), body("server_error", "server_error", "Sorry."))

    assert error.kind is Kind.TRANSIENT
    assert not error.ended


@pytest.mark.parametrize(
    ("headers", "status", "wait"),
    [
        ({"retry-after": "7"}, 429, 7.0),
        ({"x-ratelimit-reset-tokens": "226ms"}, 429, 0.226),
        ({"x-ratelimit-reset-tokens": "226ms"}, 503, None),
        ({"retry-after": "7"}, 400, None),
    ],
)
def test_only_a_passing_error_has_a_wait(headers, status, wait):
    error = error_from(make_chatgpt(), {}, status, headers)

    assert error.wait == wait


@pytest.mark.parametrize(
    "words",
    [
        "Incorrect API key provided: sk-proj-abc***********wxyz. You can find your key at example.com.",
        "Incorrect API key provided: abcwxyz.",
        "Bad header: Bearer abcwxyz",
        "pplx-abcwxyz is not known",
        "AIzaSyabcwxyz is not known",
        "/search.json?q=x&api_key=abcwxyz&engine=y",
        "Bad api_key:abcwxyz",
        'You sent {"api_key": "abcwxyz"}',
        "x-goog-api-key: abcwxyz",
        "/v1beta/models?key=abcwxyz&pageSize=1",
        "AQ.Ab8RN6-abc_wxyz is not known",
    ],
)
def test_what_looks_like_a_key_is_not_in_the_message(words):
    error = error_from(make_chatgpt(), body(None, None, words), 401)

    assert "wxyz" not in error.message + str(error) + repr(error)
    assert "…" in error.message


def test_a_long_message_is_cut():
    error = error_from(make_chatgpt(), body(None, None, "word " * 1000), 400)

    assert len(error.message) <= 500


def test_no_half_of_a_key_is_left_where_a_message_of_megabytes_is_cut():
    words = " " * 9_990 + "plainly7wxyzplainly7wxyz" + " word" * 100_000

    assert "plainly" not in error_from(make_chatgpt(), body(None, None, words), 400).message


def test_a_search_that_failed_under_a_good_status_does_not_go_by_it():
    assert error_from(make_copilot(), {"search_metadata": {"id": "s", "status": "Error"}}).reason == "search_failed"
    assert error_from(make_copilot(), {"error": EXHAUSTED}).reason == "out_of_searches"
