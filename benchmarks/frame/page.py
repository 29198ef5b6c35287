"""docs/benchmarks.md, made of the results and of nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, groupby
from typing import Any

HEAD = """# Benchmarks

What this queue costs, beside the queues that somebody would otherwise take and beside what no program could do better.
`bin/bench` has written this page and `benchmarks.json` beside it; `bin/bench NAME` measures one part again.

All that stands in one table was measured in one run on one PostgreSQL, turn and turn about. A machine's speed drifts,
so **compare ratios and not figures**: each is the median of the ratios of the rounds. Everybody's settings are those
that their documents advise, and stand below *Throughput*; nothing of ours is tuned that a user would not have.

What is asked for below a table is what this project asks of itself, whether or not it holds. A job here is a paid call
that takes seconds to minutes: how fast a worker gets through jobs matters less than what it writes down of each, and
that it holds neither a thread nor a connection for it meanwhile. Who has many jobs that take no time, or needs one
picked up within few milliseconds, is better off with one of the others.
"""


def whole(results: dict[str, Any]) -> str:
    """The page."""
    return "\n".join([HEAD, *(part(one) for one in results.values())])


def part(one: dict[str, Any]) -> str:
    """What it says of one benchmark."""
    return "\n".join(_lines(one))


def _lines(one: dict[str, Any]) -> Iterator[str]:
    yield f"## {one['title']}\n"
    for paragraph in one["says"]:
        yield f"{paragraph}\n"
    for same, group in groupby(one["tables"], key=_rows):
        tables = list(group)
        yield from _side_by_side(tables) if same else chain(*map(_table, tables))
    for required in one["requirements"]:
        holds = "holds" if required["holds"] else "**does not hold**"
        yield f"- {required['what']}; it is {required['value']:.3g} {required['unit']}: {holds}"
    if one["requirements"]:
        yield ""
    if one["settings"]:
        yield f"Settings. {' '.join(f'{who}: {what}.' for who, what in one['settings'].items())}\n"
    yield f"Measured {_measured(one['measured'])}\n"


def _rows(table: dict[str, Any]) -> tuple[str, ...]:
    """What the rows of a table without ratios are, by which several can stand in one; of one with ratios nothing."""
    return () if "to" in table else tuple(row["what"] for row in table["rows"])


def _side_by_side(tables: list[dict[str, Any]]) -> Iterator[str]:
    """Medians only; what each round has found is in the JSON file."""
    yield f"| | {' | '.join(table['unit'] for table in tables)} |"
    yield f"|---|{'---:|' * len(tables)}"
    for rows in zip(*(table["rows"] for table in tables), strict=True):
        cells = (f"{row['median']:,.{table['digits']}f}" for row, table in zip(rows, tables, strict=True))
        yield f"| {rows[0]['what']} | {' | '.join(cells)} |"
    yield ""


def _table(table: dict[str, Any]) -> Iterator[str]:
    to, digits = table.get("to"), table["digits"]
    yield f"| | {table['unit']} | least and most of the rounds |{f' ÷ {to} |' if to else ''}"
    yield f"|---|---:|---:|{'---:|' if to else ''}"
    for row in table["rows"]:
        least, most = min(row["values"]), max(row["values"])
        ratio = f" {row['ratio']:.2f} |" if to else ""
        yield f"| {row['what']} | {row['median']:,.{digits}f} | {least:,.{digits}f}, {most:,.{digits}f} |{ratio}"
    yield ""


def _measured(it: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in it["versions"].items())
    return (
        f"{it['at']}, rounds: {it['rounds']}, seed {it['seed']}, on {it['processor']}, {it['cores']} cores, "
        f"{it['memory']}, {it['system']}, load {it['load']} at the end, fsync {it['fsync']}; {versions}."
    )
