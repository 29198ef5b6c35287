"""The figures of a brand over time, added up by the database: from answers to days of cells, to cells, to spreads.

All stages are in one statement, so that nothing of a hundred thousand answers is sent but what a page shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db import connection, transaction

from capture.analysis.intervals import Spread, interval_of_spread
from capture.analysis.metrics import Change, Figure, Position, change_between
from capture.reports.history_scope import ANSWERS, DAY, RIVALS, STRETCH, Scope

# What is counted on one day of one cell: the numerator and the denominator of each metric.
COUNTED = {
    "visibility": ("naming", "answers"),
    "voice": ("naming", "voices"),
    "first": ("first", "answers"),
}

# Of a cell, for one metric: see `capture.analysis.intervals.CellSummary`. Days with nothing to count do not count.
_CELL = """
    count(*) FILTER (WHERE {of} > 0) AS {name}_days,
    avg({hits}::float8 / nullif({of}, 0)) AS {name}_mean,
    var_samp({hits}::float8 / nullif({of}, 0)) AS {name}_variance,
    sum({hits}) FILTER (WHERE {of} > 0) AS {name}_hits,
    sum({of}) AS {name}_of,
    sum(answers) FILTER (WHERE {of} > 0) AS {name}_answers,
    min(day) FILTER (WHERE {of} > 0) AS {name}_first,
    max(day) FILTER (WHERE {of} > 0) AS {name}_last
"""

# One row of a cell for each metric, so that what follows is the same for all of them.
_ROW = """
    ('{name}', {name}_days, {name}_mean, {name}_variance, {name}_hits, {name}_of, {name}_answers, {name}_first,
        {name}_last)
"""


def _each(template: str) -> str:
    parts = (template.format(name=name, hits=hits, of=of) for name, (hits, of) in COUNTED.items())
    return ",".join(parts)


# `stretch` is -1 before the period, and null in sums over a whole period; without a system they are over all of them.
# Counts are narrow integers, since sums of wide ones are slow.
FIGURES = f"""
WITH answers AS MATERIALIZED (
    SELECT question, cell, provider, matcher, edition, rank, cardinality({RIVALS}) AS rivals, {DAY} AS day
    {ANSWERS}
),
daily AS (
    SELECT question, cell, provider, day, {STRETCH} AS stretch, day <= %(days)s AS earlier,
        count(*)::int AS answers,
        count(rank)::int AS naming,
        (count(*) FILTER (WHERE rank = 1))::int AS first,
        coalesce(sum(rank), 0)::int AS ranks,
        CASE WHEN cardinality(%(rivals)s::bigint[]) > 0 THEN (count(rank) + sum(rivals))::int ELSE 0 END AS voices,
        min(matcher) AS matcher, max(matcher) AS last_matcher,
        min(edition) AS edition, max(edition) AS last_edition
    FROM answers
    GROUP BY question, cell, provider, day
),
cells AS (
    SELECT question, cell, provider, stretch, earlier, sum(ranks) AS ranks, sum(answers) AS all_answers,
        {_each(_CELL)}
    FROM daily
    GROUP BY GROUPING SETS ((question, cell, provider, stretch), (question, cell, provider, earlier))
    HAVING stretch IS DISTINCT FROM -1
),
measured AS (
    SELECT cells.question, cells.provider, cells.stretch, cells.earlier, cells.ranks, cells.all_answers, one.*,
        cells.stretch IS NULL AND bool_or(cells.earlier AND one.days > 0) OVER basket
            AND bool_or(NOT cells.earlier AND one.days > 0) OVER basket AS shared
    FROM cells, LATERAL (VALUES {_each(_ROW)})
        one (metric, days, mean, variance, hits, base, answers, first_day, last_day)
    WHERE cells.stretch IS NULL OR one.metric IN ('visibility', 'voice')
    WINDOW basket AS (PARTITION BY one.metric, cells.provider, cells.question, cells.stretch IS NULL)
)
SELECT metric, provider, stretch, earlier, of_shared,
    count(*) FILTER (WHERE days > 0), coalesce(sum(mean), 0),
    count(variance), coalesce(sum(variance), 0), coalesce(sum(variance / days), 0),
    sum(days)::bigint, coalesce(sum(answers), 0)::bigint, coalesce(sum(hits), 0)::bigint, sum(base)::bigint,
    sum(all_answers)::bigint, coalesce(min(first_day) = max(last_day), false), sum(ranks)::bigint,
    (SELECT min(matcher) = max(last_matcher) AND min(edition) = max(last_edition) FROM daily)
