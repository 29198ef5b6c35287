"""Where the parts of a chart of shares over time stand, in the units of its SVG. Pure: templates draw it, by classes.

A share is a point with its interval; neighbours are joined by a line and a band. Where nothing was measured there is a
gap, never a zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

WIDTH, HEIGHT = 320, 150
LEFT, RIGHT, TOP, BOTTOM = 40, 10, 10, 24  # room around the field for the labels
LEVELS = (0, 25, 50, 75, 100)  # per cent, as lines across
MOST_LABELS = 3  # along the foot
_FIELD_WIDTH, _FIELD_HEIGHT = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM


@dataclass(frozen=True, slots=True)
class Value:
    """What a chart shows of one stretch of time.

    Arguments:
        share, low, high: 0 to 1.
        few: it is of so few answers that it is only hinted at.
        words: what it says, to be read when it is pointed at.
    """

    share: float
    low: float
    high: float
    few: bool = False
    words: str = ""


@dataclass(frozen=True, slots=True)
class Dot:
    x: float
    y: float
    low: float
    high: float
    few: bool
    words: str


@dataclass(frozen=True, slots=True)
class Label:
    """A text of an axis, or a mark over the field."""

    x: float
    y: float
    words: str
    anchor: str = "middle"


@dataclass(frozen=True, slots=True)
class Chart:
    """The parts of a chart.

    Arguments:
        dots: the shares, each with its interval.
        lines: points of lines through neighbours.
        bands: points of the areas between the ends of neighbours' intervals.
        levels: the lines across, with what they stand for.
        feet: labels of stretches of time.
        marks: where something changed that makes before and after less alike.
        beside: points of lines to compare with.
    """

    dots: tuple[Dot, ...]
    lines: tuple[str, ...]
    bands: tuple[str, ...]
    levels: tuple[Label, ...]
    feet: tuple[Label, ...]
    marks: tuple[Label, ...]
    beside: tuple[str, ...] = ()
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    foot: int = HEIGHT - BOTTOM


def chart_of(
    values: Sequence[Value | None],
    labels: Sequence[str],
    marks: Sequence[tuple[float, str]] = (),
    beside: Sequence[Value | None] = (),
) -> Chart:
    """Lay out a chart.

    Arguments:
        values: one for each stretch of time, in order; None where nothing was measured.
        labels: what each stretch is called.
        marks: what happened, and when: 0.0 at the first stretch's middle, 1.0 at the second's.
        beside: others to compare with, as many; they are lines alone.
    """
    count = len(values)
    placed = _placed(values)
    runs = _runs(placed)
    return Chart(
        dots=tuple(dot for _, dot in placed),
        lines=_lines(runs),
        bands=tuple(
            _points([*((dot.x, dot.high) for dot in run), *((dot.x, dot.low) for dot in reversed(run))]) for run in runs
        ),
        levels=tuple(Label(LEFT - 6, _y(level / 100), f"{level} %", "end") for level in LEVELS),
        feet=tuple(_feet(labels)),
        marks=tuple(Label(_x(at, count), TOP, words) for at, words in marks if -0.5 <= at <= count - 0.5),
        beside=_lines(_runs(_placed(beside))),
    )


def _placed(values: Sequence[Value | None]) -> list[tuple[int, Dot]]:
    return [(place, _dot(place, len(values), value)) for place, value in enumerate(values) if value]


def _runs(placed: Sequence[tuple[int, Dot]]) -> list[list[Dot]]:
    return [run for run in _neighbours(placed) if len(run) > 1]


def _lines(runs: Iterable[Sequence[Dot]]) -> tuple[str, ...]:
    return tuple(_points((dot.x, dot.y) for dot in run) for run in runs)


def _neighbours(placed: Sequence[tuple[int, Dot]]) -> Iterator[list[Dot]]:
    """Dots in runs without a gap."""
    for _, run in groupby(enumerate(placed), lambda numbered: numbered[1][0] - numbered[0]):
        yield [dot for _, (_, dot) in run]


def _dot(place: int, count: int, value: Value) -> Dot:
    return Dot(_x(place, count), _y(value.share), _y(value.low), _y(value.high), value.few, value.words)


def _feet(labels: Sequence[str]) -> Iterator[Label]:
    """The first, the last and one between, as far as there is room."""
    count = len(labels)
    shown = sorted({0, count // 2, count - 1}) if count >= MOST_LABELS else range(count)
    for place in shown:
        anchor = "middle"
        if count > 1 and place in (0, count - 1):
            anchor = "end" if place else "start"
        x = LEFT if anchor == "start" else WIDTH - RIGHT if anchor == "end" else _x(place, count)
        yield Label(x, HEIGHT - 6, labels[place], anchor)


def _x(place: float, count: int) -> float:
    """The middle of a stretch of time; all are as wide as another."""
    return round(LEFT + (place + 0.5) * _FIELD_WIDTH / count, 1)


def _y(share: float) -> float:
    return round(TOP + (1 - min(1.0, max(0.0, share))) * _FIELD_HEIGHT, 1)


def _points(places: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in places)
