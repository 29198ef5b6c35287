"""Reasons are put into plain words."""

from __future__ import annotations

import pytest

from capture.reasons import in_words, of_system


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("http_200", "the system reported a failure and did not say why"),
        ("http_418", "the system turned the question down (HTTP status 418)"),
        ("http_429", "too many questions at once for this account"),
        ("http_599", "the system had an error of its own (HTTP status 599)"),
        ("http_302", "the system answered with HTTP status 302"),
        ("api_error", "the system had an error of its own"),
        ("billing_not_active", "the account is not active"),
        ("search_failed", "the search failed"),
        ("SAFETY", "stopped by the system's safety filter"),
        ("a_new_one", "a new one"),
    ],
)
def test_a_reason_is_put_into_words(reason, words):
    assert in_words(reason) == words


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("invalid_api_key", "the ChatGPT key was refused"),
        ("insufficient_quota", "the ChatGPT account has no money left"),
        ("http_429", "too many questions at once for the ChatGPT account"),
        ("daily_quota", "the ChatGPT account's questions for today are used up"),
        ("overloaded", "ChatGPT was overloaded"),
        ("unsupported_country", "ChatGPT does not serve this region"),
        ("a_new_one", "a new one"),
    ],
)
def test_a_reason_can_name_its_system(reason, words):
    assert of_system(reason, "ChatGPT") == words