FROM measured, LATERAL (VALUES (false), (true)) wanted (of_shared)
WHERE NOT of_shared OR shared
GROUP BY GROUPING SETS ((metric, provider, stretch, earlier, of_shared), (metric, stretch, earlier, of_shared))
"""  # noqa: S608  # made of constants

NOTHING = Figure(0, 0, 0, None)


class Sum(NamedTuple):
    """Of what a figure is.

    Arguments:
        system: its slug; None for all.
        stretch: its number; None for a whole period.
        earlier: of the period before; None for a stretch.
        shared: only what is asked in both periods.
    """

    metric: str
    system: str | None = None
    stretch: int | None = None
    earlier: bool | None = None
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Figures:
    """What was added up.

    Arguments:
        alike: all answers were searched for the same names by the same rules.
    """

    found: Mapping[Sum, Figure]
    ranks: Mapping[Sum, int]
    alike: bool

    def of(self, metric: str, system: str | None = None) -> Figure:
        """The figure of the whole period."""
        return self.found.get(Sum(metric, system, earlier=False), NOTHING)

    def at(self, stretch: int, metric: str, system: str | None = None) -> Figure:
        """The figure of one stretch of it."""
        return self.found.get(Sum(metric, system, stretch), NOTHING)

    def change(self, metric: str, system: str | None = None) -> Change:
        """How it has changed since the period before, over what is asked in both."""
        before, after = (
            self.found.get(Sum(metric, system, earlier=earlier, shared=True), NOTHING) for earlier in (True, False)
        )
        return change_between(before, after, comparable=self.alike)

    def position(self, system: str | None = None) -> Position:
        whole = Sum("visibility", system, earlier=False)
        return Position(self.ranks.get(whole, 0), self.found.get(whole, NOTHING).hits)

    @property
    def systems(self) -> list[str]:
        """The systems with any answer that counts, in either period."""
        return sorted({each.system for each in self.found if each.system})


def figures_of(scope: Scope, rivals: Sequence[int]) -> Figures:
    """Add up the figures of a brand, in one query.

    Arguments:
        rivals: the keys of its competitors.
    """
    parameters = scope.parameters() | {"rivals": list(rivals)}
    rows = {Sum(*row[:5]): row[5:] for row in run(FIGURES, parameters)}
    return Figures(
        found={whose: _figure(*counts) for whose, (*counts, _, _) in rows.items()},
        ranks={whose: ranks for whose, (*_, ranks, _) in rows.items()},
        alike=all(alike for *_, alike in rows.values()),
    )


def run(sql: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """The rows of a statement that adds up much."""
    with transaction.atomic(), connection.cursor() as cursor:
        # It is to run in memory. Compiling it to machine code takes longer than running it; and as the planner takes
        # groups to be few, it would sort what is quicker to hash.
        cursor.execute(
            "SET LOCAL work_mem = '64MB'; SET LOCAL jit = off; SET LOCAL enable_sort = off; "
            "SET LOCAL enable_mergejoin = off"
        )
        cursor.execute(sql, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _figure(
    cells: int,
    means: float,
    varying: int,
    variances: float,
    of_means: float,
    days: int,
    answers: int,
    hits: int,
    base: int,
    all_answers: int,
    single_check: bool,
) -> Figure:
    spread = Spread(cells, means, varying, variances, of_means, days, answers)
    return Figure(hits, base, all_answers, interval_of_spread(spread, single_check=single_check))
