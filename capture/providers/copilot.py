"""Bing Copilot Search, read by SerpApi. Microsoft sells no API that answers as its public Copilot does.

Format: https://serpapi.com/bing-copilot-api.
"""

from __future__ import annotations

from capture.providers.base import gettext_noop
from capture.providers.replies import Question
from capture.providers.serpapi import SerpApiProvider


class Copilot(SerpApiProvider):
    """The page at bing.com/copilotsearch, which is not the chat at copilot.microsoft.com."""

    slug = "copilot"
    label = "Copilot"
    surface = "Bing Copilot Search, through SerpApi"
    engine = "bing_copilot"
    footnotes = True
    takes_country = False
    takes_language = False
    locale_note = gettext_noop(
        "Copilot takes neither a country nor a language: it answers in the language of the question."
    )

    def locale(self, question: Question) -> dict[str, str]:
        return {}
