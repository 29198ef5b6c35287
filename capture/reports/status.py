"""How a check stands, for programs and for those who wait for it in a terminal."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.urls import reverse

from capture.models import Check, Status, Worker
from capture.reports.board import Board, board_of
from capture.reports.cells import Cell
from capture.reports.columns import System


def check_url(check: Check) -> str:
    """The path of a check's page."""
    return reverse("capture:check", args=[check.uuid])


def check_status(check: Check) -> dict[str, Any]:
    """How a check stands, for programs."""
    return status_of(board_of(check))


def status_of(shown: Board) -> dict[str, Any]:
    """The same as `check_status`, of a board that was read already."""
    return {
        "check": str(shown.check.uuid),
        "url": check_url(shown.check),
        "counts": _counts(shown),
        "jobs": [_job(cell) for cell in shown.cells],
    }


def _counts(shown: Board) -> dict[str, int]:
    found = Counter(cell.status for cell in shown.cells)
    by_status = {status.value: found[status] for status in Status}
    return {**by_status, "total": shown.total, "open": shown.open, "answered": shown.answered}


def _job(cell: Cell) -> dict[str, Any]:
    return {
        "prompt": cell.prompt.text,
        "provider": cell.system.slug,
        "sample": cell.sample,
        "status": cell.status.value,
        "outcome": cell.outcome.value if cell.outcome else None,
        "attempts": cell.attempts,
        "simulated": cell.simulated,
        "reason": cell.reason,
    }


def unserved(shown: Board) -> list[System]:
    """The AI systems with open jobs that no living worker asks."""
    served = {slug for worker in Worker.objects.alive() for slug in worker.providers}
    wanted = {cell.system.slug for cell in shown.cells if cell.is_open}
    return [system for system in shown.systems if system.slug in wanted - served]
