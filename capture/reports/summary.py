"""What the answers of one check come to. Made of what captures keep, so that it stays when names are edited.

Simulated and real answers are never in one figure, nor are questions that name the brand themselves in one with others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from django.utils import timezone
from django.utils.translation import gettext as _

from capture.analysis import metrics
from capture.analysis.answers import Answer, Tally, day_of, tally, why_left_out
from capture.analysis.intervals import Cell
from capture.analysis.mentions import Entity
from capture.analysis.metrics import Figure
from capture.analysis.sites import Sites, sites_of
from capture.analysis.sources import SourceKind
from capture.models import Check, Outcome, Source
from capture.reports.cells import BRAND
from capture.reports.columns import system_of
from capture.reports.figures import UNREAD, FigureLine
from capture.reports.sites import kind_in_words

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
    def words(self) -> str:
        return self.share.text(least=1)

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
    """All figures of the simulated answers of a check, or of the real ones.

    Arguments:
        sites: those that most answers cite.
        more: how many sites there are besides.
    """

    simulated: bool
    tables: tuple[Table, ...]
    sites: tuple[CitedSite, ...]
    more: int

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
    answered_at: datetime
    matcher: int
    named: list[dict[str, Any]]


def summary_of(check: Check, most: int | None = TOP) -> Summary:
    """The figures of a check as it stands, its days in the active time zone. Two queries, whatever its size.

    Arguments:
        most: sites of each part; None for all.
    """
    captures: Any = check.captures.order_by("pk").values_list(*_Row._fields)
    rows = list(map(_Row._make, captures))
    answered = [row for row in rows if row.outcome == Outcome.ANSWERED]
    kinds = sorted({row.simulated for row in answered})
    reading = _Reading(check.entities(), _hosts(check) if answered else {})
    parts = (reading.part(check, simulated, _of(simulated, rows, kinds), most) for simulated in kinds)
    return Summary(check, tuple(parts), len(answered))


def _hosts(check: Check) -> dict[int, frozenset[str]]:
    """The hosts of the sources of each answer."""
    found = defaultdict(set)
    sources = Source.objects.filter(capture__of_check=check, capture__outcome=Outcome.ANSWERED)
    for capture, domain in sources.values_list("capture_id", "domain"):
        found[capture].add(domain)
    return {capture: frozenset(domains) for capture, domains in found.items()}


def _of(simulated: bool, rows: Iterable[_Row], kinds: Sequence[bool]) -> list[_Row]:
    """The captures of a kind. One of a kind without any answer is told where there are answers."""
    return [row for row in rows if (row.simulated if row.simulated in kinds else kinds[0]) == simulated]


@dataclass(frozen=True)
class _Reading:
    """How the captures of a check are read.

    Arguments:
        entities: the brand and its competitors as they were.
        hosts: of the sources of each answer.
    """

    entities: Sequence[Entity]
    hosts: Mapping[int, frozenset[str]]

    @cached_property
    def sites(self) -> Sites:
        return sites_of({host for found in self.hosts.values() for host in found}, self.entities)

    def part(self, check: Check, simulated: bool, rows: Sequence[_Row], most: int | None) -> Part:
        slugs = [slug for slug in check.providers if any(row.provider == slug for row in rows)]
        tables = tuple(
            self.table(branded, [row for row in rows if row.prompt__branded == branded], slugs)
            for branded in sorted({row.prompt__branded for row in rows})
        )
        tallies = self.tallies(rows)
        ordered = _most_cited(tallies)
        sites = tuple(self.cited_site(site, tallies) for site in ordered[:most])
        return Part(simulated, tables, sites, len(ordered) - len(sites))

    def table(self, branded: bool, rows: Sequence[_Row], slugs: Sequence[str]) -> Table:
        lines = (self.line(system_of(slug).label, [row for row in rows if row.provider == slug]) for slug in slugs)
        return Table(branded, tuple(lines), self.line(_("Overall"), rows))

    def line(self, label: str, rows: Sequence[_Row]) -> FigureLine:
        tallies = self.tallies(rows)
        counts = {
            "visibility": metrics.visibility(tallies, BRAND),
            "voice": metrics.share_of_voice(tallies, BRAND, [entity.key for entity in self.entities]),
            "first": metrics.first_named(tallies, BRAND),
            "cited": metrics.cited(tallies, BRAND),
        }
        return FigureLine(
            label,
            {name: metrics.figure(counted) for name, counted in counts.items()},
            metrics.position(tallies, BRAND),
            Counter(reason for row in rows if (reason := _why_left_out(row))),
            least=1,  # a check has few answers by its nature, and says how many
        )

    def tallies(self, rows: Iterable[_Row]) -> list[Tally]:
        return tally((self.answer(row) for row in rows if not _why_left_out(row)), self.entities)

    def answer(self, row: _Row) -> Answer:
        return Answer(
            Cell(row.prompt__key, row.provider, row.surface),
            day_of(row.answered_at, timezone.get_current_timezone()),
            simulated=row.simulated,
            named=tuple(each["key"] for each in row.named),
            hosts=self.hosts.get(row.pk, frozenset()),
        )

    def cited_site(self, site: str, tallies: Sequence[Tally]) -> CitedSite:
        slugs = dict.fromkeys(each.cell.provider for each in tallies if site in each.domains)
        return CitedSite(
            site,
            self.sites.kinds[site],
            metrics.figure(metrics.source_share(tallies, site)),
            tuple(system_of(slug).label for slug in slugs),
        )


def _why_left_out(row: _Row) -> str | None:
    """Why a capture is in no figure. Whether it is simulated is no reason: there are figures of both kinds, apart."""
    reason = why_left_out(
        row.outcome, has_text=True, cached=row.cached, simulated=row.simulated, about_simulated=row.simulated
    )
    return reason or (None if row.matcher else UNREAD)


def _most_cited(tallies: Iterable[Tally]) -> list[str]:
    """The sites by how many answers cite them."""
    citing: Counter[str] = Counter()
    for each in tallies:
        citing.update(each.domains)
    return sorted(filter(None, citing), key=lambda site: (-citing[site], site))
