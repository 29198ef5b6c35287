"""The sites that answers about a brand rest on, over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from capture.analysis.mentions import Entity
from capture.analysis.sources import SourceKind
from capture.reports.columns import system_of
from capture.reports.history_counts import run
from capture.reports.history_scope import ANSWERS, Scope
from capture.reports.sites import kind_in_words, sites_of

# The hosts come first, since only a list that the database does not have says which of them are one site.
HOSTS = f"""
WITH {ANSWERS}
SELECT DISTINCT domain
FROM capture_source
WHERE capture_id IN (SELECT id FROM answers) AND domain <> ''
"""  # noqa: S608  # made of constants

# A site counts once in an answer, however many of its pages are there.
SITES = f"""
WITH {ANSWERS},
cited AS (
    SELECT DISTINCT host.site, answers.id, answers.provider, answers.day
    FROM answers
        JOIN capture_source source ON source.capture_id = answers.id
        JOIN unnest(%(hosts)s::text[], %(sites)s::int[]) host (name, site) ON host.name = source.domain
),
daily AS (
    SELECT site, provider, day, count(*) AS answers FROM cited GROUP BY site, provider, day
)
SELECT site, sum(answers)::bigint, min(day), max(day), count(DISTINCT day), array_agg(DISTINCT provider),
    (SELECT count(*) FROM answers WHERE EXISTS (SELECT FROM capture_source WHERE capture_id = answers.id))
FROM daily
GROUP BY site
ORDER BY 2 DESC, 4 DESC, 1
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


def sites_over_time(scope: Scope, entities: Sequence[Entity]) -> list[SeenSite]:
    """The sites of a period, the most cited first. Two statements.

    Arguments:
        entities: the brand, then its competitors, as they are now.
    """
    parameters = scope.parameters() | {"begin": scope.midnight(scope.since)}
    hosts = [host for (host,) in run(HOSTS, parameters)]
    sites = sites_of(hosts, entities)
    domains = sorted(set(sites.domains.values()))
    numbers = {domain: number for number, domain in enumerate(domains)}
    told = parameters | {"hosts": hosts, "sites": [numbers[sites.domains[host]] for host in hosts]}
    return [
        SeenSite(
            domain := domains[number],
            sites.kinds[domain],
            answers,
            sourced,
            scope.day(first),
            scope.day(last),
            days,
            tuple(system_of(slug).label for slug in slugs),
        )
        for number, answers, first, last, days, slugs, sourced in run(SITES, told)
    ]
