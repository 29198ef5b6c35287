"""Whose a cited page is: hosts and domains by the Public Suffix List."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

import idna
from publicsuffixlist import PublicSuffixList

# Its private rules are kept: two projects on one hosting platform are two sites.
_LIST = PublicSuffixList()


class SourceKind(StrEnum):
    """Whose a source is, as a brand sees it."""

    OWN = "own"
    COMPETITOR = "competitor"
    OTHER = "other"


@lru_cache(maxsize=10_000)
def host_of(address: str) -> str:
    """The host of a web address, or of a domain as people type it: in lower case and ASCII, without port and login.

    Returns:
        An empty text for what names no host. Never raises.
    """
    address = address.strip()
    try:
        host = urlsplit(address if "//" in address else f"//{address}").hostname or ""
    except ValueError:
        return ""
    return _ascii(host.rstrip("."))


def _ascii(host: str) -> str:
    if host.isascii():
        return host.lower()
    try:
        return idna.encode(host, uts46=True).decode()
    except idna.IDNAError:
        # No name server would know it; compared as it stands it still equals itself.
        return host.lower()


@lru_cache(maxsize=10_000)
def registrable_domain(address: str) -> str:
    """The part of a host that somebody has registered: `example.co.uk` of `www.example.co.uk`.

    Arguments:
        address: a web address, a host or a domain.

    Returns:
        The host itself for an IP address, a public suffix (`co.uk`) and a name without dots; an empty text for no host.
    """
    host = host_of(address)
    if _is_ip_address(host):
        return host
    return _LIST.privatesuffix(host) or host


def _is_ip_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=10_000)
def has_known_suffix(host: str) -> bool:
    """Whether a name with dots ends as domains do, so that it is one, rather than `node.js`.

    `.example` is nobody's and used as a domain all the same, by the simulator for one (RFC 2606).
    """
    host = host_of(host)
    return _LIST.privatesuffix(host, accept_unknown=False) is not None or host.endswith(".example")


def belongs(address: str, domain: str) -> bool:
    """Whether an address is on a domain or below it.

    Arguments:
        address: a web address or a host.
        domain: as people type it. `www.` and the like in front do not count; a public suffix has nothing below it.
    """
    return _is_on(host_of(address), own_domain(domain))


@lru_cache(maxsize=10_000)
def own_domain(domain: str) -> str:
    """A domain that somebody claims, as hosts are compared with it: `nike.com` of `https://www.nike.com/de`."""
    host = host_of(domain)
    return host.removeprefix("www.") if registrable_domain(host) != host else host


def _is_on(host: str, domain: str) -> bool:
    if not host or not domain:
        return False
    if host == domain:
        return True
    # Below an IP address or a public suffix there is nothing that would be the same owner's.
    return host.endswith(f".{domain}") and not _is_ip_address(domain) and _LIST.privatesuffix(domain) is not None


def kind_of(address: str, own: Iterable[str], competitors: Iterable[str]) -> SourceKind:
    """Whose a source is; where several domains fit, the longest says it.

    Arguments:
        address: the source's address or host.
        own: the brand's domains.
        competitors: the domains of all its competitors.
    """
    host = host_of(address)
    claims = [(own_domain(domain), SourceKind.OWN) for domain in own]
    claims += [(own_domain(domain), SourceKind.COMPETITOR) for domain in competitors]
    fitting = [(len(domain), kind) for domain, kind in claims if _is_on(host, domain)]
    return max(fitting, key=lambda fit: fit[0])[1] if fitting else SourceKind.OTHER
