"""Why there is no answer, or not yet, in plain words. Pure: a short name in, a phrase out."""

from __future__ import annotations

import re

# The names come from the AI systems, from the way to them, and from the queue. The first are the most common.
WORDS = {
    "rate_limit_exceeded": "too many questions at once for this account",
    "slow_down": "too many questions at once for this account",
    "request_rate_limit_exceeded": "too many questions at once for this account",
    "server_error": "the system had an error of its own",
    "api_error": "the system had an error of its own",
    "internal_error": "the system had an error of its own",
    "bad_gateway": "the system was not available",
    "gateway_timeout": "the system was not available",
    "overloaded": "the system was overloaded",
    "server_is_overloaded": "the system was overloaded",
    "service_unavailable_error": "the system was not available",
    "billing_not_active": "the account is not active",
    "insufficient_quota": "the account has no money left",
    "credit_balance_exhausted": "the account has no money left",
    "organization_usage_limit_exceeded": "the account's spending limit is reached",
    "billing_hard_limit_reached": "the account's spending limit is reached",
    "invalid_api_key": "the key was refused",
    "forbidden": "the key may not be used for this",
    "http_401": "the key was refused",
    "http_402": "the account has no money left",
    "http_403": "the key may not be used for this",
    "http_404": "the system does not know what it was asked for",
    "http_408": "the system took too long",
    "http_413": "the question is too large for this account",
    "http_429": "too many questions at once for this account",
    "unsupported_country": "the system does not serve this region",
    "unsupported_country_region_territory": "the system does not serve this region",
    "model_not_found": "the model is unknown to the system",
    "invalid_model": "the model is unknown to the system",
    "invalid_prompt": "the system does not take this question",
    "too_many_prompt_tokens": "the question is too long for the model",
    "context_length_exceeded": "the question is too long for the model",
    "payload_too_large": "the question is too large for this account",
    "request_too_large": "the question is too large for this account",
    "content_filter": "stopped by the system's content filter",
    "max_output_tokens": "cut off at the longest answer that is allowed",
    "max_tokens": "cut off at the longest answer that is allowed",
    "no_text": "the reply held no text",
    "no_message": "the reply held no text",
    "function_call": "the reply held no text",
    "requires_action": "the system wanted something other than an answer",
    "no_results": "the system found nothing to say",
    "no_candidates": "the reply held no text",
    "daily_quota": "this account's questions for today are used up",
    "no_quota": "this account has no quota for the model",
    "resource_exhausted": "too many questions at once for this account",
    "unavailable": "the system was not available",
    "api_key_invalid": "the key was refused",
    "out_of_searches": "the account has no searches left",
    "search_failed": "the search failed",
    "missing_parameter": "the system does not take this question",
    "unsupported_parameter": "the system does not take this question",
    "budget_exceeded": "cut off at the call's budget",
    "idle": "the call came to a stop without an answer",
    "requires_continuation": "cut off; the system would have gone on",
    "safety": "stopped by the system's safety filter",
    "recitation": "stopped for repeating protected text",
    "language": "the system does not answer in this language",
    "blocklist": "stopped by the system's list of words",
    "prohibited_content": "stopped by the system's content filter",
    "content_blocked": "stopped by the system's content filter",
    "spii": "stopped for personal data",
    "model_armor": "stopped by the system's content filter",
    "other": "the system gave no reason",
    "unreachable": "the system could not be reached",
    "timeout": "no reply in time; it may have been charged",
    "connection_lost": "the connection broke before the reply; it may have been charged",
    "cut_body": "the connection broke within the reply; it may have been charged",
    "bad_encoding": "the reply could not be unpacked",
    "unreadable": "the reply could not be read",
    "too_large": "the reply was too large",
    "redirect": "the address that is set for the system leads elsewhere",
    "worker_lost": "the worker was lost while it was asking; it may have been charged",
    "superseded": "another attempt has brought the reply; it may have been charged",
    "stuck": "the exchange hung; it may have been charged",
    "crashed": "each worker that took it died; somebody has to look into it",
    "gone": "the system no longer knows the call",
    "remote_deadline": "no answer within the longest time that is allowed",
    "elsewhere": "the call was started at another address",
    "bug": "an error in AI Control itself",
    "cancelled": "called off before it was asked",
    "by_hand": "given up by staff",
    "removed": "taken out of the queue",
}


def in_words(reason: str) -> str:
    """The phrase for a reason; one that nobody has put into words yet is shown as it is named."""
    # Gemini shouts its reasons.
    name = reason.lower()
    if name.startswith("http_"):
        return WORDS.get(name) or _by_status(name.removeprefix("http_"))
    return WORDS.get(name) or name.replace("_", " ")


def of_system(reason: str, name: str) -> str:
    """The phrase for a reason with the system named in it, for where several are spoken of.

    Arguments:
        name: such as "ChatGPT"; "the key was refused" becomes "the ChatGPT key was refused".
    """
    phrase = in_words(reason)
    for whose in ("key", "account"):
        phrase = re.sub(rf"\bth(e|is) {whose}\b", f"the {name} {whose}", phrase)
    return phrase.replace("the system", name)


def _by_status(status: str) -> str:
    match status[:1]:
        case "4":
            return f"the system turned the question down (HTTP status {status})"
        case "5":
            return f"the system had an error of its own (HTTP status {status})"
        case "0" | "2":
            # The failure stands inside a success, and has no name.
            return "the system reported a failure and did not say why"
    return f"the system answered with HTTP status {status}"
