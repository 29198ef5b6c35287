"""What the answers of one check come to. Made of what captures keep, so that it stays when names are edited.

Simulated and real answers are never in one figure, nor are questions that name the brand themselves in one with others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.utils import timezone
from django.utils.translation import gettext as _

from capture.analysis import metrics
from capture.analysis.answers import Answer, Tally, day_of, tally, why_left_out
from capture.analysis.intervals import Cell
from capture.analysis.mentions import Entity
from capture.analysis.metrics import Figure
from capture.analysis.sources import SourceKind
from capture.models import Capture, Check, Outcome, Source
from capture.reports.columns import system_of
from capture.reports.figures import UNREAD, FigureLine
from capture.reports.sites import Sites, kind_in_words, sites_of

BRAND = "brand"  # its key in `Capture.named`
TOP = 10  # sources that a page shows; a file has all


@dataclass(frozen=True, slots=True)
class CitedSite:
    """A site that answers cite.

    Arguments:
        share: answers citing it, of those with any source.
        systems: the labels of those that cite it.
    """

    domain: str
    kind: SourceKind
    share: Figure
    systems: tuple[str, ...]

    @property
    def kind_words(self) -> str:
        return kind_in_words(self.kind)


@dataclass(frozen=True, slots=True)
class Table:
    """The figures of one kind of questions, system by system and overall.

    Arguments:
        branded: the questions themselves name the brand.
    """

    branded: bool
    lines: tuple[FigureLine, ...]
    overall: FigureLine


@dataclass(frozen=True, slots=True)
class Part:
    """All figures of the simulated answers of a check, or of the real ones."""

    simulated: bool
    tables: tuple[Table, ...]
    sites: tuple[CitedSite, ...]

    @property
    def top(self) -> tuple[CitedSite, ...]:
        return self.sites[:TOP]

    @property
    def more(self) -> int:
        return len(self.sites) - len(self.top)

    @property
    def single_check(self) -> bool:
        return any(table.overall.single_check for table in self.tables)


@dataclass(frozen=True, slots=True)
class Summary:
    """What the answers of a check come to.

    Arguments:
        parts: real answers first; none while there is no answer.
        answers: how many there are, whether they count or not.
    """

    check: Check
    parts: tuple[Part, ...]
    answers: int


class _Row(NamedTuple):
    pk: int
    prompt__key: str
    prompt__branded: bool
    provider: str
    surface: str
    outcome: str
    cached: bool
    simulated: bool
    attempts: int
    answered_at: datetime
    matcher: int
    named: list[dict[str, Any]]


@dataclass(slots=True)
class _Pile:
    """The captures of one table while they are sorted."""

    answers: list[Answer] = field(default_factory=list)
    left_out: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))


def summary_of(check: Check) -> Summary:
    """The figures of a check as it stands, its days in the active time zone. Two queries, whatever its size."""
    captures: Any = check.captures.order_by("pk").values_list(*_Row._fields)
    rows = list(map(_Row._make, captures))
    answered = [row for row in rows if row.outcome == Outcome.ANSWERED]
    hosts = _hosts(check) if answered else {}
    entities = check.entities()
    sites = sites_of({host for found in hosts.values() for host in found}, entities)
    kinds = sorted({row.simulated for row in answered})
    parts = [_part(check, simulated, _of(simulated, rows, kinds), hosts, entities, sites) for simulated in kinds]
    return Summary(check, tuple(parts), len(answered))


def _hosts(check: Check) -> dict[int, frozenset[str]]:
    """The hosts of the sources of each answer."""
    found = defaultdict(set)
    sources = Source.objects.filter(capture__in=Capture.objects.answered().filter(of_check=check))
    for capture, domain in sources.values_list("capture_id", "domain"):
        found[capture].add(domain)
    return {capture: frozenset(domains) for capture, domains in found.items()}


def _of(simulated: bool, rows: Iterable[_Row], kinds: Sequence[bool]) -> list[_Row]:
    """The captures of a kind. One that was never asked is of no kind, and is told where there are answers."""
    return [row for row in rows if (row.simulated if row.simulated in kinds else kinds[0]) == simulated]


def _part(
    check: Check,
    simulated: bool,
    rows: Sequence[_Row],
    hosts: Mapping[int, frozenset[str]],
    entities: Sequence[Entity],
    sites: Sites,
) -> Part:
    piles: dict[bool, _Pile] = {}
    for row in rows:
        _sort(row, piles.setdefault(row.prompt__branded, _Pile()), hosts)
    slugs = [slug for slug in check.providers if any(row.provider == slug for row in rows)]
    tables = tuple(_table(branded, pile, slugs, entities) for branded, pile in sorted(piles.items()))
    tallies = [each for pile in piles.values() for each in tally(pile.answers, entities)]
    return Part(simulated, tables, tuple(_cited_sites(tallies, sites)))


def _sort(row: _Row, pile: _Pile, hosts: Mapping[int, frozenset[str]]) -> None:
    reason = _why_left_out(row)
    if reason:
        pile.left_out[row.provider][reason] += 1
    else:
        pile.answers.append(_answer(row, hosts.get(row.pk, frozenset())))


def _why_left_out(row: _Row) -> str | None:
    # An answer always has text, and a part has answers of one kind; the database holds the one, `_of` the other.
    reason = why_left_out(
        row.outcome, has_text=True, cached=row.cached, simulated=row.simulated, about_simulated=row.simulated
    )
    return reason or (None if row.matcher else UNREAD)


def _answer(row: _Row, hosts: frozenset[str]) -> Answer:
    return Answer(
        Cell(row.prompt__key, row.provider, row.surface),
        day_of(row.answered_at, timezone.get_current_timezone()),
        simulated=row.simulated,
        named=tuple(each["key"] for each in row.named),
        hosts=hosts,
    )


def _table(branded: bool, pile: _Pile, slugs: Sequence[str], entities: Sequence[Entity]) -> Table:
    tallies = tally(pile.answers, entities)
    keys = [entity.key for entity in entities]
    lines = tuple(
        _line(system_of(slug).label, [each for each in tallies if each.cell.provider == slug], keys, pile.left_out[slug])
        for slug in slugs
    )
    left_out = sum(pile.left_out.values(), Counter())
    return Table(branded, lines, _line(_("Overall"), tallies, keys, left_out))


def _line(label: str, tallies: Sequence[Tally], keys: Sequence[str], left_out: Mapping[str, int]) -> FigureLine:
    figures = {
        "visibility": metrics.visibility(tallies, BRAND),
        "voice": metrics.share_of_voice(tallies, BRAND, keys),
        "first": metrics.first_named(tallies, BRAND),
        "cited": metrics.cited(tallies, BRAND),
    }
    return FigureLine(
        label,
        {name: metrics.figure(counts) for name, counts in figures.items()},
        metrics.position(tallies, BRAND),
        left_out,
        least=1,  # a check has few answers by its nature, and says so
    )


def _cited_sites(tallies: Sequence[Tally], sites: Sites) -> list[CitedSite]:
    """The sites by how many answers cite them, the most cited first."""
    citing: Counter[str] = sum((Counter(each.domains) for each in tallies), Counter())
    ordered = sorted((site for site in citing if site), key=lambda site: (-citing[site], site))
    slugs = list(dict.fromkeys(each.cell.provider for each in tallies))
    labels = {slug: system_of(slug).label for slug in slugs}
    by_system = {slug: {site for each in tallies if each.cell.provider == slug for site in each.domains} for slug in slugs}
    return [
        CitedSite(
            site,
            sites.kinds[site],
            metrics.figure(metrics.source_share(tallies, site)),
            tuple(labels[slug] for slug in slugs if site in by_system[slug]),
        )
        for site in ordered
    ]
