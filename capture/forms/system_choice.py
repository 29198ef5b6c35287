"""The AI systems as lines of a form: which can be asked here, and how that stands now."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from capture import systems
from capture.formatting.money import dollars
from capture.providers import registry
from capture.providers.base import Provider
from capture.reports import Wait


@dataclass(frozen=True, slots=True)
class SystemChoice:
    """An AI system as a line of the form.

    Arguments:
        missing: what has to be set before it can be asked; empty when it can.
        simulated: it is the simulator that will answer.
        notes: what does not go as the form says for this system, in sentences.
        cost: what one question will probably cost, in a sentence; empty where it cannot be asked.
        held: why nobody asks it now; what is asked of it all the same waits for that.
    """

    slug: str
    label: str
    surface: str
    missing: str
    simulated: bool
    checked: bool
    notes: tuple[str, ...]
    cost: str
    held: str


def asked_with(provider: type[Provider]) -> str:
    """The setting without which a system cannot be asked."""
    return f"{provider.env_prefix}_API_KEY"


def all_systems() -> list[tuple[str, str]]:
    return [(provider.slug, provider.label) for provider in registry.PROVIDERS]


def choices(chosen: Collection[str], obstacles: Mapping[str, Wait]) -> list[SystemChoice]:
    """All AI systems, those that cannot be asked as well.

    Arguments:
        chosen: slugs.
        obstacles: what would hold a new question to a system back now, by slug.
    """
    return [_choice(provider, chosen, obstacles.get(provider.slug)) for provider in registry.PROVIDERS]


def _choice(provider: type[Provider], chosen: Collection[str], obstacle: Wait | None) -> SystemChoice:
    asked = systems.configured().get(provider.slug)
    return SystemChoice(
        slug=provider.slug,
        label=provider.label,
        surface=provider.surface,
        missing="" if asked else asked_with(provider),
        simulated=asked is not None and asked.account.simulated,
        checked=asked is not None and provider.slug in chosen,
        notes=tuple(_(note) for note in (provider.samples_note, provider.locale_note) if note),
        cost=_cost(asked) if asked else "",
        held=obstacle.told if asked and obstacle else "",
    )


def _cost(asked: Provider) -> str:
    if asked.account.simulated:
        return _("Costs nothing.")
    return _("A question costs about %(dollars)s.") % {"dollars": dollars(asked.estimate())}


def available() -> str:
    """Which AI systems can be asked, as a sentence."""
    slugs: Sequence[str] = list(systems.configured())
    if not slugs:
        return _("None is available: no key is set, and no simulator runs (bin/demo starts one).")
    return _("Available: %(systems)s.") % {"systems": ", ".join(slugs)}
