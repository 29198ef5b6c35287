"""One HTTP exchange with a deadline and a size limit; the library's exceptions are mapped here and nowhere else."""

from __future__ import annotations

import json
import logging
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from types import TracebackType
from typing import Any, Protocol, Self
from urllib.parse import urlsplit

import httpcore
import httpx

from capture.providers.deadline import Deadline, DeadlineBackend
from capture.providers.redaction import without_keys
from capture.providers.replies import Kind, ProviderError, Scope


@dataclass(frozen=True, slots=True)
class Patience:
    """How long an exchange may take that is slower, or less worth waiting for, than others.

    Arguments:
        silence: seconds without a byte, in either direction.
        total: seconds for the whole exchange.
    """

    silence: float
    total: float


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be sent.

    Arguments:
        method: `GET` or `POST`.
        url: absolute; out of `repr`, as some systems take their key in the query.
        headers: may hold the key, so they stay out of `repr`.
        json: the body, or None.
        patience: None for the transport's own.
        redirects: a redirect is an answer like any other, and not a sign of a wrong address. It is not followed.
    """

    method: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    json: Mapping[str, Any] | None = field(default=None, repr=False)
    patience: Patience | None = None
    redirects: bool = False


@dataclass(frozen=True, slots=True)
class Response:
    """A whole response; the body is decoded from its content encoding."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport(Protocol):
    """Whatever can carry one exchange."""

    def send(self, request: Request, *, fresh_connection: bool) -> Response: ...


# No byte of the request was sent, so it cannot have been worked on.
_NEVER_SENT = (
    httpcore.ConnectError,
    httpcore.ConnectTimeout,
    httpcore.PoolTimeout,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
    httpcore.LocalProtocolError,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
    UnicodeError,
)
_TOO_LATE = (httpcore.ReadTimeout, httpcore.WriteTimeout)
_BROKEN_OFF = (httpcore.NetworkError, httpcore.ProtocolError)

# What the library says about these is about addresses and certificates; about the others it may quote a header.
_TELLING = (httpcore.ConnectError,)


