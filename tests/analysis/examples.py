"""The cases of who is named: ours, and those that are shared where they are there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from capture.analysis.mentions import Entity, Hit, find_mentions

OURS = Path(__file__).with_name("cases.json")
SHARED = Path(__file__).resolve().parents[3] / "shared" / "cases" / "mentions.json"


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
