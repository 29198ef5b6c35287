"""System checks: what a deployment lacks, said before it serves anybody.

The tag ``deployment`` is what the web server runs by itself as it starts; management commands run all checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register  # noqa: A004  Django's name
from django.core.exceptions import ImproperlyConfigured

from capture import systems

DEPLOYMENT = "deployment"
SHORTEST_TOKEN = 20  # characters


@register(DEPLOYMENT)
def database_is_set(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """With DEBUG off nobody may end up in an embedded database by forgetting a variable."""
    engine = settings.DATABASES.get("default", {}).get("ENGINE", "")
    if engine in {"", "django.db.backends.dummy"}:  # Django's own is the latter
        return [
            Error(
                "DATABASE_URL is not set, and DEBUG is off.",
                hint="Set DATABASE_URL to postgres://user:password@host:5432/name (see .env.example).",
                id="aicontrol.E001",
            )
        ]
    return []


@register(DEPLOYMENT)
def secret_key_is_set(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """With DEBUG off the key must be the deployment's, the same for all its processes."""
    try:
        settings.SECRET_KEY  # noqa: B018  Django raises when an empty one is read
    except ImproperlyConfigured:
        return [
            Error(
                "SECRET_KEY is not set, and DEBUG is off.",
                hint="Set SECRET_KEY to at least 50 random characters that you keep (see .env.example).",
                id="aicontrol.E002",
            )
        ]
    return []


@register(DEPLOYMENT)
def listens_where_it_is_notified(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """A notification stays within its database; a connection pooler may know that by another name."""
    own, database = settings.CAPTURE_LISTEN, settings.DATABASES.get("default", {})
    if isinstance(own, dict) and own["NAME"] != database.get("NAME"):
        return [
            Warning(
                "CAPTURE_LISTEN names another database than DATABASE_URL; workers would never be woken.",
                hint="Set it to the address of the same database beside the connection pooler, or to off. "
                "If only the pooler calls it differently, silence aicontrol.W001.",
                id="aicontrol.W001",
            )
        ]
    return []


@register(DEPLOYMENT)
def plans_are_kept_by_who_has_the_connection(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """A pooler in transaction mode hands each transaction to any session, and only one of them knows the plans."""
    if settings.DATABASE_KEEP_PLANS and isinstance(settings.CAPTURE_LISTEN, dict):
        return [
            Warning(
                "DATABASE_KEEP_PLANS is on, and CAPTURE_LISTEN has an address of its own, as behind a pooler.",
                hint="Behind PgBouncer in transaction mode, set DATABASE_KEEP_PLANS to off. "
                "If there is no pooler in between, silence aicontrol.W004.",
                id="aicontrol.W004",
            )
        ]
    return []


@register(DEPLOYMENT)
def metrics_are_not_guessed(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """The figures are behind a token only; nobody counts wrong guesses."""
    if 0 < len(settings.METRICS_TOKEN) < SHORTEST_TOKEN:
        return [
            Error(
                f"METRICS_TOKEN has less than {SHORTEST_TOKEN} characters.",
                hint='Set it to random ones: python3 -c "import secrets; print(secrets.token_urlsafe(32))"',
                id="aicontrol.E004",
            )
        ]
    return []


@register(DEPLOYMENT)
def providers_are_right(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """An address or a key that cannot be right is told at the start, and not by every question's failing."""
    try:
        systems.configured()
    except ValueError as error:
        return [Error(str(error), hint="Set it as .env.example says.", id="aicontrol.E003")]
    return []


@register(DEPLOYMENT)
def hosts_are_named(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Mails hold the host that somebody has asked, so it has to be one of ours."""
    if "*" in settings.ALLOWED_HOSTS and not settings.DEBUG:
        return [
            Warning(
                "ALLOWED_HOSTS takes any host, so a stranger can have mails sent with links to a site of theirs.",
                hint="Set ALLOWED_HOSTS to the names under which this site is reached.",
                id="aicontrol.W002",
            )
        ]
    return []


@register(DEPLOYMENT)
def proxies_are_named(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Behind a proxy that is not named, everybody comes from its address, and a wrong password counts for all."""
    if settings.SECURE_PROXY_SSL_HEADER and not settings.TRUSTED_PROXIES:
        return [
            Warning(
                "SECURE_PROXY_SSL_HEADER tells of a proxy, but TRUSTED_PROXIES does not name it.",
                hint="Set TRUSTED_PROXIES to the proxy's address, or to unix for a Unix socket.",
                id="aicontrol.W003",
            )
        ]
    return []
