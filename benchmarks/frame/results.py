"""What was found, as it is kept: one JSON file, of which each benchmark that was run replaces its own part."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.frame import machine, page
from benchmarks.frame.found import Found, Measured, Table
from benchmarks.frame.server import folder
from benchmarks.frame.world import World

Told = dict[str, Any]  # what stands in the file of one benchmark

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
RESULTS, PAGE = DOCS / "benchmarks.json", DOCS / "benchmarks.md"


def told(found: Found, world: World) -> Told:
    """All of it that can be written down, with when and where it was measured."""
    return {
        "title": found.title,
        "says": list(found.says),
        "settings": found.settings,
        "tables": [_table(table) for table in found.tables],
        "requirements": [vars(requirement) for requirement in found.requirements],
        "measured": {
            "at": datetime.now(UTC).isoformat(timespec="minutes"),
            "rounds": world.rounds,
            "seed": world.seed,
            **machine.described(world.server),
        },
    }


def _table(table: Table) -> Told:
    return {"unit": table.unit, "digits": table.digits, "rows": [_row(row, table.to) for row in table.rows]} | (
        {"to": table.to.what} if table.to else {}
    )


def _row(row: Measured, to: Measured | None) -> Told:
    values = {"what": row.what, "median": row.median, "values": list(row.values)}
    return values | ({"ratio": row.over(to)} if to else {})


def keep(found: dict[str, Told], world: World) -> None:
    """Write what was found; a full run's into docs, with the page that is made of it."""
    path = folder() / "quick.json" if world.quick else RESULTS
    known = json.loads(path.read_text()) if path.exists() and not world.quick else {}
    path.write_text(json.dumps(known | found, indent=1, ensure_ascii=False) + "\n")
    if not world.quick:
        PAGE.write_text(page.whole(known | found))
