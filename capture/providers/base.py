"""The Provider: one AI system as it is asked. Knows no Django, no database and no settings."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from ipaddress import ip_address
from typing import ClassVar
from urllib.parse import quote, quote_plus, urlsplit

from capture.providers.reading import find_object
from capture.providers.redaction import without_keys
from capture.providers.replies import Kind, ProviderError, Question, Reply, Scope
from capture.providers.transport import Patience, Request, Transport

# A gateway gave up on a request that it had passed on: 520 and 524 are Cloudflare's words for it.
_GAVE_UP_WAITING = frozenset({502, 504, 520, 524})
# The system does not know the call, or no longer.
_GONE = frozenset({404, 410})
# A percent sign too: what it stands for, such as the end of a line, has no place there.
_NOT_IN_A_BASE_URL = re.compile(r"[^!-~]|[%\"<>\\^`{|}]")


def gettext_noop(words: str) -> str:
    """Mark words for makemessages; pages translate them, as providers cannot."""
    return words


@dataclass(frozen=True, slots=True)
class Account:
    """How one system is reached.

    Arguments:
        api_key: the secret; kept out of `repr`.
        base_url: http or https; a slash at its end is taken off. Plain http only to this machine, or to a simulator.
        model: the model to ask for, or empty where a system has none.
        simulated: the answers are the simulator's, not the real system's.
        api: which of the system's ways to be asked is taken; empty where it has only one, and for the usual one.

    Raises:
        ValueError: the key or the base URL cannot be right; the message never holds the key.
    """

    api_key: str = field(repr=False)
    base_url: str
    model: str = ""
    simulated: bool = False
    api: str = ""

    def __post_init__(self) -> None:
        if not self.api_key.isascii() or not self.api_key.isprintable() or not self.api_key or " " in self.api_key:
            raise ValueError("the API key must be printable ASCII without spaces")
        _check_base_url(self.base_url, plain_http=self.simulated)
        object.__setattr__(self, "base_url", self.base_url.rstrip("/"))


def _check_base_url(url: str, *, plain_http: bool) -> None:
    try:
        parts = urlsplit(url)
        host = parts.hostname
        parts.port  # noqa: B018 - the access checks the port
    except ValueError:
        raise ValueError("the base URL cannot be read") from None
    if _NOT_IN_A_BASE_URL.search(url):
        raise ValueError("the base URL holds a character that no address of a system has")
    if parts.scheme not in ("http", "https") or not host:
        raise ValueError("the base URL must start with http:// or https:// and name a host")
    if parts.query or parts.fragment or "@" in parts.netloc:
        raise ValueError("the base URL must have no login, no query and no fragment")
    if parts.scheme == "http" and not plain_http and not _is_loopback(host):
        raise ValueError(f"the base URL must use https: the key would go to {host} unencrypted")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class Provider(ABC):
    """One AI system as it is asked.

    `start`, `poll`, `check` and `resolve` are one HTTP exchange each; `read` and `read_check` are pure: one response
    in, one reply out.

    Attributes:
        slug: what the system is called in tables and addresses.
        label: what people call it.
        surface: what exactly is asked, and through whom; shown with every answer.
        lane: the account by which it is asked; systems with one account share its limits.
        resumable: a call that was started can be looked after later, by anybody. Without that a start brings the
            answer itself, and what breaks off is lost.
        env_prefix: how the names of its settings begin.
        default_base_url, default_model: what is taken when nothing else is set.
        simulator_path: path below the simulator's address under which it speaks as this system.
        apis: values of the setting `{PREFIX}_API`, the usual one first; empty where there is nothing to choose.
        takes_country, takes_language: whether the question's country and language reach the system at all.
        locale_note: in words, what becomes of them where that is not simply "used"; empty otherwise.
        most_samples: how often one question can be asked of it in one check; None for no limit.
        samples_note: in words, why there is a limit; empty where there is none.
        start_patience: how long a start may take where that is not the transport's usual time.
    """

    slug: ClassVar[str]
    label: ClassVar[str]
    surface: ClassVar[str]
    lane: ClassVar[str]
    resumable: bool = True
    env_prefix: ClassVar[str]
    default_base_url: ClassVar[str]
    default_model: ClassVar[str] = ""
    simulator_path: ClassVar[str]
    apis: ClassVar[tuple[str, ...]] = ()
    takes_country: ClassVar[bool]
    takes_language: ClassVar[bool]
    locale_note: ClassVar[str] = ""
    most_samples: ClassVar[int | None] = None
    samples_note: ClassVar[str] = ""
    start_patience: Patience | None = None

    def __init__(self, account: Account, transport: Transport) -> None:
        self.account = account
        self._transport = transport

    @abstractmethod
    def start_request(self, question: Question) -> Request:
        """The request that begins a call."""

    @abstractmethod
    def poll_request(self, remote_id: str) -> Request:
        """The request that looks after a call."""

    @abstractmethod
    def read(self, status: int, headers: Mapping[str, str], body: bytes) -> Reply:
        """Read one response.

        Arguments:
            status: HTTP status; 0 when the source of the body did not have one.
            headers: names in any case.
            body: decoded from any content encoding; may be anything at all.

        Raises:
            ProviderError: the response reports a failure, or is none of this system's.
        """

    @abstractmethod
    def check_request(self) -> Request:
        """A request that costs nothing and that only a good key gets through with."""

    @abstractmethod
    def read_check(self, status: int, headers: Mapping[str, str], body: bytes) -> str:
        """Read the response to `check_request`; arguments as for `read`.

        Returns:
            a few words for people, such as what is left of the account.

        Raises:
            ProviderError: the key is not good, or the response is none of this system's.
        """

    @abstractmethod
    def estimate(self) -> Decimal:
        """What one question will probably cost, in US dollars."""

    def start(self, question: Question) -> Reply:
        """Ask. One HTTP exchange, on a connection of its own.

        Raises:
            ProviderError: with `maybe_charged` when the question may have got through.
        """
        status = 0
        try:
            response = self._transport.send(self.start_request(question), fresh_connection=True)
            status = response.status
            return self.read(status, response.headers, response.body)
        except ProviderError as error:
            error.maybe_charged = error.maybe_charged or status in _GAVE_UP_WAITING
            self._hide_key(error)
            raise

    def poll(self, remote_id: str) -> Reply:
        """Look after a call. One HTTP exchange.

        Raises:
            ProviderError: with `ended` when the system no longer knows the call or says that it failed.
        """
        gone = False
        try:
            response = self._transport.send(self.poll_request(remote_id), fresh_connection=False)
            # A page is not the system's word: a proxy on the way has its own 404.
            gone = response.status in _GONE and find_object(response.body) is not None
            return self.read(response.status, response.headers, response.body)
        except ProviderError as error:
            # Looking costs nothing; but a call that was accepted and is gone was worked on, for all that anybody knows.
            error.maybe_charged = gone
            if error.maybe_charged:
                error.kind, error.reason, error.scope, error.ended = Kind.TRANSIENT, "gone", Scope.REQUEST, True
            self._hide_key(error)
            raise

    def check(self) -> str:
        """Find out whether the system can be reached and takes the key. One HTTP exchange, free of charge.

        Returns:
            a few words for people.

        Raises:
            ProviderError: it cannot, or does not.
        """
        try:
            response = self._transport.send(self.check_request(), fresh_connection=False)
            return self.read_check(response.status, response.headers, response.body)
        except ProviderError as error:
            error.maybe_charged = False
            self._hide_key(error)
            raise

    def resolve(self, url: str) -> str | None:
        """Where a source's address leads that is marked as a redirect. One short HTTP exchange at most; never raises.

        Arguments:
            url: as the source has it.

        Returns:
            the cleaned address of the page, or None when it cannot be found out, or `url` is no such redirect.
        """
        return None

    def _hide_key(self, error: ProviderError) -> None:
        # The simulator's key is no secret but a word that messages may need.
        key = "" if self.account.simulated else self.account.api_key
        # As it is, and as it stands in an address.
        forms = (key, quote(key, safe=""), quote_plus(key))
        error.message = without_keys(error.message, *forms)
        error.reason = without_keys(error.reason, *forms, *(form.lower() for form in forms))
