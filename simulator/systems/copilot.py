"""Copilot as SerpApi sees it: Bing Copilot Search, which knows no country and no language."""

from collections.abc import Mapping
from urllib.parse import quote_plus

from simulator.answers import Answer, Block, Kind
from simulator.calls import Call
from simulator.exchange import JSON
from simulator.pages import Page
from simulator.systems.serpapi import SerpApi, cited, references, rows, snippet, source, text_blocks


class Copilot(SerpApi):
    slug = "copilot"
    engine = "bing_copilot"
    site = "Bing Copilot"
    median_s = 14.0

    def parameters(self, asked: Mapping[str, str]) -> JSON:
        return {"q": asked["q"], "engine": self.engine}

    def site_url(self, call: Call) -> str:
        return f"https://www.bing.com/copilotsearch?q={quote_plus(call.prompt, errors='replace')}&FORM=CSSCOP"

    def result(self, call: Call, answer: Answer) -> JSON:
        header, blocks = _lead(answer)
        numbers = _numbers(answer)
        shown = list(
            text_blocks(blocks, lambda block: snippet(block, _residue(block, numbers, answer.pages)), {"level": 3})
        )
        table = rows(call, answer)
        if table:
            shown.append({"type": "heading", "snippet": "At a glance", "level": 3})
            shown.append({"type": "table", "headers": ["Name", "Known for"], "table": table})
        result: JSON = {"search_information": {}} | ({"header": header} if header else {})
        return result | {"text_blocks": shown, "references": references(answer.pages)}


def _lead(answer: Answer) -> tuple[str, list[Block]]:
    """The sentence that stands over the blocks, if the answer opens with a sentence."""
    first, *rest = answer.blocks
    if first.kind is not Kind.PARAGRAPH:
        return "", list(answer.blocks)
    lead, *others = first.sentences
    return lead.text, ([Block(first.kind, tuple(others))] if others else []) + rest


def _numbers(answer: Answer) -> dict[int, int]:
    """Pages are numbered as they are first cited."""
    pages = [page for block in answer.blocks for page in cited(block)]
    return {page: number for number, page in enumerate(dict.fromkeys(pages), start=1)}


def _residue(block: Block, numbers: Mapping[int, int], pages: tuple[Page, ...]) -> str:
    """What is left of a mark once the page's links are gone: a number or the site's name, with or without a stop."""
    cites = cited(block)
    if not cites:
        return ""
    number = numbers[cites[0]]
    if number % 3 == 0 and source(pages[cites[0]]):
        return f" {source(pages[cites[0]])} ."
    return f" {number} ." if number % 2 else f" {number}"
