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
        takes_country, takes_language: whether a check's country and language reach the system.
        locale_note: what becomes of them, in a sentence, where that is not simply "used".
    """

    slug: str
    label: str
    surface: str
    simulated: bool
    takes_country: bool = True
    takes_language: bool = True
    locale_note: str = ""

    def ignores(self, country: str, language: str) -> str:
        """Which of a check's country and language do not reach the system, in words; empty when all do."""
        given = {"country": country and not self.takes_country, "language": language and not self.takes_language}
        return " and ".join(name for name, ignored in given.items() if ignored)


def system_of(slug: str) -> System:
    asked = systems.configured().get(slug)
    simulated = asked is not None and asked.account.simulated
    provider = registry.by_slug.get(slug)
    if provider is None:
        return System(slug, slug, "", simulated=False)  # asked in the past, and since taken out of the product
    return System(
        slug,
        provider.label,
        provider.surface,
        simulated,
        provider.takes_country,
        provider.takes_language,
        provider.locale_note,
    )
