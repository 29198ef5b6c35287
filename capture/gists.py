"""What history reads of answers: written when an answer comes, and when it is read again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from capture.analysis.mentions import Entity
from capture.analysis.sites import KINDS, sites_of
from capture.analysis.sources import SourceKind
from capture.models import Brand, Capture, Gist, Outcome, Source
from capture.models.gists import MOST_RIVALS

READ_AGAIN = ("rank", "rivals", "sites", "kinds", "matcher", "edition")  # what another reading may change


def keep(
    captures: Mapping[Capture, Sequence[str]], hosts: Mapping[int, Iterable[str]], today: Sequence[Entity]
) -> None:
    """Write what history reads of answers about one brand, in place of what was written before.

    Arguments:
        captures: with their prompts and checks, and the keys of those whom each names, in the order of first naming.
        hosts: of the sources of each capture.
        today: the brand, then its competitors, by the names that the answers were read by.
    """
    counting = {capture: named for capture, named in captures.items() if counts(capture)}
    Gist.objects.filter(capture__in=[capture for capture in captures if capture not in counting]).delete()
    Gist.objects.bulk_create(
        (_gist(capture, named, hosts.get(capture.pk, ()), today) for capture, named in counting.items()),
        update_conflicts=True,
        unique_fields=["capture"],
        update_fields=READ_AGAIN,
    )


def counts(capture: Capture) -> bool:
    """Whether a capture is in any figure: an answer made for us, in which somebody has looked for names."""
    return capture.outcome == Outcome.ANSWERED and not capture.cached and capture.matcher > 0 and capture.edition > 0


def move_sites(capture: int) -> None:
    """The sources of an answer have changed: write its sites anew."""
    brand = Brand.objects.prefetch_related("competitors").get(checks__captures=capture)
    Gist.objects.filter(capture=capture).update(**_sites(hosts_of([capture])[capture], brand.entities()))


def hosts_of(captures: Iterable[int]) -> dict[int, set[str]]:
    """The hosts of the sources of some captures."""
    found: dict[int, set[str]] = {capture: set() for capture in captures}
    for capture, domain in Source.objects.filter(capture__in=found).values_list("capture_id", "domain"):
        found[capture].add(domain)
    return found


def _gist(capture: Capture, named: Sequence[str], hosts: Iterable[str], today: Sequence[Entity]) -> Gist:
    prompt, check = capture.prompt, capture.of_check
    return Gist(
        capture=capture,
        brand_id=check.brand_id,
        provider=capture.provider,
        country=check.country,
        branded=prompt.branded,
        simulated=capture.simulated,
        answered_at=capture.answered_at,
        model=capture.model,
        **numbers(prompt.key, capture.provider, capture.surface),
        matcher=capture.matcher,
        edition=capture.edition,
        **told(named, hosts, today),
    )


def told(named: Sequence[str], hosts: Iterable[str], today: Sequence[Entity]) -> dict[str, Any]:
    """What an answer itself tells: the columns `rank`, `rivals`, `sites` and `kinds`.

    Arguments:
        named: the keys of those whom it names, in the order of first naming.
        hosts: of its sources.
        today: the brand, then its competitors.
    """
    numbers = {entity.key: entity.key.rpartition(":")[2] for entity in today[1:]}
    return {
        "rank": named.index(today[0].key) + 1 if today[0].key in named else None,
        "rivals": [int(numbers[key]) for key in named if key in numbers][:MOST_RIVALS],
        **_sites(hosts, today),
    }


def _sites(hosts: Iterable[str], today: Sequence[Entity]) -> dict[str, Any]:
    """The sites of an answer with their kinds; of a source whose page nobody knows, an empty one."""
    found = set(hosts)
    kinds = {domain: KINDS.index(kind) for domain, kind in sites_of(found, today).kinds.items()}
    if "" in found:
        kinds[""] = KINDS.index(SourceKind.OTHER)
    return {"sites": sorted(kinds), "kinds": [kinds[site] for site in sorted(kinds)]}


def numbers(key: str, provider: str, surface: str) -> dict[str, int]:
    """The columns `question` and `cell`.

    Arguments:
        key: of a question.
    """
    return {"question": number_of(key), "cell": number_of(key, provider, surface)}


def number_of(*texts: str) -> int:
    """A number that stands for some texts: 64 bits of their SHA-256, since numbers are quicker to group by."""
    return int.from_bytes(sha256("\x1f".join(texts).encode()).digest()[:8], signed=True)
