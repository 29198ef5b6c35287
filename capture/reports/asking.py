"""What a button would ask: how many questions, and for how much. Said on it before anybody presses it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from django.utils.translation import gettext as _

from capture import systems
from capture.formatting.money import dollars
from capture.models import Outcome
from capture.reports.board import Board
from capture.reports.cells import Cell


@dataclass(frozen=True, slots=True)
class Asking:
    """Places that can be asked now.

    Arguments:
        kind: which places of a check they are, as a form names them; empty for all.
        count: how many there are.
        cost: US dollars, probably; simulated answers cost nothing.
    """

    kind: str
    count: int
    cost: Decimal

    @property
    def price(self) -> str:
        """Its cost in words."""
        return _("about %(cost)s") % {"cost": dollars(self.cost)} if self.cost else _("free")


def without_answer(board: Board, kind: str = "") -> list[Cell]:
    """The places that are over and have no answer.

    Arguments:
        kind: `cancelled` for those that were called off, `unanswered` for the others; empty for both.
    """
    over = (cell for cell in board.cells if not cell.is_open and cell.outcome is not Outcome.ANSWERED)
    return [cell for cell in over if kind in {"", "cancelled" if cell.outcome is Outcome.CANCELLED else "unanswered"}]


def asking(cells: Iterable[Cell], kind: str = "") -> Asking:
    """What it is to ask these places, without those whose system cannot be asked here."""
    estimates, free = systems.estimates(), systems.simulated()
    slugs = [cell.system.slug for cell in cells if cell.system.slug in estimates]
    return Asking(kind, len(slugs), sum((estimates[slug] for slug in slugs if slug not in free), Decimal(0)))


def asking_again(board: Board) -> list[Asking]:
    """What can be asked again: nothing while anything is open, and what was called off apart from the rest."""
    if board.open:
        return []
    found = (asking(without_answer(board, kind), kind) for kind in ("unanswered", "cancelled"))
    return [each for each in found if each.count]
