"""A brand's history: its figures over time, what has changed, and what makes before and after less alike."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from django.utils.translation import gettext as _

from capture.analysis.metrics import Change, Figure, Verdict
from capture.reports.columns import system_of
from capture.reports.figures import FigureLine, Heading, headings
from capture.reports.history_counts import COUNTED, Figures, figures_of, run
from capture.reports.history_drawings import Drawing, drawing_of, labels_of, stretch_in_words
from capture.reports.history_marks import Mark, marks_of
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
    def stretch_words(self) -> str:
        return stretch_in_words(self.scope)

    @property
    def drawings(self) -> Iterator[Drawing]:
        """Overall, then system by system."""
        for heading in headings(*DRAWN):
            for slug in (None, *self.systems) if len(self.systems) > 1 else self.systems:
                yield self._drawing(heading, slug)

    def _drawing(self, heading: Heading, slug: str | None) -> Drawing:
        label = system_of(slug).label if slug else _("Overall")
        marks = [mark for mark in self.marks if slug is None or mark.system in (None, slug)]
        return drawing_of(slug or "overall", label, heading, self.over_time(heading.slug, slug), self.scope, marks)

    def over_time(self, metric: str, slug: str | None) -> list[Figure]:
        return [self.figures.at(stretch, metric, slug) for stretch in range(len(self.scope.stretches))]

    @property
    def table(self) -> Iterator[tuple[str, list[tuple[str, list[Figure]]]]]:
        """What is drawn as rows: for each stretch, each system with its figures."""
        shown = [(None, _("Overall")), *((slug, system_of(slug).label) for slug in self.systems)]
        for stretch, label in enumerate(labels_of(self.scope)):
            yield label, [(name, [self.figures.at(stretch, metric, slug) for metric in DRAWN]) for slug, name in shown]


def history_of(scope: Scope) -> History:
    """A brand's history. Six queries and the settings of the first, whatever the number of its answers."""
    rivals = list(scope.brand.competitors.current().values_list("pk", flat=True))
    return History(scope, figures_of(scope, rivals), _left_out(scope), marks_of(scope))


def _left_out(scope: Scope) -> dict[str, Counter[str]]:
    parameters = scope.parameters() | {"since": scope.midnight(scope.since)}
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for provider, reason, count in run(LEFT_OUT, parameters):
        found[provider][reason] = count
    return dict(found)
