"""Who asks, where proxies stand in between: what a proxy says of that is believed of those alone that settings name.

Anybody can send `X-Forwarded-For`, `X-Forwarded-Proto` and `X-Request-ID`. They count where the connection comes from a
proxy in `TRUSTED_PROXIES`; from anybody else they are taken away before something looks at them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse

from aicontrol.environment import UNIX

Address = IPv4Address | IPv6Address
Proxies = Collection[IPv4Network | IPv6Network | str]

SAID = ("HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", "HTTP_X_REQUEST_ID")


class BehindProxies:
    """Puts the client's address where that of the nearest proxy stands."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        if not settings.TRUSTED_PROXIES:
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        peer = request.META.get("REMOTE_ADDR", "")
        if is_trusted(peer, settings.TRUSTED_PROXIES):
            said = request.META.get("HTTP_X_FORWARDED_FOR", "")
            request.META["REMOTE_ADDR"] = client_behind(peer, said, settings.TRUSTED_PROXIES)
        else:
            for name in SAID:
                request.META.pop(name, None)
        return self.get_response(request)


def client_behind(peer: str, said: str, proxies: Proxies) -> str:
    """The nearest address that is no trusted proxy's; what stands beyond that, anybody may have written.

    Arguments:
        peer: from which the connection comes; empty for a Unix socket.
        said: `X-Forwarded-For`, to which each proxy adds at the end from where it was asked.
    """
    address = peer
    for hop in reversed(said.split(",")):
        if not is_trusted(address, proxies) or address_in(hop) is None:
            break
        address = str(address_in(hop))
    return address


def is_trusted(address: str, proxies: Proxies) -> bool:
    found = address_in(address)
    if found is None:
        return not address and UNIX in proxies
    return any(found in network for network in proxies if not isinstance(network, str))


def address_in(text: str) -> Address | None:
    """The address that a text is, an IPv4 one in IPv6 clothes as what it is; None for anything else."""
    try:
        found = ip_address(text.strip())
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found
