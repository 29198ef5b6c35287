"""Google AI Mode, read by SerpApi. Google has no API for it.

Format: https://serpapi.com/google-ai-mode-api. The replies of https://serpapi.com/google-ai-overview-api, the smaller
answer above Google's results, are read too.
"""

from __future__ import annotations

from collections.abc import Mapping

from capture.providers.base import gettext_noop
from capture.providers.reading import mapping_of, mappings_of, text_of
from capture.providers.replies import Pending, Question
from capture.providers.serpapi import Document, SerpApiProvider
from capture.providers.transport import Request

# Google's own codes, where they are not those of ISO 3166 and ISO 639.
_COUNTRIES = {"gb": "uk"}
_LANGUAGES = {"he": "iw", "jv": "jw", "nb": "no", "zh": "zh-cn"}

# An overview that has yet to be fetched has a token of a minute's life in place of an id.
_OVERVIEW = "overview:"
_LONGEST_TOKEN = 5_000


class GoogleAI(SerpApiProvider):
    """The answer that Google gives in its AI Mode."""

    slug = "google_ai"
    label = "Google AI"
    surface = "Google AI Mode, through SerpApi"
    engine = "google_ai_mode"
    takes_country = True
    takes_language = True
    locale_note = gettext_noop(
        "Google AI is asked as from the country and in the language, but may answer in that of the question."
    )

    def locale(self, question: Question) -> dict[str, str]:
        country, language = question.country.lower(), question.language.lower()
        fields = {"gl": _COUNTRIES.get(country, country), "hl": _LANGUAGES.get(language, language)}
        return {name: value for name, value in fields.items() if value}

    def poll_request(self, remote_id: str) -> Request:
        if remote_id.startswith(_OVERVIEW):
            token = remote_id.removeprefix(_OVERVIEW)
            return self.request("/search.json", engine="google_ai_overview", page_token=token)
        return super().poll_request(remote_id)

    def content(self, document: Document) -> Document:
        return mapping_of(document, "ai_overview") or document

    def pending(self, document: Document, status: int, headers: Mapping[str, str]) -> Pending | None:
        overview = mapping_of(document, "ai_overview")
        token = text_of(overview, "page_token")
        if token and len(token) <= _LONGEST_TOKEN and not mappings_of(overview, "text_blocks"):
            return Pending(f"{_OVERVIEW}{token}", after=0.0)
        return super().pending(document, status, headers)
