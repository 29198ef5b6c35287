"""The share of voice of a brand and of each of its competitors over time, added up by the database.

A statement of its own: telling apart whom each answer names is as much work as all figures of the brand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from capture.analysis.intervals import Spread, interval_of_spread
from capture.analysis.metrics import Figure
from capture.reports.history_counts import NOTHING, run
from capture.reports.history_scope import ANSWERS, DAY, RIVALS, STRETCH, Scope

BRAND = 0  # stands for the brand among the keys of its competitors
WHOLE = -1  # stands for the whole period among the numbers of its stretches

# Of a day of a cell there are the votes of all and of each. What all have in common (`heard`) is told apart from what
# is each one's own (`own`): without a vote on some day, one's share of that day is zero and need not be written down.
# Sums of shares and of their squares make a cell's mean and variance over its days.
VOICES = f"""
WITH answers AS MATERIALIZED (
    SELECT cell, provider, {DAY} AS day,
        CASE WHEN rank IS NULL THEN '{{}}' ELSE ARRAY[{BRAND}::bigint] END || ({RIVALS}) AS named
    {ANSWERS}
),
daily AS MATERIALIZED (
    SELECT cell, provider, day, {STRETCH} AS stretch, count(*)::int AS answers,
        sum(cardinality(named))::int AS votes
    FROM answers
    GROUP BY cell, provider, day
),
heard AS MATERIALIZED (
    SELECT cell, provider, coalesce(stretch, {WHOLE}) AS stretch, sum(answers) AS all_answers, sum(votes) AS votes,
        count(*) FILTER (WHERE votes > 0) AS days, sum(answers) FILTER (WHERE votes > 0) AS answers,
        min(day) FILTER (WHERE votes > 0) AS first, max(day) FILTER (WHERE votes > 0) AS last
    FROM daily
    GROUP BY GROUPING SETS ((cell, provider, stretch), (cell, provider))
),
votes AS (
    SELECT cell, stretch, whom, count(*)::int AS hits, min(votes) AS votes
    FROM (SELECT cell, day, stretch, votes, unnest(named) AS whom FROM answers JOIN daily USING (cell, day)) named
    GROUP BY cell, day, stretch, whom
),
steps AS (
    SELECT whom, cell, stretch, sum(hits) AS hits, sum(hits::float8 / votes) AS shares,
        sum((hits::float8 / votes) * (hits::float8 / votes)) AS squares
    FROM votes
    GROUP BY whom, cell, stretch
),
own AS (
    SELECT whom, cell, coalesce(stretch, {WHOLE}) AS stretch, sum(hits) AS hits, sum(shares) AS shares,
        sum(squares) AS squares
    FROM steps
    GROUP BY GROUPING SETS ((whom, cell, stretch), (whom, cell))
),
varied AS (
    SELECT whom, provider, stretch, own.hits, shares / days AS mean,
        CASE WHEN days > 1 THEN greatest(squares - shares * shares / days, 0) / (days - 1) END AS variance, days
    FROM own JOIN heard USING (cell, stretch)
)
SELECT NULL AS whom, provider, stretch,
    count(*) FILTER (WHERE days > 0), count(*) FILTER (WHERE days > 1), sum(days)::bigint,
    coalesce(sum(answers), 0)::bigint, sum(all_answers)::bigint, sum(votes)::bigint,
    coalesce(min(first) = max(last), false), NULL::bigint, NULL, NULL, NULL
FROM heard
GROUP BY GROUPING SETS ((provider, stretch), (stretch))
UNION ALL
SELECT whom, provider, stretch, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    sum(hits)::bigint, sum(mean), coalesce(sum(variance), 0), coalesce(sum(variance / days), 0)
FROM varied
GROUP BY GROUPING SETS ((whom, provider, stretch), (whom, stretch))
"""  # noqa: S608  # made of constants


@dataclass(frozen=True, slots=True)
class _Heard:
    """What the shares of all have in common.

    Arguments:
        cells, varying, days, answers: see `capture.analysis.intervals.Spread`.
        all_answers: also of days on which an answer names nobody.
        votes: how often anybody is named.
        single_check: all is of one day.
    """

    cells: int
    varying: int
    days: int
    answers: int
    all_answers: int
    votes: int
    single_check: bool


@dataclass(frozen=True, slots=True)
class _Own:
    """What is one's own: votes, and the sums that make an interval."""

    hits: int = 0
    means: float = 0.0
    variances: float = 0.0
    of_means: float = 0.0


_Place = tuple[str | None, int]  # a system, or None for all; a stretch, or the whole


@dataclass(frozen=True, slots=True)
class Voices:
    """The shares of voice of a brand and its competitors, who are told by their keys and the brand by `BRAND`."""

    heard: Mapping[_Place, _Heard]
    own: Mapping[tuple[int, str | None, int], _Own]

    def of(self, whom: int, system: str | None = None) -> Figure:
        """The figure of the whole period."""
        return self.at(WHOLE, whom, system)

    def at(self, stretch: int, whom: int, system: str | None = None) -> Figure:
        """The figure of one stretch of it."""
        heard = self.heard.get((system, stretch))
        return _figure(heard, self.own.get((whom, system, stretch), _Own())) if heard else NOTHING

    @property
    def systems(self) -> list[str]:
        """The systems with any answer that counts."""
        return sorted({system for system, _ in self.heard if system})

    def loudest(self, rivals: Iterable[int]) -> list[int]:
        """Competitors by how often they are named in the period; of equal ones the older first."""
        return sorted(rivals, key=lambda rival: (-self.of(rival).hits, rival))


def voices_of(scope: Scope, rivals: Sequence[int]) -> Voices:
    """Add up the shares of voice of a period, in one query; of none where there is no competitor.

    Arguments:
        rivals: the keys of the competitors.
    """
    told = scope.parameters() | {"rivals": list(rivals), "begin": scope.midnight(scope.since)}
    rows = run(VOICES, told) if rivals else []
    heard = {(system, stretch): _Heard(*counts[:7]) for whom, system, stretch, *counts in rows if whom is None}
    own = {(whom, system, stretch): _Own(*counts[7:]) for whom, system, stretch, *counts in rows if whom is not None}
    return Voices(heard, own)


def _figure(heard: _Heard, own: _Own) -> Figure:
    spread = Spread(heard.cells, own.means, heard.varying, own.variances, own.of_means, heard.days, heard.answers)
    interval = interval_of_spread(spread, single_check=heard.single_check)
    return Figure(own.hits, heard.votes, heard.all_answers, interval)
