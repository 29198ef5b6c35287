"""The AI systems as the columns of a check."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext

from capture import systems
from capture.models import Check
from capture.providers import registry


@dataclass(frozen=True, slots=True)
class System:
    """An AI system as a column of a check.

    Arguments:
        simulated: whether it would be the simulator that is asked now.
        locale_note: what becomes of a check's country and language, in a sentence, where they are not simply used.
        samples_note: why it takes fewer samples than others, in a sentence, where it does.
    """

    slug: str
    label: str
    surface: str
    simulated: bool
    locale_note: str = ""
    samples_note: str = ""

    def notes_on(self, check: Check) -> list[str]:
        """What does not go as the check says for this system, in sentences."""
        fewer = systems.samples_of(self.slug, check.samples) < check.samples
        return [
            gettext(note)
            for note in (
                self.locale_note if check.country or check.language else "",
                self.samples_note if fewer else "",
            )
            if note
        ]


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
        provider.locale_note,
        provider.samples_note,
    )
