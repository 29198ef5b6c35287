"""A figure of a brand's history over time, drawn and in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from capture.analysis.metrics import NOTHING, Figure
from capture.charts import Chart, Value, chart_of
from capture.reports.figures import Heading
from capture.reports.history_marks import Mark
from capture.reports.history_scope import Scope


@dataclass(frozen=True, slots=True)
class Drawing:
    """One metric over time, at one AI system or of one competitor.

    Arguments:
        slug: tells it from others of that metric.
        label: whose it is.
    """

    slug: str
    label: str
    heading: Heading
    chart: Chart
    words: str


def drawing_of(
    slug: str,
    label: str,
    heading: Heading,
    figures: Sequence[Figure],
    scope: Scope,
    marks: Iterable[Mark],
    beside: tuple[str, Sequence[Figure]] | None = None,
) -> Drawing:
    """Draw figures.

    Arguments:
        figures: of each stretch of time.
        beside: whose figures are drawn as a plain line to compare with, and these.
    """
    labels = labels_of(scope)
    values = _values(figures, labels)
    words = _in_words(values, figures)
    others: Sequence[Value | None] = ()
    if beside:
        others = _values(beside[1], labels)
        words = f"{words}. {beside[0]}: {_in_words(others, beside[1])}"
    places = [(_place(mark.day, scope), mark.words) for mark in marks]
    return Drawing(slug, label, heading, chart_of(values, labels, places, others), words)


def labels_of(scope: Scope) -> list[str]:
    """What the stretches of time are called: by their first days."""
    return [date_format(day, "j M Y" if scope.days > 364 else "j M") for day in scope.stretches]


def stretch_in_words(scope: Scope) -> str:
    number = scope.stretch
    return ngettext("%(number)s day a step", "%(number)s days a step", number) % {"number": number}


def _place(day: date, scope: Scope) -> float:
    """Where a day's beginning stands among the stretches, 0 being the middle of the first."""
    return (day - scope.stretches[0]).days / scope.stretch - 0.5


def _values(figures: Sequence[Figure], labels: Sequence[str]) -> list[Value | None]:
    return [_value(figure, label) for figure, label in zip(figures, labels, strict=True)]


def _value(figure: Figure, label: str) -> Value | None:
    if figure.share is None or figure.bounds is None:
        return None
    return Value(figure.share, *figure.bounds, few=figure.is_of_few, words=f"{label}: {figure.text()}")


def _in_words(values: Sequence[Value | None], figures: Sequence[Figure]) -> str:
    """A drawing for those who do not see it; all of it is in the table as well."""
    measured = [value for value in values if value]
    if not measured:
        return NOTHING if any(figure.measured for figure in figures) else _("not measured")
    if len(measured) == 1:
        return measured[0].words
    return _("from %(first)s to %(last)s") % {"first": measured[0].words, "last": measured[-1].words}
