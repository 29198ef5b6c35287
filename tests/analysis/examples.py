"""The cases of who is named, ours and those that are shared where they are there; thirty names and a long answer."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

from capture.analysis.mentions import Entity, Hit, find_mentions

OURS = Path(__file__).with_name("cases.json")
SHARED = Path(__file__).resolve().parents[3] / "shared" / "cases" / "mentions.json"


# fmt: off
NAMES = [
    "Coca-Cola", "Nike", "L'Oréal", "AT&T", "H&M", "E.ON", "Procter & Gamble", "Société Générale", "Müller",
    "İş Bankası", "Яндекс", "Сбербанк", "Лента", "삼성", "네이버", "トヨタ", "ソニー", "华为", "小米", "أمازون",
    "נייקי", "ลาซาด้า", "टाटा", "Disney+", "C++", ".NET", "Yahoo!", "Notion", "monday.com", "3M",
]
PROSE = [
    "the product is (great) and naïve about **bold** prices", "[a guide](https://x.example/a?b=1) says so &amp; more,",
    "but", "https://x.example/path", "лучше других,", "製品の", "的产品", "מוצר טוב", "could not find it.\n\n",
    "- *one* of many\n", "example.com",
]
# fmt: on


def load(path: Path) -> list[dict[str, Any]]:
    """The cases of a file, each with a name, a text, and whether the text names it."""
    cases: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return cases


def hits_of(case: dict[str, Any]) -> list[Hit]:
    """What is found in a case's text."""
    return find_mentions(
        case["text"], [Entity("one", case["name"], aliases=tuple(case["aliases"]), match_case=case["match_case"])]
    )


def found(text: str, *names: str, **fields: Any) -> list[tuple[str, str]]:
    """The names found in a text, each with the words as they stand."""
    entities = [Entity(name, name, **fields) for name in names]
    return [(hit.key, hit.words) for hit in find_mentions(text, entities)]


def a_long_answer(length: int = 100_000) -> str:
    """An answer in several languages that names everybody in NAMES many times."""
    random = Random(7)
    parts: list[str] = []
    written = 0
    while written < length:
        parts.append(random.choice(PROSE if random.random() < 0.8 else NAMES))
        written += len(parts[-1]) + 1
    return " ".join(parts)[:length]
