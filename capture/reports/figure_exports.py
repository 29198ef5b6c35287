"""The figures of a check as records, for files that people take elsewhere: numerators and denominators, and what is
made of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from capture.analysis.metrics import Figure, Position
from capture.models import Check
from capture.reports.figures import FigureLine
from capture.reports.summary import CitedSite, Part, Summary, Table, summary_of

Record = dict[str, Any]

# What there is to say of every figure, in its order.
MEASURE = ("hits", "of", "answers", "percent", "low_percent", "high_percent", "single_check")
FIGURE = ("brand", "simulated", "branded_questions", "system", "figure", *MEASURE, "mean", "left_out", "check")
SITE = ("brand", "simulated", "domain", "kind", "systems", *MEASURE, "check")


def figure_rows(check: Check) -> Iterator[list[Any]]:
    """A table of figures: its heading, then a row for each figure of each AI system, and of all of them."""
    yield list(FIGURE)
    for part, table, line in _lines(summary_of(check, most=0)):
        for record in _figure_records(line):
            about = _about(check) | {"simulated": part.simulated, "branded_questions": table.branded}
            yield cells(about | record, FIGURE)


def site_rows(check: Check) -> Iterator[list[Any]]:
    """A table of the sites that answers cite: its heading, then a row for each."""
    yield list(SITE)
    for part in summary_of(check, most=None).parts:
        for site in part.sites:
            yield cells(_about(check) | {"simulated": part.simulated} | _site_record(site), SITE)


def summary_json(check: Check) -> str:
    """All of it as one JSON object."""
    summary = summary_of(check, most=None)
    return json.dumps(_about(check) | {"parts": [_part_record(part) for part in summary.parts]}, ensure_ascii=False)


def measure(figure: Figure) -> Record:
    """What there is to say of a figure; of what was not measured there is no percentage."""
    low, high = figure.bounds or (None, None)
    return {
        "hits": figure.hits,
        "of": figure.of,
        "answers": figure.answers,
        "percent": _percent(figure.share),
        "low_percent": _percent(low),
        "high_percent": _percent(high),
        "single_check": figure.single_check,
    }


def place(position: Position) -> Record:
    """What there is to say of the mean place among those named: no share, but a mean over the answers that name it."""
    mean = None if position.mean is None else round(position.mean, 2)
    return {"figure": "position", "answers": position.answers, "mean": mean}


def cells(record: Record, columns: tuple[str, ...]) -> list[Any]:
    """A record as a row of a table."""
    return [
        {True: "yes", False: "no"}[value] if isinstance(value, bool) else value for value in map(record.get, columns)
    ]


def _lines(summary: Summary) -> Iterator[tuple[Part, Table, FigureLine]]:
    for part in summary.parts:
        for table in part.tables:
            for line in (*table.lines, table.overall):
                yield part, table, line


def _about(check: Check) -> Record:
    return {"check": str(check.uuid), "brand": check.names["brand"]["name"]}


def _figure_records(line: FigureLine) -> Iterator[Record]:
    left_out = "; ".join(f"{count} {reason}" for count, reason in line.reasons)
    for name, figure in line.figures.items():
        yield {"system": line.label, "figure": name} | measure(figure) | {"left_out": left_out}
    yield {"system": line.label} | place(line.position) | {"left_out": left_out}


def _part_record(part: Part) -> Record:
    lines = (
        record | {"branded_questions": table.branded}
        for table in part.tables
        for line in (*table.lines, table.overall)
        for record in _figure_records(line)
    )
    return {"simulated": part.simulated, "figures": list(lines), "sites": [_site_record(site) for site in part.sites]}


def _site_record(site: CitedSite) -> Record:
    return {"domain": site.domain, "kind": site.kind.value, "systems": ", ".join(site.systems)} | measure(site.share)


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 1)
