"""Why there is no answer, or not yet, in plain words: a short name in, a phrase out."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

# What phrases speak of, where it is clear whose it is, and where several systems are spoken of.
USUAL = {
    "system": _("the system"),
    "key": _("the key"),
    "account": _("the account"),
    "this_account": _("this account"),
}
NAMED = {
    "system": "%(name)s",
    "key": _("the %(name)s key"),
    "account": _("the %(name)s account"),
    "this_account": _("the %(name)s account"),
}

# The names come from the AI systems, from the way to them, and from the queue. The first are the most common.
WORDS = {
    "rate_limit_exceeded": _("too many questions at once for %(this_account)s"),
    "slow_down": _("too many questions at once for %(this_account)s"),
    "request_rate_limit_exceeded": _("too many questions at once for %(this_account)s"),
    "server_error": _("%(system)s had an error of its own"),
    "api_error": _("%(system)s had an error of its own"),
    "internal_error": _("%(system)s had an error of its own"),
    "bad_gateway": _("%(system)s was not available"),
    "gateway_timeout": _("%(system)s was not available"),
    "overloaded": _("%(system)s was overloaded"),
    "server_is_overloaded": _("%(system)s was overloaded"),
    "service_unavailable_error": _("%(system)s was not available"),
    "billing_not_active": _("%(account)s is not active"),
    "insufficient_quota": _("%(account)s has no money left"),
    "credit_balance_exhausted": _("%(account)s has no money left"),
    "organization_usage_limit_exceeded": _("%(account)s's spending limit is reached"),
    "billing_hard_limit_reached": _("%(account)s's spending limit is reached"),
    "invalid_api_key": _("%(key)s was refused"),
    "forbidden": _("%(key)s may not be used for this"),
    "http_401": _("%(key)s was refused"),
    "http_402": _("%(account)s has no money left"),
    "http_403": _("%(key)s may not be used for this"),
    "http_404": _("%(system)s does not know what it was asked for"),
    "http_408": _("%(system)s took too long"),
    "http_413": _("the question is too large for %(this_account)s"),
    "http_429": _("too many questions at once for %(this_account)s"),
    "unsupported_country": _("%(system)s does not serve this region"),
    "unsupported_country_region_territory": _("%(system)s does not serve this region"),
    "model_not_found": _("the model is unknown to %(system)s"),
    "invalid_model": _("the model is unknown to %(system)s"),
    "invalid_prompt": _("%(system)s does not take this question"),
    "too_many_prompt_tokens": _("the question is too long for the model"),
    "context_length_exceeded": _("the question is too long for the model"),
    "payload_too_large": _("the question is too large for %(this_account)s"),
    "request_too_large": _("the question is too large for %(this_account)s"),
    "content_filter": _("stopped by %(system)s's content filter"),
    "max_output_tokens": _("cut off at the longest answer that is allowed"),
    "max_tokens": _("cut off at the longest answer that is allowed"),
    "no_text": _("the reply held no text"),
    "no_message": _("the reply held no text"),
    "function_call": _("the reply held no text"),
    "requires_action": _("%(system)s wanted something other than an answer"),
    "no_results": _("%(system)s found nothing to say"),
    "no_candidates": _("the reply held no text"),
    "daily_quota": _("%(this_account)s's questions for today are used up"),
    "no_quota": _("%(this_account)s has no quota for the model"),
    "resource_exhausted": _("too many questions at once for %(this_account)s"),
    "unavailable": _("%(system)s was not available"),
    "api_key_invalid": _("%(key)s was refused"),
    "out_of_searches": _("%(account)s has no searches left"),
    "search_failed": _("the search failed"),
    "missing_parameter": _("%(system)s does not take this question"),
    "unsupported_parameter": _("%(system)s does not take this question"),
    "budget_exceeded": _("cut off at the call's budget"),
    "idle": _("the call came to a stop without an answer"),
    "requires_continuation": _("cut off; %(system)s would have gone on"),
    "safety": _("stopped by %(system)s's safety filter"),
    "recitation": _("stopped for repeating protected text"),
    "language": _("%(system)s does not answer in this language"),
    "blocklist": _("stopped by %(system)s's list of words"),
    "prohibited_content": _("stopped by %(system)s's content filter"),
    "content_blocked": _("stopped by %(system)s's content filter"),
    "spii": _("stopped for personal data"),
    "model_armor": _("stopped by %(system)s's content filter"),
    "other": _("%(system)s gave no reason"),
    "unreachable": _("%(system)s could not be reached"),
    "timeout": _("no reply in time; it may have been charged"),
    "connection_lost": _("the connection broke before the reply; it may have been charged"),
    "cut_body": _("the connection broke within the reply; it may have been charged"),
    "bad_encoding": _("the reply could not be unpacked"),
    "unreadable": _("the reply could not be read"),
    "too_large": _("the reply was too large"),
    "redirect": _("the address that is set for %(system)s leads elsewhere"),
    "worker_lost": _("the worker was lost while it was asking; it may have been charged"),
    "superseded": _("another attempt has brought the reply; it may have been charged"),
    "stuck": _("the exchange hung; it may have been charged"),
    "crashed": _("each worker that took it died; somebody has to look into it"),
    "gone": _("%(system)s no longer knows the call"),
    "remote_deadline": _("no answer within the longest time that is allowed"),
    "elsewhere": _("the call was started at another address"),
    "bug": _("an error in AI Control itself"),
    "cancelled": _("called off before it was asked"),
    "by_hand": _("given up by staff"),
    "removed": _("taken out of the queue"),
}


def in_words(reason: str) -> str:
    """The phrase for a reason; one that nobody has put into words yet is shown as it is named."""
    return _phrase(reason, USUAL)


def of_system(reason: str, name: str) -> str:
    """The phrase for a reason with the system named in it, for where several are spoken of.

    Arguments:
        name: such as "ChatGPT"; "the key was refused" becomes "the ChatGPT key was refused".
    """
    return _phrase(reason, {part: str(words) % {"name": name} for part, words in NAMED.items()})


def _phrase(reason: str, parts: Mapping[str, str | Promise]) -> str:
    # Gemini shouts its reasons.
    name = reason.lower()
    if name in WORDS:
        return str(WORDS[name]) % parts
    if name.startswith("http_"):
        status = name.removeprefix("http_")
        return _by_status(status) % {**parts, "status": status}
    return name.replace("_", " ")


def _by_status(status: str) -> str:
    match status[:1]:
        case "4":
            return gettext("%(system)s turned the question down (HTTP status %(status)s)")
        case "5":
            return gettext("%(system)s had an error of its own (HTTP status %(status)s)")
        case "0" | "2":
            # The failure stands inside a success, and has no name.
            return gettext("%(system)s reported a failure and did not say why")
    return gettext("%(system)s answered with HTTP status %(status)s")
