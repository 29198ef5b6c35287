"""Reading JSON that comes from outside: nothing in it can be trusted to be there or to be of the right type."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from capture.providers.replies import Kind, ProviderError

# A database cannot store these; each is one character, so that spans stay right when another takes its place.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
# More than any call has; numbers above it are mistakes and would not fit into the database.
_MOST_UNITS = 10**9
_MOST_DOLLARS = Decimal(10_000)


def read_object(body: bytes, status: int) -> Mapping[str, Any]:
    """Parse a body that must be one JSON object.

    Arguments:
        body: anything at all.
        status: HTTP status; a 2xx that cannot be read may have been charged.

    Raises:
        ProviderError: transient, reason `unreadable`.
    """
    document = find_object(body)
    if document is None:
        message = f"The answer (HTTP {status}) is {_description(body)} instead of a JSON object."
        raise unreadable(status, message)
    return document


def unreadable(status: int, message: str) -> ProviderError:
    """The error for a response that makes no sense."""
    return ProviderError(Kind.TRANSIENT, "unreadable", message, maybe_charged=200 <= status < 300)


def find_object(body: bytes) -> Mapping[str, Any] | None:
    """The JSON object in a body, or None when it holds no object.

    An object with an `error` that is wrapped in a list of one counts, as Google's endpoints send it.
    """
    try:
        # Broken characters in a paid answer are no reason to lose the rest of it.
        document = json.loads(body.decode("utf-8-sig", "replace"))
    # Not JSON, or an absurdly long number; or nested too deeply to be parsed.
    except (ValueError, RecursionError):
        return None
    if isinstance(document, list) and len(document) == 1 and isinstance(document[0], dict) and "error" in document[0]:
        document = document[0]
    return document if isinstance(document, dict) else None


def _description(body: bytes) -> str:
    start = body[:200].strip()
    if not start:
        return "empty"
    if start.startswith(b"<"):
        return "a web page"
    if start.startswith((b"{", b"[")):
        return "broken JSON or a list"
    return "text"


def lower_names(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers by their names in lower case."""
    return {name.lower(): value for name, value in headers.items()}


def text_of(mapping: Mapping[str, Any], key: str) -> str:
    """The text under a key, fit to be stored and as long as it was; empty when there is none."""
    value = mapping.get(key)
    return _UNSTORABLE.sub(_REPLACEMENT, value) if isinstance(value, str) else ""


def list_of(mapping: Mapping[str, Any], key: str) -> Sequence[Any]:
    """The list under a key; empty when there is none."""
    value = mapping.get(key)
    return value if isinstance(value, list) else []


def mapping_of(mapping: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The object under a key; empty when there is none."""
    value = mapping.get(key)
    return value if isinstance(value, dict) else {}


def mappings_of(mapping: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """The objects in the list under a key; whatever else the list holds is left out."""
    return [item for item in list_of(mapping, key) if isinstance(item, dict)]


def count_of(mapping: Mapping[str, Any], key: str) -> int | None:
    """The whole number, not negative, under a key; None when there is none or it is absurd."""
    value = mapping.get(key)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST_UNITS:
        return None
    return value


def dollars_of(mapping: Mapping[str, Any], key: str) -> Decimal | None:
    """The amount of money, not negative, under a key; None when there is none or it is absurd."""
    value = mapping.get(key)
    # NaN is not in the range either.
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= _MOST_DOLLARS:
        return None
    # By way of its text: the binary value of 0.1 has 55 digits.
    return Decimal(str(value))
