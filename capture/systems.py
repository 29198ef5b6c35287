"""Which AI systems this installation can ask: the settings, read into providers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import cache
from types import MappingProxyType

from django.conf import settings
from django.core.signals import setting_changed

from capture.providers import registry
from capture.providers.base import Provider
from capture.providers.transport import HttpTransport


@cache
def _transport() -> HttpTransport:
    return HttpTransport(deadline=settings.CAPTURE_EXCHANGE_DEADLINE)


@cache
def configured() -> Mapping[str, Provider]:
    """The providers that can be asked, by slug, in the registry's order."""
    keys, simulator = settings.CAPTURE_PROVIDER_KEYS, settings.SIMULATOR_URL
    return MappingProxyType(registry.configure(keys, simulator, _transport()))


def close() -> None:
    """Let go of all connections to the systems; the next use reads the settings again."""
    if configured.cache_info().currsize:
        _transport().close()
    configured.cache_clear()
    _transport.cache_clear()


def samples_of(slug: str, wanted: int) -> int:
    """How often one question is asked of a system in one check: as often as is wanted, or as it makes sense."""
    provider = registry.by_slug.get(slug)
    return min(wanted, provider.most_samples or wanted) if provider else wanted


def estimates() -> dict[str, Decimal]:
    """What one question to each system will probably cost, in US dollars."""
    return {slug: provider.estimate() for slug, provider in configured().items()}


def simulated() -> list[str]:
    """The systems for which the simulator answers here, for nothing."""
    return [slug for slug, provider in configured().items() if provider.account.simulated]


def cost(prompts: int, slugs: Iterable[str], samples: int, estimates: Mapping[str, Decimal]) -> Decimal:
    """What so many questions to these systems will probably cost, in US dollars; simulated answers cost nothing.

    Arguments:
        samples: how often each question is to be asked.
        estimates: US dollars for one question, by system.
    """
    paid = (slug for slug in slugs if slug not in simulated())
    return sum((prompts * samples_of(slug, samples) * estimates[slug] for slug in paid), Decimal(0))


def _forget(*, setting: str, **_: object) -> None:
    if setting in {"CAPTURE_PROVIDER_KEYS", "SIMULATOR_URL", "CAPTURE_EXCHANGE_DEADLINE"}:
        close()


setting_changed.connect(_forget)
