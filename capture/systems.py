"""Which AI systems this installation can ask: the settings, read into providers."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from types import MappingProxyType

from django.conf import settings
from django.core.signals import setting_changed

from capture.providers import registry
from capture.providers.base import Provider
from capture.providers.transport import HttpTransport


@cache
def configured() -> Mapping[str, Provider]:
    """The providers that can be asked, by slug, in the registry's order."""
    transport = HttpTransport(deadline=settings.CAPTURE_EXCHANGE_DEADLINE)
    return MappingProxyType(registry.configure(settings.CAPTURE_PROVIDER_KEYS, settings.SIMULATOR_URL, transport))


def estimates() -> dict[str, Decimal]:
    """What one question to each system will probably cost, in US dollars."""
    return {slug: provider.estimate() for slug, provider in configured().items()}


def _forget(*, setting: str, **_: object) -> None:
    if setting in {"CAPTURE_PROVIDER_KEYS", "SIMULATOR_URL", "CAPTURE_EXCHANGE_DEADLINE"}:
        configured.cache_clear()


setting_changed.connect(_forget)