class _HideKeys(logging.Filter):
    """Takes the keys out of what the HTTP libraries log: every address, and when asked for more every header."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = without_keys(record.getMessage()), ()
        return True


# A filter does not reach the loggers below the one that it is given to.
for _logger in ("httpx", "httpcore.connection", "httpcore.http11"):
    logging.getLogger(_logger).addFilter(_HideKeys())


class HttpTransport:
    """Carries exchanges over HTTP; may be used by many threads at once.

    Redirects are not followed, no proxy or certificate is taken from the environment, and no cookies are kept.
    """

    def __init__(
        self,
        *,
        connect_timeout: float = 10.0,
        read_timeout: float = 30.0,
        deadline: float = 45.0,
        max_bytes: int = 20_000_000,
    ) -> None:
        """
        Arguments:
            connect_timeout: seconds for a connection to be made, or to become free.
            read_timeout: seconds without a byte, in either direction.
            deadline: seconds for the whole exchange.
            max_bytes: most bytes of a body, once decoded.
        """
        self._seconds = deadline
        self._max_bytes = max_bytes
        self._deadline = Deadline()
        self._connect = connect_timeout
        timeout = self._timeout(read_timeout)
        certificates = httpx.create_ssl_context(trust_env=False)
        # The server may be closing an idle connection at the very moment a start goes out on it. The start is then
        # lost and looks like one that may have been charged. A connection of its own does away with that.
        self._fresh = self._client(certificates, timeout, keep_alive=0)
        self._kept = self._client(certificates, timeout, keep_alive=20)

    def _timeout(self, silence: float) -> httpx.Timeout:
        return httpx.Timeout(silence, connect=self._connect, pool=self._connect)

    def _client(self, certificates: ssl.SSLContext, timeout: httpx.Timeout, keep_alive: int) -> httpx.Client:
        pool = httpcore.ConnectionPool(
            ssl_context=certificates,
            # Whoever sends decides how much goes out at once.
            max_connections=None,
            max_keepalive_connections=keep_alive,
            keepalive_expiry=15.0,
            network_backend=DeadlineBackend(self._deadline),
        )
        return httpx.Client(
            transport=_Pool(pool),
            timeout=timeout,
            follow_redirects=False,
            trust_env=False,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        )

    def send(self, request: Request, *, fresh_connection: bool) -> Response:
        """Carry one exchange.

        Arguments:
            request: what to send.
            fresh_connection: use a connection that nothing was sent on before.

        Raises:
            ProviderError: no whole response came; with `maybe_charged` when the request may have got through.
        """
        client = self._fresh if fresh_connection else self._kept
        host = _host(request.url)
        seconds = request.patience.total if request.patience else self._seconds
        try:
            with self._deadline.within(seconds), self._stream(client, request) as response:
                if not request.redirects:
                    _refuse_redirect(response, host)
                return Response(response.status_code, dict(response.headers), self._body(response, host))
        # The causes are left out: their texts and their requests may hold the key.
        except _NEVER_SENT as error:
            raise _unreachable(host, error) from None
        except _TOO_LATE:
            raise _lost("timeout", f"{host} did not answer in time.") from None
        except httpx.DecodingError:
            raise _lost("bad_encoding", f"{host} sent an answer that could not be unpacked.") from None
        except (*_BROKEN_OFF, httpx.HTTPError):
            raise _lost("connection_lost", f"{host} broke off the connection before it answered.") from None

    def _stream(self, client: httpx.Client, request: Request) -> Any:
        content = None
        if request.json is not None:
            # A lone surrogate cannot be sent at all; a question mark in its place can.
            content = json.dumps(request.json, ensure_ascii=False).encode("utf-8", "replace")
        timeout = self._timeout(request.patience.silence) if request.patience else client.timeout
        return client.stream(
            request.method, request.url, headers=dict(request.headers), content=content, timeout=timeout
        )

    def _body(self, response: httpx.Response, host: str) -> bytes:
        body = bytearray()
        try:
            for piece in response.iter_bytes():
                body += piece
                if len(body) > self._max_bytes:
                    message = f"{host} sent more than {self._max_bytes:,} bytes."
                    raise ProviderError(Kind.FATAL, "too_large", message, maybe_charged=True)
        except _BROKEN_OFF:
            raise _lost("cut_body", f"{host} broke off the connection in the middle of its answer.") from None
        return bytes(body)

    def close(self) -> None:
        """Close all connections; nothing can be sent afterwards."""
        self._fresh.close()
        self._kept.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or "the server"
    except ValueError:
        return "the server"


def _refuse_redirect(response: httpx.Response, host: str) -> None:
    if 300 <= response.status_code < 400:
        message = f"{host} answered with a redirect (HTTP {response.status_code}). Is the base URL right?"
        raise ProviderError(Kind.FATAL, "redirect", message, scope=Scope.MODEL)


def _unreachable(host: str, error: Exception) -> ProviderError:
    detail = str(error) if isinstance(error, _TELLING) else type(error).__name__
    return ProviderError(Kind.TRANSIENT, "unreachable", f"{host} could not be reached: {detail}", unsent=True)


def _lost(reason: str, message: str) -> ProviderError:
    return ProviderError(Kind.TRANSIENT, reason, message, maybe_charged=True)


class _Pool(httpx.BaseTransport):
    """Lets an httpx client use a connection pool whose network backend is ours; its exceptions pass through."""

    def __init__(self, pool: httpcore.ConnectionPool) -> None:
        self._pool = pool

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        response = self._pool.handle_request(
            httpcore.Request(
                request.method,
                target,
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        return httpx.Response(response.status, headers=response.headers, stream=_Stream(response))

    def close(self) -> None:
        self._pool.close()


class _Stream(httpx.SyncByteStream):
    """A response's body as it arrives."""

    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        return self._response.iter_stream()

    def close(self) -> None:
        self._response.close()
