"""How many cases of naming three matchers get right, and how long each takes: `python -m benchmarks.mentions [CASES]`.

CASES is a JSON file of cases as in tests/analysis/cases.json, which is taken without one. The matchers are a plain
substring search, the same between `\\b` of Python's `re`, and the product's own; all know the match-case switch.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from capture.analysis.mentions import Entity, find_mentions
from tests.analysis.examples import NAMES, OURS, a_long_answer, load

Matcher = Callable[[str, Sequence[Entity]], bool]
_ROUNDS = 5


def by_substring(text: str, entities: Sequence[Entity]) -> bool:
    """Any name is anywhere in the text."""
    found = False
    for entity in entities:
        for name in entity.names:
            found |= name in text if entity.match_case else name.casefold() in text.casefold()
    return found


def by_word_boundary(text: str, entities: Sequence[Entity]) -> bool:
    r"""Any name is in the text between two `\b`."""
    found = False
    for entity in entities:
        for name in entity.names:
            pattern = re.compile(rf"\b{re.escape(name)}\b", 0 if entity.match_case else re.IGNORECASE)
            found |= pattern.search(text) is not None
    return found


def by_analysis(text: str, entities: Sequence[Entity]) -> bool:
    """The product's own."""
    return bool(find_mentions(text, entities))


MATCHERS: dict[str, Matcher] = {"substring": by_substring, r"`\b`": by_word_boundary, "`find_mentions`": by_analysis}


def main() -> None:
    """Print both tables, in markdown."""
    parser = argparse.ArgumentParser(description="Compare three ways of finding names.")
    parser.add_argument("cases", nargs="?", type=Path, default=OURS, help="a JSON file of cases")
    cases = load(parser.parse_args().cases)
    print_right(cases)
    print_seconds()


def print_right(cases: list[dict[str, object]]) -> None:
    """The share of right answers, by kind of case."""
    asked: Counter[str] = Counter()
    right: Counter[tuple[str, str]] = Counter()
    for case in cases:
        kind = str(case["kind"])
        asked[kind] += 1
        for name, matcher in MATCHERS.items():
            right[kind, name] += matcher(str(case["text"]), [_entity(case)]) is case["mentioned"]
    print(f"| kind | cases | {' | '.join(MATCHERS)} |")
    print("|---|--:|" + "--:|" * len(MATCHERS))
    for kind in asked:
        print(f"| {kind} | {asked[kind]} | {' | '.join(str(right[kind, name]) for name in MATCHERS)} |")
    sums = [str(sum(right[kind, name] for kind in asked)) for name in MATCHERS]
    print(f"| **all** | **{asked.total()}** | {' | '.join(f'**{each}**' for each in sums)} |")


def _entity(case: dict[str, object]) -> Entity:
    aliases = case["aliases"]
    assert isinstance(aliases, list)
    return Entity("one", str(case["name"]), aliases=tuple(aliases), match_case=bool(case["match_case"]))


def print_seconds() -> None:
    """Processor time for an answer of 100,000 characters and thirty names; the best of some rounds."""
    text = a_long_answer()
    entities = [Entity(name, name) for name in NAMES]
    print(f"\n{len(text):,} characters, {len(entities)} names, {len(find_mentions(text, entities)):,} mentions:\n")
    for name, matcher in MATCHERS.items():
        print(f"- {name}: {1000 * min(_seconds(matcher, text, entities) for _ in range(_ROUNDS)):.0f} ms")


def _seconds(matcher: Matcher, text: str, entities: Sequence[Entity]) -> float:
    began = time.process_time()
    matcher(text, entities)
    return time.process_time() - began


if __name__ == "__main__":
    main()
