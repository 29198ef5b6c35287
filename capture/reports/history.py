"""A brand's history: its figures over time, what has changed, and what makes before and after less alike."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property

from django.db.models import Min
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from capture.analysis.answers import day_of
from capture.analysis.metrics import NOTHING, Change, Figure, Verdict
from capture.charts import Chart, Value, chart_of
from capture.models import Gist, HistoryMark
from capture.reports.columns import system_of
from capture.reports.figures import FigureLine, Heading, headings
from capture.reports.history_counts import COUNTED, Figures, figures_of, run
from capture.reports.history_scope import Scope

# What is drawn over time; the others stand in the table of the period.
DRAWN = ("visibility", "voice")

# What is in no figure, by the reason: what brought no answer, and answers that do not count. The condition of them is
# that of the index `capture_in_no_figure`. What was called off before it was asked is of no kind.
LEFT_OUT = """
SELECT capture.provider,
    CASE WHEN capture.outcome <> 'answered' THEN capture.outcome WHEN capture.cached THEN 'cached' ELSE 'unread' END,
    count(*)
FROM capture_check asked
    JOIN capture_capture capture ON capture.of_check_id = asked.id
    JOIN capture_prompt prompt ON prompt.id = capture.prompt_id
WHERE asked.brand_id = %(brand)s
    AND (%(country)s::text IS NULL OR asked.country = %(country)s)
    AND (NOT (capture.outcome = 'answered') OR capture.cached OR capture.matcher = 0 OR capture.edition = 0)
    AND (capture.outcome = 'answered' OR capture.attempts > 0)
    AND capture.simulated = %(simulated)s AND prompt.branded = %(branded)s
    AND (%(systems)s::text[] = '{}' OR capture.provider = ANY(%(systems)s))
    AND capture.answered_at >= %(since)s AND capture.answered_at < %(end)s
GROUP BY 1, 2
"""


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that makes figures before and after it less alike.

    Arguments:
        system: the AI system whose figures; None for all.
    """

    day: date
    words: str
    system: str | None = None


@dataclass(frozen=True, slots=True)
class Drawing:
    """One metric at one AI system over time, drawn and in words."""

    slug: str
    label: str
    heading: Heading
    chart: Chart
    words: str


@dataclass(frozen=True, slots=True)
class Moved:
    """How a figure has changed, in words."""

    heading: Heading
    change: Change

    @property
    def words(self) -> str:
        return {
            Verdict.UP: _("up"),
            Verdict.DOWN: _("down"),
            Verdict.WITHIN_NOISE: _("within noise"),
            Verdict.TOO_FEW: _("too few answers"),
            Verdict.NOT_COMPARABLE: _("not comparable"),
        }[self.change.verdict]


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """The figures of a period at one AI system, and how they have changed."""

    figures: FigureLine
    moved: tuple[Moved, ...]


@dataclass(frozen=True)
class History:
    """A brand's history in a scope.

    Arguments:
        systems: the slugs of those that are shown.
    """

    scope: Scope
    figures: Figures
    left_out: dict[str, Counter[str]]
    marks: tuple[Mark, ...]

    @property
    def measured(self) -> bool:
        return self.figures.of("visibility").measured

    @cached_property
    def systems(self) -> list[str]:
        return sorted({*self.figures.systems, *self.left_out}, key=lambda slug: system_of(slug).label)

    @property
    def lines(self) -> Iterator[HistoryLine]:
        for slug in self.systems:
            yield self._line(slug, system_of(slug).label, self.left_out.get(slug, Counter()))

    @property
    def overall(self) -> HistoryLine:
        return self._line(None, _("Overall"), sum(self.left_out.values(), Counter()))

    def _line(self, slug: str | None, label: str, left_out: Counter[str]) -> HistoryLine:
        figures = {name: self.figures.of(name, slug) for name in COUNTED}
        moved = (Moved(heading, self.figures.change(heading.slug, slug)) for heading in headings(*DRAWN))
        return HistoryLine(FigureLine(label, figures, self.figures.position(slug), left_out), tuple(moved))

    @property
    def labels(self) -> list[str]:
        """What the stretches of time are called: by their first days."""
        return [date_format(day, "j M Y" if self.scope.days > 364 else "j M") for day in self.scope.stretches]

    @property
    def stretch_words(self) -> str:
        number = self.scope.stretch
        return ngettext("%(number)s day a step", "%(number)s days a step", number) % {"number": number}

    @property
    def drawings(self) -> Iterator[Drawing]:
        """Overall, then system by system."""
        for heading in headings(*DRAWN):
            for slug in (None, *self.systems) if len(self.systems) > 1 else self.systems:
                yield self._drawing(heading, slug)

    def _drawing(self, heading: Heading, slug: str | None) -> Drawing:
        figures = self.over_time(heading.slug, slug)
        values = [_value(figure, label) for figure, label in zip(figures, self.labels, strict=True)]
        shown = (mark for mark in self.marks if slug is None or mark.system in (None, slug))
        marks = [(self._place(mark.day), mark.words) for mark in shown]
        label = system_of(slug).label if slug else _("Overall")
        return Drawing(
            slug or "overall", label, heading, chart_of(values, self.labels, marks), _in_words(values, figures)
        )

    def over_time(self, metric: str, slug: str | None) -> list[Figure]:
        return [self.figures.at(stretch, metric, slug) for stretch in range(len(self.scope.stretches))]

    def _place(self, day: date) -> float:
        """Where a day's beginning stands among the stretches, 0 being the middle of the first."""
        return (day - self.scope.stretches[0]).days / self.scope.stretch - 0.5

    @property
    def table(self) -> Iterator[tuple[str, list[tuple[str, list[Figure]]]]]:
        """What is drawn as rows: for each stretch, each system with its figures."""
        shown = [(None, _("Overall")), *((slug, system_of(slug).label) for slug in self.systems)]
        for stretch, label in enumerate(self.labels):
            yield label, [(name, [self.figures.at(stretch, metric, slug) for metric in DRAWN]) for slug, name in shown]


def history_of(scope: Scope) -> History:
    """A brand's history. Six queries and the settings of the first, whatever the number of its answers."""
    rivals = list(scope.brand.competitors.current().values_list("pk", flat=True))
    return History(scope, figures_of(scope, rivals), _left_out(scope), tuple(_marks(scope)))


def _left_out(scope: Scope) -> dict[str, Counter[str]]:
    parameters = scope.parameters() | {"since": scope.midnight(scope.since)}
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for provider, reason, count in run(LEFT_OUT, parameters):
        found[provider][reason] = count
    return dict(found)


def _marks(scope: Scope) -> Iterator[Mark]:
    """The same on one day once, in order of time."""
    marks = [*_name_marks(scope), *_model_marks(scope)]
    yield from sorted(dict.fromkeys(marks), key=lambda mark: (mark.day, mark.words))


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
