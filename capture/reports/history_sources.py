"""The sites that answers about a brand rest on, over time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from capture.analysis.sites import KINDS
from capture.analysis.sources import SourceKind
from capture.reports.columns import system_of
from capture.reports.history_counts import run
from capture.reports.history_scope import ANSWERS, DAY, Scope
from capture.reports.sites import kind_in_words

# Days and systems are gathered as bits, which is quicker than telling apart as many pairs as there are sources.
SITES = f"""
WITH answers AS MATERIALIZED (
    SELECT provider, sites, kinds, {DAY} AS day
    {ANSWERS} AND sites <> '{{}}'
),
days AS (
    SELECT day, set_bit(repeat('0', 2 * %(days)s)::varbit, day - 1, 1) AS bit
    FROM generate_series(1, 2 * %(days)s) day
),
systems AS (
    SELECT provider, 1::bigint << (row_number() OVER (ORDER BY provider) - 1)::int AS bit
    FROM answers
    GROUP BY provider
),
cited AS (
    SELECT day, days.bit AS day_bit, systems.bit AS system_bit, unnest(sites) AS site, unnest(kinds) AS kind
    FROM answers JOIN days USING (day) JOIN systems USING (provider)
),
sites AS (
    SELECT site, min(kind) AS kind, count(*) AS answers, min(day) AS first, max(day) AS last,
        bit_count(bit_or(day_bit)) AS days, bit_or(system_bit) AS systems
    FROM cited
    WHERE site <> ''
    GROUP BY site
)
SELECT site, kind, answers, (SELECT count(*) FROM answers), first, last, days,
    ARRAY(SELECT provider FROM systems WHERE systems.bit & sites.systems <> 0 ORDER BY provider)
FROM sites
ORDER BY answers DESC, last DESC, site COLLATE "C"
"""  # noqa: S608  # made of constants


@dataclass(frozen=True, slots=True)
class SeenSite:
    """A site as answers of a period cite it.

    Arguments:
        answers: how many do.
        of: how many have any source.
        first, last: the first and the last day on which one did, within the period.
        days: on how many days one did.
        systems: the labels of the AI systems.
    """

    domain: str
    kind: SourceKind
    answers: int
    of: int
    first: date
    last: date
    days: int
    systems: tuple[str, ...]

    @property
    def kind_words(self) -> str:
        return kind_in_words(self.kind)


def sites_over_time(scope: Scope) -> list[SeenSite]:
    """The sites of a period, the most cited first. One query."""
    return [
        SeenSite(
            domain,
            KINDS[kind],
            answers,
            sourced,
            scope.day(first),
            scope.day(last),
            days,
            tuple(system_of(slug).label for slug in slugs),
        )
        for domain, kind, answers, sourced, first, last, days, slugs in run(
            SITES, scope.parameters() | {"begin": scope.midnight(scope.since)}
        )
    ]
