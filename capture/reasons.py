"""Why there is no answer, or not yet, in plain words. Pure: a short name in, a phrase out."""

from __future__ import annotations

# The names come from the AI systems, from the way to them, and from the queue. The first are the most common.
WORDS = {
    "rate_limit_exceeded": "too many questions at once for this account",
    "slow_down": "too many questions at once for this account",
    "request_rate_limit_exceeded": "too many questions at once for this account",
    "server_error": "the system had an error of its own",
    "internal_error": "the system had an error of its own",
    "bad_gateway": "the system was not available",
    "gateway_timeout": "the system was not available",
    "overloaded": "the system was overloaded",
    "server_is_overloaded": "the system was overloaded",
    "service_unavailable_error": "the system was not available",
    "insufficient_quota": "the account has no money left",
    "credit_balance_exhausted": "the account has no money left",
    "organization_usage_limit_exceeded": "the account's spending limit is reached",
    "billing_hard_limit_reached": "the account's spending limit is reached",
    "invalid_api_key": "the key was refused",
    "forbidden": "the key may not be used for this",
    "http_401": "the key was refused",
    "http_403": "the key may not be used for this",
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
    "unreachable": "the system could not be reached",
    "timeout": "no reply in time; it may have been charged",
    "connection_lost": "the connection broke before the reply; it may have been charged",
    "cut_body": "the connection broke within the reply; it may have been charged",
    "bad_encoding": "the reply could not be unpacked",
    "unreadable": "the reply could not be read",
    "too_large": "the reply was too large",
    "redirect": "the address that is set for the system leads elsewhere",
    "gone": "the system no longer knows the call",
    "remote_deadline": "no answer within the longest time that is allowed",
    "elsewhere": "the call was started at another address",
    "bug": "an error in AI Control itself",
    "cancelled": "called off before it was asked",
    "removed": "taken out of the queue",
}


def in_words(reason: str) -> str:
    """The phrase for a reason; one that nobody has put into words yet is shown as it is named."""
    return WORDS.get(reason) or reason.replace("_", " ")
