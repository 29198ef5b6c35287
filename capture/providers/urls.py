"""Cleaning the addresses of sources: without tracking, without Google's wrappings, comparable."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, parse_qs, unquote_plus, urlsplit

_GOOGLE = re.compile(r"(?:www\.)?google\.[a-z]{2,3}(?:\.[a-z]{2})?")
_TRANSLATE = re.compile(r"translate\.google\.[a-z]{2,3}(?:\.[a-z]{2})?")
# Google's own pages that stand in front of a source: a viewer, a redirect whose target is not in it, a search.
_GOOGLE_FRONTS = ("/searchviewer", "/goto", "/search")
# A backslash is a slash to a browser, so that what follows an @ behind it is no host.
_NOT_IN_A_HOST = re.compile(r"[\s\x00-\x1f\x7f<>\"\\^`{|}]")
_MOST_WRAPPINGS = 3


def clean_url(raw: object) -> str | None:
    """The address of a source in the form in which it is stored and compared.

    Tracking parameters go, a page behind Google's translator is unwrapped, the host is in lower case; everything else
    stays byte for byte.

    Returns:
        None for what is no web address, or is a page of Google's that only stands in front of a source. Never raises.
    """
    return _clean(raw, _MOST_WRAPPINGS) if isinstance(raw, str) else None


def _clean(raw: str, wrappings: int) -> str | None:
    try:
        parts = urlsplit(raw.strip())
        host = parts.hostname or ""
        parts.port  # noqa: B018 - the access checks the port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not host or _NOT_IN_A_HOST.search(parts.netloc):
        return None
    if _TRANSLATE.fullmatch(host) and parts.path.rstrip("/") == "/translate":
        return _unwrap(parts.query, wrappings)
    if _GOOGLE.fullmatch(host) and _is_front(parts.path):
        return None
    return _rebuild(parts)


def _unwrap(query: str, wrappings: int) -> str | None:
    try:
        target = parse_qs(query, max_num_fields=100).get("u", [""])[0]
    except ValueError:
        return None
    return _clean(target, wrappings - 1) if wrappings else None


def _is_front(path: str) -> bool:
    return any(path == front or path.startswith(f"{front}/") for front in _GOOGLE_FRONTS)


def _rebuild(parts: SplitResult) -> str:
    login, at, place = parts.netloc.rpartition("@")
    return parts._replace(netloc=login + at + place.lower(), query=_without_tracking(parts.query)).geturl()


def _without_tracking(query: str) -> str:
    return "&".join(field for field in query.split("&") if not _is_tracking(field))


def _is_tracking(field: str) -> bool:
    name = unquote_plus(field.partition("=")[0]).lower()
    return name.startswith("utm_") or name == "srsltid"
