"""The figures as tables show them: their headings, and what stands in their cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from capture.analysis.answers import CACHED
from capture.analysis.metrics import LEAST_ANSWERS, Figure, Position
from capture.models import Outcome
from capture.reports.cells import State

# In the order in which they are shown; each is defined at its name on the page of definitions.
METRICS = ("visibility", "voice", "first", "cited")

UNREAD = "unread"  # an answer in which nobody has looked for names


@dataclass(frozen=True, slots=True)
class Heading:
    """A figure's name, and where on the page of definitions it is defined."""

    slug: str
    words: str


@dataclass(frozen=True, slots=True)
class Said:
    """A figure as it stands in a table."""

    heading: Heading
    figure: Figure
    words: str


@dataclass(frozen=True, slots=True)
class FigureLine:
    """The figures of one AI system, or of all of them.

    Arguments:
        label: whose they are.
        figures: by the names of `METRICS`.
        position: the mean place among those named.
        left_out: how many answers are in no figure, by the reason.
        least: answers from which on a percentage is shown.
    """

    label: str
    figures: Mapping[str, Figure]
    position: Position
    left_out: Mapping[str, int] = field(default_factory=dict)
    least: int = LEAST_ANSWERS

    @property
    def measured(self) -> bool:
        """A system that could not be asked is not measured, never 0 %."""
        return self.figures["visibility"].measured

    @property
    def answers(self) -> int:
        return self.figures["visibility"].answers

    @property
    def single_check(self) -> bool:
        return self.figures["visibility"].single_check

    @property
    def said(self) -> Iterator[Said]:
        for heading in headings(*self.figures):
            found = self.figures[heading.slug]
            yield Said(heading, found, found.text(least=self.least) if self.measured else _("not measured"))

    @property
    def reasons(self) -> list[tuple[int, str]]:
        """How many were left out and why, in words; the most frequent reason first."""
        counted = sorted(self.left_out.items(), key=lambda item: (-item[1], item[0]))
        return [(count, reason_in_words(reason)) for reason, count in counted]


def headings(*slugs: str) -> list[Heading]:
    """Those of some figures, or of all of them."""
    words = {
        "visibility": _("Visibility"),
        "voice": _("Share of voice"),
        "first": _("First named"),
        "cited": _("Cited"),
    }
    return [Heading(slug, words[slug]) for slug in slugs or METRICS]


def reason_in_words(reason: str) -> str:
    """Why an answer is in no figure."""
    if reason == CACHED:
        return _("copied from the system’s cache")
    if reason == UNREAD:
        return _("not searched for names")
    return State(reason).words if reason in Outcome.values else reason
