"""The AI systems as the columns of a check."""

from __future__ import annotations

from dataclasses import dataclass

from capture import systems
from capture.providers import registry


@dataclass(frozen=True, slots=True)
class System:
    """An AI system as a column of a check.

    Arguments:
        simulated: whether it would be the simulator that is asked now.
    """

    slug: str
    label: str
    surface: str
    simulated: bool


def system_of(slug: str) -> System:
    asked = systems.configured().get(slug)
    simulated = asked is not None and asked.account.simulated
    provider = registry.by_slug.get(slug)
    if provider is None:
        return System(slug, slug, "", simulated=False)  # asked in the past, and since taken out of the product
    return System(slug, provider.label, provider.surface, simulated)
