"""Reads settings from the environment: one function a kind of value, each with one clear message for a bad one.

An empty variable counts as unset, since that is what deployment tools make of one that nobody filled in.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from collections.abc import Collection, Mapping
from decimal import Decimal
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

_variables = environ.FileAwareEnv.ENVIRON

ON = frozenset({"1", "on", "true", "yes", "y"})
OFF = frozenset({"0", "off", "false", "no", "n"})

CREDENTIAL = "aicontrol_"  # how systemd names a secret: by the folder's name, and then the file's
UNIX = "unix"  # among networks: a connection over a Unix socket, which has no address


def read_file(path: Path) -> None:
    """Add the variables of a ``NAME=value`` file that are not set already; the file need not be there."""
    environ.Env.read_env(path)


def read_dotenv(checkout: Path) -> None:
    """Read the checkout's ``.env``. Tests and checks name an empty file instead, which keeps a developer's keys out."""
    read_file(Path(os.environ.get("AICONTROL_ENV") or checkout / ".env"))


def read_credentials() -> None:
    """Have the secrets that systemd hands over (``LoadCredential=aicontrol:folder``) as if ``NAME_FILE`` named each."""
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    for file in Path(folder).glob(f"{CREDENTIAL}*") if folder else ():
        os.environ.setdefault(f"{file.name.removeprefix(CREDENTIAL)}_FILE", str(file))


def text(name: str, default: str = "") -> str:
    """Return a variable, from the file that ``NAME_FILE`` names if that is set.

    No message holds what the variables are: some people write the secret itself where its file should be named.
    """
    try:
        value = str(_variables.get(name, "")).strip()
    except OSError as error:
        raise ImproperlyConfigured(f"{name}_FILE names a file that can't be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise ImproperlyConfigured(f"{name}_FILE names a file that is not UTF-8.") from None
    if not value and os.environ.get(f"{name}_FILE"):
        raise ImproperlyConfigured(f"{name}_FILE names a file with nothing in it.")
    return value or default


def texts(name: str) -> list[str]:
    """Return a list, separated by commas."""
    return [part.strip() for part in text(name).split(",") if part.strip()]


def pair(name: str) -> tuple[str, str] | None:
    """Return two values, separated by a comma, or None if the variable is not set."""
    match texts(name):
        case []:
            return None
        case [first, second]:
            return first, second
        case _:
            raise ImproperlyConfigured(f"{name} must be two values separated by a comma.")


def networks(name: str) -> list[IPv4Network | IPv6Network | str]:
    """Return addresses and networks of them, separated by commas; ``unix`` may be among them."""
    try:
        return [part if part == UNIX else ip_network(part) for part in texts(name)]
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must be like 127.0.0.1,10.0.0.0/8,unix: {error}.") from error


def switch(name: str, *, default: bool) -> bool:
    """Return whether a switch is on."""
    value = text(name).lower()
    if value and value not in ON | OFF:
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be on or off.")
    return value in ON if value else default


def choice(name: str, default: str, choices: Collection[str]) -> str:
    """Return one of some words, in upper case."""
    value = text(name, default).upper()
    if value not in choices:
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be one of {', '.join(choices)}.")
    return value


def number(name: str, default: float, lowest: float, highest: float) -> float:
    """Return a number within bounds, which are part of them."""
    return float(_within(name, text(name), float, default, lowest, highest))


def whole(name: str, default: int, lowest: int, highest: int) -> int:
    """Return a whole number within bounds, which are part of them."""
    return int(_within(name, text(name), int, default, lowest, highest))


def amount(name: str, default: int, lowest: int, highest: int) -> Decimal:
    """Return an amount of money, exactly as it is written, within bounds, which are part of them."""
    return Decimal(_within(name, text(name), Decimal, default, lowest, highest))


def wholes(name: str, defaults: Mapping[str, int], lowest: int, highest: int) -> dict[str, int]:
    """Return whole numbers by key, written ``key=number,key=number``; a key that is not written has its default."""
    values = dict(defaults)
    for part in texts(name):
        key, _, value = (piece.strip() for piece in part.partition("="))
        if key not in defaults:
            raise ImproperlyConfigured(f"{name} has {part!r}; it must be like {', '.join(defaults)} = number.")
        values[key] = int(_within(f"{name}, {key}", value, int, 0, lowest, highest))
    return values


def _within(
    name: str, value: str, kind: type[int] | type[float] | type[Decimal], default: float, lowest: float, highest: float
) -> float | Decimal:
    """Values that are not a number compare as out of bounds, and so does ``nan``, of which a decimal one raises."""
    with contextlib.suppress(ValueError, ArithmeticError):
        result = kind(value) if value else default
        if lowest <= result <= highest:
            return result
    sort = "a whole number" if kind is int else "a number"
    raise ImproperlyConfigured(f"{name} is {value!r}; it must be {sort} from {lowest} to {highest}.")


def postgres(name: str, instead: str = "") -> dict[str, Any]:
    """Return one entry of DATABASES from an address like ``postgres://user:password@host:5432/name``.

    The address is in no message, since it holds a password.

    Arguments:
        instead: what else the variable may be, for the message.
    """
    address, database = text(name), {}
    with contextlib.suppress(ValueError):  # such as a port that is no number
        if address.startswith(("postgres://", "postgresql://")):
            database = dict(environ.Env.db_url_config(address))
    if not database.get("NAME"):
        raise ImproperlyConfigured(f"{name} must be {instead}like postgres://user:password@host:5432/name.")
    return database


def switch_or_postgres(name: str, *, default: bool) -> bool | dict[str, Any]:
    """Return whether a switch is on, or the database that it names instead."""
    if text(name).lower() in {"", *ON, *OFF}:
        return switch(name, default=default)
    return postgres(name, instead="on, off, or ")


def mail(name: str, default: str) -> dict[str, Any]:
    """Return Django's EMAIL_ settings from an address like ``smtp+tls://user:password@host:587``.

    The address is in no message, since it holds a password.
    """
    address, settings = text(name, default), {}
    with contextlib.suppress(ValueError, ImproperlyConfigured):
        settings = dict(environ.Env.email_url_config(address))
    settings.pop("OPTIONS", None)
    if not settings or (address.startswith("smtp") and not settings["EMAIL_HOST"]):
        raise ImproperlyConfigured(f"{name} must be like smtp+tls://user:password@host:587, or consolemail://.")
    return settings


def data_folder(checkout: Path) -> Path:
    """Return where a checkout keeps its embedded database, its secrets and its logs."""
    return (checkout / text("AICONTROL_DATA", ".data")).resolve()


def kept_secret(path: Path, length: int = 48) -> str:
    """Return the secret in a file that only its owner can read; the first to ask makes it.

    Arguments:
        length: of a new one, in random bytes; the text is a third longer.

    Raises:
        ImproperlyConfigured: the file can be neither read nor made.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            _keep(path, secrets.token_urlsafe(length))
        return path.read_text().strip()
    except OSError as error:
        raise ImproperlyConfigured(f"The secret in {path} can't be read: {error}") from error


def _keep(path: Path, secret: str) -> None:
    """Make the file whole or not at all; of two who do so at once the first wins."""
    descriptor, unfinished = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(descriptor, "w") as file:
        file.write(secret + "\n")
    with contextlib.suppress(FileExistsError):
        os.link(unfinished, path)
    os.unlink(unfinished)
