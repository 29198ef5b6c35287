"""Keeping keys out of messages. OpenAI, for one, repeats a part of a wrong key in its error."""

from __future__ import annotations

import re

# The group stays, what follows it goes.
_KEYS = (
    re.compile(r"()\b(?:sk|pplx)-[^\s\"',;)}\]]+"),
    # Google's, the older and the newer form.
    re.compile(r"()\b(?:AIza|AQ\.)[\w\-*.]+"),
    re.compile(r"(provided: )[^\s\"',;]+", re.IGNORECASE),
    re.compile(r"(Bearer )[^\s\"',;]+", re.IGNORECASE),
    # api_key=…, "api_key": "…", x-goog-api-key: …
    re.compile(r"(api[_\- ]?key[\"']?\s{0,3}[=:]\s{0,3}[\"']?)[^\s\"'&,;)}\]…]+", re.IGNORECASE),
    # As Google's addresses have it.
    re.compile(r"((?:\b|_)key=[\"']?)[^\s\"'&,;)}\]…]+", re.IGNORECASE),
)
_HIDDEN = "…"


def without_keys(message: str, *known: str) -> str:
    """A message with everything that looks like a key replaced.

    Arguments:
        message: for people.
        known: keys to replace whatever they look like.
    """
    for key in filter(None, known):
        message = message.replace(key, _HIDDEN)
    for pattern in _KEYS:
        message = pattern.sub(rf"\g<1>{_HIDDEN}", message)
    return message
