"""Which AI systems there are, and which of them can be asked here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from capture.providers.base import Account, Provider
from capture.providers.chatgpt import ChatGPT
from capture.providers.copilot import Copilot
from capture.providers.gemini import Gemini
from capture.providers.google_ai import GoogleAI
from capture.providers.perplexity import Perplexity
from capture.providers.transport import Transport

# One line for each system, in the order in which people see them.
PROVIDERS: tuple[type[Provider], ...] = (
    ChatGPT,
    Perplexity,
    Copilot,
    Gemini,
    GoogleAI,
)

by_slug: Mapping[str, type[Provider]] = {provider.slug: provider for provider in PROVIDERS}


def configure(environ: Mapping[str, str], simulator_url: str, transport: Transport) -> dict[str, Provider]:
    """The systems that can be asked, by their slugs.

    A system whose `{PREFIX}_API_KEY` is set is real, at `{PREFIX}_BASE_URL` and with `{PREFIX}_MODEL` where these are
    set. Any other is simulated when there is a simulator, and otherwise left out. `{PREFIX}_API` chooses among the
    ways in which a system can be asked, where it has several. Blank settings count as not set.

    Arguments:
        environ: the settings, by the names of their environment variables.
        simulator_url: where the simulator listens, or empty for none.
        transport: what carries the exchanges.

    Raises:
        ValueError: a setting cannot be right; the message names the system and never holds a key.
    """
    accounts = {provider: _account(provider, environ, simulator_url.strip()) for provider in PROVIDERS}
    return {provider.slug: provider(account, transport) for provider, account in accounts.items() if account}


def missing(configured: Iterable[str]) -> list[str]:
    """What to set for the systems that are not configured, one line each; arguments are slugs."""
    known = set(configured)
    return [
        f"{provider.label}: set {provider.env_prefix}_API_KEY" for provider in PROVIDERS if provider.slug not in known
    ]


def _account(provider: type[Provider], environ: Mapping[str, str], simulator_url: str) -> Account | None:
    def setting(name: str) -> str:
        return environ.get(f"{provider.env_prefix}_{name}", "").strip()

    model = setting("MODEL") or provider.default_model
    try:
        api = _api(provider, setting("API"))
        if key := setting("API_KEY"):
            return Account(key, setting("BASE_URL") or provider.default_base_url, model, api=api)
        if simulator_url:
            url = simulator_url.rstrip("/") + provider.simulator_path
            return Account("simulated", url, model, simulated=True, api=api)
    except ValueError as error:
        raise ValueError(f"{provider.label} ({provider.env_prefix}_…): {error}") from None
    return None


def _api(provider: type[Provider], chosen: str) -> str:
    if not provider.apis:
        return ""
    if chosen and chosen not in provider.apis:
        raise ValueError(f"{provider.env_prefix}_API must be one of: {', '.join(provider.apis)}")
    return chosen or provider.apis[0]
