"""What a team asked before, to start from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Max, Prefetch

from capture.models import Brand, Competitor, Prompt, Team

MOST_BRANDS = 50
MOST_PROMPTS = 50
LOOKED_AT = 500  # prompts, of which many are the same


@dataclass(frozen=True, slots=True)
class EarlierBrand:
    """A brand that is remembered, with its competitors."""

    number: int
    name: str
    competitors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EarlierPrompt:
    number: int
    text: str


def earlier_brands(team: Team) -> list[EarlierBrand]:
    """The team's brands, those that were asked about last first. Two queries."""
    current = Prefetch("competitors", Competitor.objects.current().order_by("pk"))
    brands = Brand.objects.current().filter(team=team).annotate(asked_at=Max("checks__created_at"))
    last_first = brands.prefetch_related(current).order_by("-asked_at", "-pk")[:MOST_BRANDS]
    return [EarlierBrand(brand.pk, brand.name, _names(brand)) for brand in last_first]


def earlier_prompts(team: Team, brand: str, *, without: Sequence[str] = ()) -> list[EarlierPrompt]:
    """What was asked about a brand before, the last first, each question once. One query.

    Arguments:
        brand: its name, in any case.
        without: questions that are not wanted again.
    """
    asked = Prompt.objects.filter(of_check__team=team, of_check__brand__name__iexact=brand)
    seen = {key_of(text) for text in without}
    found = []
    for prompt in asked.order_by("-of_check_id", "position").only("text")[:LOOKED_AT]:
        if key_of(prompt.text) not in seen:
            seen.add(key_of(prompt.text))
            found.append(EarlierPrompt(prompt.pk, prompt.text))
    return found[:MOST_PROMPTS]


def key_of(question: str) -> str:
    """The same for the same question, wherever it is asked."""
    return Prompt.key_of(question, "", "")


def _names(brand: Brand) -> tuple[str, ...]:
    return tuple(competitor.name for competitor in brand.competitors.all())
