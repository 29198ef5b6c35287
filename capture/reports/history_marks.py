"""What makes figures of a brand before and after a day less alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from django.db.models import Min
from django.utils.translation import gettext as _

from capture.analysis.answers import day_of
from capture.models import Gist, HistoryMark
from capture.reports.columns import system_of
from capture.reports.history_scope import Scope


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that makes figures before and after it less alike.

    Arguments:
        system: the AI system whose figures; None for all.
    """

    day: date
    words: str
    system: str | None = None


def marks_of(scope: Scope) -> tuple[Mark, ...]:
    """Those of a period, the same on one day once, in order of time. Two queries."""
    marks = [*_name_marks(scope), *_model_marks(scope)]
    return tuple(sorted(dict.fromkeys(marks), key=lambda mark: (mark.day, mark.words)))


def _name_marks(scope: Scope) -> Iterator[Mark]:
    words = {HistoryMark.Kind.NAMES: _("names changed"), HistoryMark.Kind.MATCHER: _("rules for finding names changed")}
    begin, end = scope.midnight(scope.since), scope.midnight(scope.until + timedelta(days=1))
    for kind, at in scope.brand.marks.filter(at__gte=begin, at__lt=end).values_list("kind", "at"):
        yield Mark(day_of(at, scope.zone), words[HistoryMark.Kind(kind)])


def _model_marks(scope: Scope) -> Iterator[Mark]:
    """Where a system answers by a model for the first time, other than the first that is known."""
    answers = Gist.objects.filter(
        brand=scope.brand,
        simulated=scope.simulated,
        answered_at__gte=scope.midnight(scope.before),
        answered_at__lt=scope.midnight(scope.until + timedelta(days=1)),
    )
    if scope.systems:
        answers = answers.filter(provider__in=scope.systems)
    known: set[str] = set()
    for provider, model, first in (
        answers.values_list("provider", "model").annotate(first=Min("answered_at")).order_by("first")
    ):
        day = day_of(first, scope.zone)
        if provider in known and model and day >= scope.since:
            words = _("%(system)s answers by %(model)s") % {"system": system_of(provider).label, "model": model}
            yield Mark(day, words, provider)
        known.add(provider)
