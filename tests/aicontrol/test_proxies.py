"""What proxies say is believed of those alone that are trusted, and nobody can pretend to be somebody else."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Any

import pytest
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from aicontrol.proxies import BehindProxies, client_behind
from tests.aicontrol.test_settings import PRODUCTION

PROXIES = [ip_network("127.0.0.1"), ip_network("10.0.0.0/8"), ip_network("2001:db8::/32"), "unix"]


@pytest.mark.parametrize(
    ("peer", "said", "client"),
    [
        ("127.0.0.1", "192.0.2.1", "192.0.2.1"),
        ("127.0.0.1", "198.51.100.9, 192.0.2.1", "192.0.2.1"),
        ("127.0.0.1", "198.51.100.9, 192.0.2.1, 10.1.2.3", "192.0.2.1"),
        ("127.0.0.1", "10.1.2.3", "10.1.2.3"),
        ("", "192.0.2.1", "192.0.2.1"),
        ("::ffff:127.0.0.1", "192.0.2.1", "192.0.2.1"),
        ("2001:db8::1", " 2001:0DB9::7 ", "2001:db9::7"),
        ("127.0.0.1", "", "127.0.0.1"),
        ("127.0.0.1", "192.0.2.1, no address", "127.0.0.1"),
        ("192.0.2.7", "192.0.2.1", "192.0.2.7"),
    ],
    ids=[
        "one proxy",
        "what a client wrote before",
        "two proxies",
        "a proxy that asks by itself",
        "a Unix socket",
        "IPv4 in IPv6 clothes",
        "IPv6",
        "nothing said",
        "nonsense",
        "nobody's proxy",
    ],
)
def test_the_client_is_the_nearest_that_is_no_trusted_proxy(peer, said, client):
    assert client_behind(peer, said, PROXIES) == client


def asked(settings, peer: str, **headers: Any) -> HttpRequest:
    settings.TRUSTED_PROXIES = PROXIES
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    request = RequestFactory().get("/", REMOTE_ADDR=peer, **headers)
    BehindProxies(lambda _: HttpResponse())(request)
    return request


def test_whoever_is_no_proxy_is_not_believed_to_use_https(settings):
    said = {"HTTP_X_FORWARDED_PROTO": "https", "HTTP_X_FORWARDED_FOR": "127.0.0.1"}

    stranger, proxy = (asked(settings, peer, **said) for peer in ("192.0.2.7", "127.0.0.1"))

    assert (stranger.is_secure(), proxy.is_secure()) == (False, True)
    assert stranger.META["REMOTE_ADDR"] == "192.0.2.7"


def test_without_a_proxy_nothing_stands_in_between(settings):
    settings.TRUSTED_PROXIES = []

    with pytest.raises(MiddlewareNotUsed):
        BehindProxies(lambda _: HttpResponse())


@pytest.mark.parametrize(
    ("variables", "header"),
    [
        ({}, "None"),
        ({"TRUSTED_PROXIES": "127.0.0.1, unix"}, "('HTTP_X_FORWARDED_PROTO', 'https')"),
        ({"TRUSTED_PROXIES": "::1", "SECURE_PROXY_SSL_HEADER": "HTTP_X_TLS,on"}, "('HTTP_X_TLS', 'on')"),
    ],
)
def test_a_header_says_https_only_where_a_proxy_is_named(run_python, variables, header):
    script = "from aicontrol import settings as s; print(s.SECURE_PROXY_SSL_HEADER)"

    assert run_python("-c", script, **PRODUCTION | variables).stdout == f"{header}\n"
