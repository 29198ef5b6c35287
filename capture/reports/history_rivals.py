"""A brand and its competitors over time: the share of voice of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from django.utils.translation import gettext as _

from capture.analysis.metrics import Figure
from capture.reports.columns import system_of
from capture.reports.figures import Heading, headings
from capture.reports.history_drawings import Drawing, drawing_of, labels_of, stretch_in_words
from capture.reports.history_marks import Mark, marks_of
from capture.reports.history_scope import Scope
from capture.reports.history_voices import BRAND, Voices, voices_of

MOST = 10  # competitors that a page shows; a file has all


@dataclass(frozen=True, slots=True)
class Rival:
    """The brand or a competitor.

    Arguments:
        key: of the competitor, or `BRAND`.
    """

    key: int
    name: str

    @property
    def is_brand(self) -> bool:
        return self.key == BRAND


@dataclass(frozen=True)
class Rivals:
    """Whom answers of a scope name, as a page shows it.

    Arguments:
        all: the brand, then its competitors, the most named first.
        most: competitors that are shown; None for all.
    """

    scope: Scope
    voices: Voices
    all: tuple[Rival, ...]
    marks: tuple[Mark, ...]
    most: int | None = None

    @property
    def measured(self) -> bool:
        return self.voices.of(BRAND).measured

    @property
    def shown(self) -> tuple[Rival, ...]:
        return self.all if self.most is None else self.all[: 1 + self.most]

    @property
    def more(self) -> int:
        return len(self.all) - len(self.shown)

    @cached_property
    def systems(self) -> list[tuple[str | None, str]]:
        """All of them together, then each; one alone is all."""
        found = sorted((system_of(slug).label, slug) for slug in self.voices.systems)
        each = [(slug, label) for label, slug in found]
        return [(None, _("Overall")), *each] if len(each) > 1 else list(each)

    @property
    def lines(self) -> Iterator[tuple[Rival, list[tuple[str, Figure]]]]:
        """Of the whole period, with the name of each AI system."""
        for rival in self.shown:
            yield rival, [(label, self.voices.of(rival.key, slug)) for slug, label in self.systems]

    @property
    def table(self) -> Iterator[tuple[str, Rival, list[Figure]]]:
        """What is drawn as rows: for each stretch, each of them."""
        for stretch, label in enumerate(labels_of(self.scope)):
            for rival in self.shown:
                yield label, rival, [self.voices.at(stretch, rival.key, slug) for slug, _label in self.systems]

    @property
    def drawings(self) -> Iterator[Drawing]:
        """Of all AI systems together; with each competitor's line there is the brand's to compare with."""
        marks = [mark for mark in self.marks if mark.system is None or len(self.systems) == 1]
        brand = self.all[0]
        for rival in self.shown:
            beside = None if rival.is_brand else (brand.name, self._over_time(brand))
            name = f"rival-{rival.key}"
            yield drawing_of(name, rival.name, self.heading, self._over_time(rival), self.scope, marks, beside)

    def _over_time(self, rival: Rival) -> list[Figure]:
        return [self.voices.at(stretch, rival.key) for stretch in range(len(self.scope.stretches))]

    @property
    def heading(self) -> Heading:
        return headings("voice")[0]

    @property
    def stretch_words(self) -> str:
        return stretch_in_words(self.scope)


def rivals_of(scope: Scope, most: int | None = MOST) -> Rivals:
    """A brand and its competitors over time. Four queries and the settings of one, whatever the number of answers.

    Arguments:
        most: competitors that are shown; None for all.
    """
    names = dict(scope.brand.competitors.current().values_list("pk", "name"))
    voices = voices_of(scope, list(names))
    rivals = (Rival(key, names[key]) for key in voices.loudest(names))
    return Rivals(scope, voices, (Rival(BRAND, scope.brand.name), *rivals), marks_of(scope), most)
