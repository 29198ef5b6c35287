"""What names would be found in the answers that are kept, before they are saved."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from capture.analysis.mentions import Entity, Hit, find_mentions
from capture.models import Brand, Capture

NEWEST = 50  # answers that are looked through
LONGEST = 20_000  # characters of each
PATIENCE = 2.0  # seconds for all of them
MOST_EXAMPLES = 5  # of each name
AROUND = 60  # characters before and after an example


@dataclass(frozen=True, slots=True)
class Example:
    """A place that would be found and is not yet."""

    before: str
    words: str
    after: str


@dataclass(slots=True)
class Finding:
    """What would be found of somebody.

    Arguments:
        now: answers that name it by the names as they are.
        then: answers that would name it by the new names.
        examples: of places that would be found anew.
    """

    name: str
    own: bool
    now: int = 0
    then: int = 0
    examples: list[Example] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Preview:
    """What would be found in the newest answers about a brand.

    Arguments:
        answers: how many were looked through.
        simulated: they are simulated ones, as there are no others.
    """

    answers: int
    simulated: bool
    findings: list[Finding]


def preview_of(brand: Brand, names: Sequence[Entity]) -> Preview:
    """Look for new names in the newest answers about a brand, in as many as there is time for. Two or three queries.

    Arguments:
        names: keys as those of the names that the brand has now, but `brand` for itself.
    """
    today = [_as_typed(entity) for entity in brand.entities()]
    findings = {entity.key: Finding(entity.name, entity.key == "brand") for entity in names}
    texts, simulated = _newest(brand)
    until = time.monotonic() + PATIENCE
    looked_through = 0
    for text in texts:
        _compare(text, today, names, findings)
        looked_through += 1
        if time.monotonic() >= until:
            break
    return Preview(looked_through, simulated, list(findings.values()))


def _as_typed(entity: Entity) -> Entity:
    key = "brand" if entity.key.startswith("brand:") else entity.key
    return Entity(key, entity.name, entity.aliases, entity.domains, entity.match_case)


def _newest(brand: Brand) -> tuple[list[str], bool]:
    """The newest answers; simulated ones only where there are no real ones."""
    for simulated in (False, True):
        kept = Capture.objects.originals().filter(of_check__brand=brand, simulated=simulated)
        texts = list(kept.order_by("-pk").values_list("text", flat=True)[:NEWEST])
        if texts:
            return [text[:LONGEST] for text in texts], simulated
    return [], False


def _compare(text: str, today: Sequence[Entity], names: Sequence[Entity], findings: dict[str, Finding]) -> None:
    now, then = find_mentions(text, today), find_mentions(text, names)
    for key in {hit.key for hit in now} & findings.keys():
        findings[key].now += 1
    for key in {hit.key for hit in then}:
        findings[key].then += 1
    known = {(hit.key, hit.start) for hit in now}
    for hit in then:
        if (hit.key, hit.start) not in known and len(findings[hit.key].examples) < MOST_EXAMPLES:
            findings[hit.key].examples.append(_example(text, hit))


def _example(text: str, hit: Hit) -> Example:
    before, after = text[max(hit.start - AROUND, 0) : hit.start], text[hit.end : hit.end + AROUND]
    return Example(_one_line(before), hit.words, _one_line(after))


def _one_line(text: str) -> str:
    return re.sub(r"\s", " ", text)
