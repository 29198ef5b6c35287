"""The addresses under which Gemini names its sources: redirects of Google's that live for about a month.

What they lead to is not in them. The reply names the page's domain as the source's title, or in a field of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from capture.providers.base import Account
from capture.providers.reading import lower_names
from capture.providers.sources import Finding
from capture.providers.transport import Patience, Request
from capture.providers.urls import clean_url

HOST = "vertexaisearch.cloud.google.com"
PATH = "/grounding-api-redirect/"

# Nobody waits for it, and what it does not bring in time is left as it is.
_PATIENCE = Patience(silence=5.0, total=5.0)
_DOMAIN = re.compile(r"(?:[\w\-]{1,63}\.){1,10}[\w\-]{2,63}")


class Redirects:
    """Knows the redirects of one account: Google's, and the simulator's own for an account that is simulated."""

    def __init__(self, account: Account) -> None:
        self._own = urlsplit(account.base_url)[:2] if account.simulated else None

    def finding(
        self,
        url: str,
        title: str,
        *,
        domain: str = "",
        cited: bool,
        spans: tuple[tuple[int, int], ...] = (),
    ) -> Finding:
        """A place at which a page is named, marked when its address is a redirect."""
        if not (self._is_googles(url) or self._is_own(url)):
            return Finding(url, title, cited, spans)
        return Finding(url, title, cited, spans, domain=_domain(domain) or _domain(title), redirect=True)

    def request(self, url: str) -> Request | None:
        """What to send to find out where a redirect leads; None for an address to which nothing may be sent.

        It holds no key. Real ones are looked up at Google and nowhere else, the simulator's at the simulator.
        """
        may_be_asked = self._is_googles(url) if self._own is None else self._is_own(url)
        return Request("GET", url, patience=_PATIENCE, redirects=True) if may_be_asked else None

    def target(self, status: int, headers: Mapping[str, str]) -> str | None:
        """The cleaned address that a response to `request` leads to, or None."""
        url = clean_url(lower_names(headers).get("location", "")) if 300 <= status < 400 else None
        return None if url is None or self._is_googles(url) or self._is_own(url) else url

    def _is_googles(self, url: str) -> bool:
        try:
            parts = urlsplit(url)
        except ValueError:
            return False
        # The whole place, so that neither a port nor a login is let in.
        return parts.scheme == "https" and parts.netloc.lower() == HOST

    def _is_own(self, url: str) -> bool:
        try:
            parts = urlsplit(url)
        except ValueError:
            return False
        return parts[:2] == self._own and PATH in parts.path


def _domain(text: str) -> str:
    text = text.strip().lower()
    return text if _DOMAIN.fullmatch(text) else ""
