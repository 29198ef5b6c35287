"""Keeping keys out of messages. OpenAI, for one, repeats a part of a wrong key in its error."""

from __future__ import annotations

import re

_KEYS = (
    re.compile(r"\b(?:sk|pplx)-[^\s\"',;)}\]]+"),
    re.compile(r"\bAIza[\w\-*.]+"),
    re.compile(r"(?<=provided: )[^\s\"',;]+", re.IGNORECASE),
    re.compile(r"(?<=Bearer )[^\s\"',;]+", re.IGNORECASE),
    re.compile(r"\bAQ\.[\w\-*.]+"),
    re.compile(r"(?<=api_key[=:])[^\s\"'&]+", re.IGNORECASE),
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
        message = pattern.sub(_HIDDEN, message)
    return message
