"""A check's page while it goes on: what it shows, and what of that is new to a page that is open already."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from capture.models import Check
from capture.providers import registry
from capture.reports import pace
from capture.reports.board import Board, Group, board_of
from capture.reports.cells import Cell
from capture.reports.glance import Glance, is_busy
from capture.reports.waiting import OF_ALL

# So many codes fit into a header that every server takes. A page with more cells is sent all of them at a change.
MOST_CODES = 1_500

_SHOWN = re.compile(r"([0-9a-f]{32}) ((?:[\w-]{4})*)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Shown:
    """What an open page says that it shows.

    Arguments:
        stamp: as in `Glance`.
        codes: as in `Cell`, in the order of the board; empty where they are not known.
    """

    stamp: str = ""
    codes: tuple[str, ...] = ()

    @classmethod
    def read(cls, text: str) -> Shown:
        """Read what a page has sent; whatever is not understood shows nothing."""
        if not (found := _SHOWN.fullmatch(text)):
            return cls()
        stamp, codes = found.groups()
        return cls(stamp, tuple(codes[start : start + 4] for start in range(0, len(codes), 4)))

    def __str__(self) -> str:
        return f"{self.stamp} {''.join(self.codes)}"


@dataclass(frozen=True)
class Progress:
    """How a check stands, and what can be said about the rest of it."""

    glance: Glance
    board: Board

    @property
    def check(self) -> Check:
        return self.board.check

    @cached_property
    def shown(self) -> Shown:
        cells = self.board.cells
        return Shown(self.glance.stamp, tuple(cell.code for cell in cells) if len(cells) <= MOST_CODES else ())

    def news(self, shown: Shown) -> list[Cell]:
        """The cells that look otherwise than on a page that shows this; all of them where it does not say."""
        cells, codes = self.board.cells, self.shown.codes
        if len(shown.codes) != len(cells):
            return list(cells)
        return [cell for cell, now, then in zip(cells, codes, shown.codes, strict=True) if now != then]

    def groups_of(self, cells: Iterable[Cell]) -> list[Group]:
        """The samples that stand together with some cells, where there are several."""
        anchors = {cell.anchor for cell in cells}
        several = (group for group in self.board.groups if len(group.cells) > 1)
        return [group for group in several if any(cell.anchor in anchors for cell in group.cells)]

    @property
    def holds(self) -> list[str]:
        """What holds open places up beyond their turn, in sentences; the same thing once."""
        systems = defaultdict(list)
        for label, words in dict.fromkeys(self._holds()):
            systems[words].append(label)
        found = [f"{', '.join(labels)}: {words}." for words, labels in systems.items()]
        return [_("Nothing is being asked at the moment. Tell whoever runs AI Control.")] if self._idle else found

    @property
    def _idle(self) -> bool:
        return bool(self.board.open and not self.glance.alive)

    def _holds(self) -> Iterator[tuple[str, str]]:
        waits = ((cell.system.label, cell.wait) for cell in self.board.cells if cell.wait and cell.wait.kind in OF_ALL)
        for label, wait in dict.fromkeys(waits):
            yield label, wait.told
        for system in self.board.systems:
            lane = self.glance.lanes.get(_lane(system.slug))
            if lane and is_busy(lane) and self.loads[lane.name].line:
                words = ngettext(
                    "the one place of the account is taken; the next question is asked when it is free",
                    "all %(limit)s places of the account are taken; the next question is asked when one is free",
                    lane.limit,
                )
                yield system.label, words % {"limit": lane.limit}

    @cached_property
    def loads(self) -> dict[str, pace.Load]:
        """What is waited for, by lane, as far as it was measured how long it takes."""
        waited = defaultdict(list)
        for cell in self.board.cells:
            if cell.is_open:
                waited[_lane(cell.system.slug)].append(cell)
        lengths = pace.lengths()
        return {name: pace.Load(_lengths(cells, lengths), _line(cells)) for name, cells in waited.items()}

    @property
    def left(self) -> str:
        """How long the rest takes, in words; empty where that cannot be told."""
        seconds = pace.seconds_of(self.loads, self.glance.lanes) if self.glance.alive else None
        return "" if seconds is None else pace.in_words(seconds)


def progress_of(glance: Glance) -> Progress:
    return Progress(glance, board_of(glance.check, glance))


def _lengths(cells: list[Cell], lengths: pace.Lengths) -> tuple[float, ...]:
    return pace.known(((cell.system.slug, cell.simulated) for cell in cells), lengths)


def _line(cells: list[Cell]) -> int:
    """Jobs in line up to the last of these; those that are put off come after them."""
    ahead = [cell.wait.ahead for cell in cells if cell.wait and cell.wait.ahead is not None]
    off = sum(cell.since is None and (cell.wait is None or cell.wait.ahead is None) for cell in cells)
    return max(ahead, default=-1) + 1 + off


def _lane(slug: str) -> str:
    provider = registry.by_slug.get(slug)
    return provider.lane if provider else ""
