"""Errors in both forms: Google's common one, with a status and details, and that of the Interactions API, with a code.

What stands before both APIs (keys, quotas, regions, overload) answers in the common form.
"""

from collections.abc import Callable, Mapping

from simulator.exchange import JSON, Reply, json_reply

DETAIL = "type.googleapis.com/google.rpc."
SERVICE = "generativelanguage.googleapis.com"
EXHAUSTED = "RESOURCE_EXHAUSTED"


def error(status: int, name: str, message: str, *details: JSON) -> Reply:
    body: JSON = {"code": status, "message": message, "status": name}
    return google_reply({"error": body | ({"details": list(details)} if details else {})}, status)


def interactions_error(status: int, code: str, message: str) -> Reply:
    return google_reply({"error": {"code": code, "message": message}}, status)


def google_reply(body: JSON, status: int = 200) -> Reply:
    return json_reply(body, status, {"content-type": "application/json; charset=UTF-8", "server-timing": "gfet4t7"})


def bad_key(key: str) -> Reply:
    """A wrong key is a bad request here, and only a missing one is forbidden."""
    if not key:
        return error(403, "PERMISSION_DENIED", "Unregistered callers cannot use this method. Please send an API key.")
    message = "API key not valid. Please pass a valid API key."
    return error(
        400,
        "INVALID_ARGUMENT",
        message,
        {
            "@type": f"{DETAIL}ErrorInfo",
            "reason": "API_KEY_INVALID",
            "domain": "googleapis.com",
            "metadata": {"service": SERVICE},
        },
        {"@type": f"{DETAIL}LocalizedMessage", "locale": "en-US", "message": message},
    )


def rate_limited(hint: str) -> Reply:
    """Without details. Google says "retry" where others say "try again"."""
    return error(429, EXHAUSTED, f"Resource has been exhausted (e.g. check quota).{hint.replace('try again', 'retry')}")


def no_money() -> Reply:
    return interactions_error(402, "payment_required", "The prepaid balance of this project is used up.")


def overloaded() -> Reply:
    return error(503, "UNAVAILABLE", "This model is currently experiencing high demand. Please try again later.")


def _quota(period: str, value: int, wait_s: float) -> Reply:
    quota_id = f"GenerateRequestsPer{period}PerProjectPerModel"
    violation = {
        "quotaMetric": f"{SERVICE}/generate_requests",
        "quotaId": quota_id,
        "quotaDimensions": {"location": "global", "model": "gemini-3.8-flash"},
        "quotaValue": str(value),
    }
    return error(
        429,
        EXHAUSTED,
        "You exceeded your current quota. Quotas are told in the details.",
        {"@type": f"{DETAIL}QuotaFailure", "violations": [violation]},
        {"@type": f"{DETAIL}RetryInfo", "retryDelay": f"{wait_s:g}s"},
    )


def _quota_minute(wait_s: float) -> Reply:
    return _quota("Minute", 1_000, wait_s)


def _quota_day(wait_s: float) -> Reply:
    """Names a short wait too, as the real one does, although only the next day helps."""
    return _quota("Day", 10_000, wait_s)


def _quota_exceeded(wait_s: float) -> Reply:
    """The day's quota in the words of the Interactions API."""
    return interactions_error(429, "quota_exceeded", "The daily quota of this project is used up.")


def _region(wait_s: float) -> Reply:
    return error(400, "FAILED_PRECONDITION", "User location is not supported for the API use.")


ORDERED: Mapping[str, Callable[[float], Reply]] = {
    "quota_minute": _quota_minute,
    "quota_day": _quota_day,
    "quota_exceeded": _quota_exceeded,
    "region": _region,
}
