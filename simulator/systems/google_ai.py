"""Google AI as SerpApi sees it: AI Mode, with a country, a language and a place."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

from simulator import answers
from simulator.answers import Answer, Block
from simulator.calls import Call
from simulator.dice import digest
from simulator.exchange import JSON
from simulator.pages import Page
from simulator.systems.base import field_names
from simulator.systems.serpapi import SerpApi, references, rows, snippet, text_blocks

OWN = " – official site"
COLUMNS = ("Name", "Known for")


class GoogleAI(SerpApi):
    slug = "google_ai"
    engine = "google_ai_mode"
    site = "Google"
    median_s = 10.0
    engine_fields = field_names("gl hl location uule device safe lat lon subsequent_request_token")

    def parameters(self, asked: Mapping[str, str]) -> JSON:
        told: JSON = {"engine": self.engine, "q": asked["q"], "hl": asked.get("hl", "en"), "gl": asked.get("gl", "us")}
        if "location" in asked:
            told |= {"location_requested": asked["location"], "location_used": asked["location"].replace(", ", ",")}
        return told | {"device": asked.get("device", "desktop")}

    def site_url(self, call: Call) -> str:
        parameters = self.parameters(call.request)
        asked = urlencode({name: parameters[name] for name in ("q", "gl", "hl")} | {"udm": 50}, errors="replace")
        return f"https://www.google.com/search?{asked}"

    def result(self, call: Call, answer: Answer) -> JSON:
        blocks = list(text_blocks(answer.blocks, lambda block: _entry(block, answer), {}))
        table = rows(call, answer)
        if table:
            blocks += [{"type": "heading", "snippet": "At a glance"}, _table(table)]
        pages = [_translated(call, page, index) for index, page in enumerate(answer.pages)]
        return {
            "text_blocks": blocks,
            "references": [_pictured(reference) for reference in references(pages)],
            "reconstructed_markdown": _markdown(answer, table),
            "subsequent_request_token": digest(f"{call.id}:token", 48),
        }


def _entry(block: Block, answer: Answer) -> JSON:
    """Brands that have a site among the pages are links to it, cited or not."""
    made = snippet(block)
    own = [(page.title.removesuffix(OWN), page.url) for page in answer.pages if page.title.endswith(OWN)]
    links = [{"text": brand, "link": url} for brand, url in own if brand in made["snippet"]]
    return made | ({"snippet_links": links} if links else {})


def _table(table: list[list[str]]) -> JSON:
    """Its first row is the header, and two more forms stand beside it."""
    whole = [list(COLUMNS), *table]
    names = [column.lower().replace(" ", "_") for column in COLUMNS]
    detailed: list[Any] = [[{"snippet": cell} for cell in row] for row in whole]
    formatted = [dict(zip(names, row, strict=True)) for row in table]
    return {"type": "table", "table": whole, "detailed": detailed, "formatted": formatted}


def _translated(call: Call, page: Page, index: int) -> Page:
    """Asked in another language, some pages come through a translator."""
    language = call.request.get("hl", "en")
    if language == "en" or index % 3 != 2 or "google.com" in page.url:
        return page
    return replace(page, url=f"https://translate.google.com/translate?u={page.url}&hl={language}&sl=en&client=sge")


def _pictured(reference: JSON) -> JSON:
    icon = f"https://icons.simulator.example/{digest(str(reference.get('source')))}.png"
    return {**reference, "source_icon": icon, "thumbnail": icon}


def _markdown(answer: Answer, table: list[list[str]]) -> str:
    """Escaped, with numbers for marks, and with links that lead through Google."""
    lines = [f"| {' | '.join(row)} |" for row in [list(COLUMNS), ["---"] * len(COLUMNS), *table]] if table else []
    escaped = [replace(block, sentences=tuple(map(_escaped, block.sentences))) for block in answer.blocks]
    text, _ = answers.markdown(replace(answer, blocks=tuple(escaped)), lambda page, number: f"[{number - 1}]", gap=" ")
    listed = [f"[{index}] [{page.title}]({_through_google(page)})" for index, page in enumerate(answer.pages)]
    parts = [text, *(["\n".join(lines)] if lines else []), *(["### References", *listed] if listed else [])]
    return "\n\n".join(parts)


def _escaped(sentence: answers.Sentence) -> answers.Sentence:
    return replace(sentence, text=re.sub(r"([-()])", r"\\\1", sentence.text))


def _through_google(page: Page) -> str:
    return f"https://www.google.com/goto?url={quote(page.url, safe='', errors='replace')}"
