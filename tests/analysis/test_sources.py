"""Whose a source is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.analysis.sources import SourceKind, belongs, host_of, kind_of, own_domain, registrable_domain


@pytest.mark.parametrize(
    ("address", "domain"),
    [
        ("https://www.example.co.uk/path?q=1", "example.co.uk"),
        ("blog.example.com", "example.com"),
        ("EXAMPLE.com.", "example.com"),
        ("https://user:word@shop.example.com:8443/", "example.com"),
        ("https://acme.github.io/docs", "acme.github.io"),
        ("https://bolt.github.io", "bolt.github.io"),
        ("https://www.acme.example", "acme.example"),
        ("http://192.168.0.1/x", "192.168.0.1"),
        ("http://8.8.8.8.example.com", "example.com"),
        ("http://[2001:db8::1]:80/", "2001:db8::1"),
        ("https://пример.рф/путь", "xn--e1afmkfd.xn--p1ai"),
        ("https://xn--e1afmkfd.xn--p1ai", "xn--e1afmkfd.xn--p1ai"),
        ("co.uk", "co.uk"),
        ("localhost", "localhost"),
        ("", ""),
        ("http://[broken", ""),
    ],
)
def test_the_registrable_domain_is_found(address, domain):
    assert registrable_domain(address) == domain


@pytest.mark.parametrize(
    ("address", "domain", "is_there"),
    [
        ("https://nike.com/de", "nike.com", True),
        ("https://www.nike.com/de", "nike.com", True),
        ("https://shop.eu.nike.com", "https://www.nike.com/", True),
        ("https://notnike.com", "nike.com", False),
        ("https://nike.com.example.org", "nike.com", False),
        ("https://nike.co", "nike.com", False),
        ("https://acme.github.io", "bolt.github.io", False),
        ("https://acme.github.io", "github.io", False),
        ("https://acme.co.uk", "co.uk", False),
        ("https://store.google.com", "store.google.com", True),
        ("https://mail.google.com", "store.google.com", False),
        ("http://10.0.0.1/", "10.0.0.1", True),
        ("http://1.10.0.0.1/", "10.0.0.1", False),
        ("https://ПРИМЕР.рф", "xn--e1afmkfd.xn--p1ai", True),
        ("", "nike.com", False),
        ("https://nike.com", "", False),
    ],
)
def test_a_host_belongs_to_a_domain_or_what_is_below_it_never_by_a_part_of_a_word(address, domain, is_there):
    assert belongs(address, domain) is is_there


@pytest.mark.parametrize(
    ("typed", "domain"),
    [
        ("https://www.nike.com/de", "nike.com"),
        ("www.com", "www.com"),
        ("Nike.COM", "nike.com"),
        ("www.co.uk", "www.co.uk"),
    ],
)
def test_a_domain_as_people_type_it_is_brought_into_form(typed, domain):
    assert own_domain(typed) == domain


def test_a_source_is_own_a_competitors_or_somebody_elses():
    own, others = ["acme.com"], ["bolt.com", "shop.acme.com"]

    kinds = [
        kind_of(f"https://{host}/x", own, others) for host in ("www.acme.com", "bolt.com", "shop.acme.com", "x.org")
    ]

    assert kinds == [SourceKind.OWN, SourceKind.COMPETITOR, SourceKind.COMPETITOR, SourceKind.OTHER]


def test_a_domain_that_two_claim_is_the_brands_own():
    assert kind_of("https://acme.com", ["acme.com"], ["acme.com"]) is SourceKind.OWN


@given(st.text(max_size=40), st.text(max_size=40))
def test_nothing_that_is_typed_raises(address, domain):
    host_of(address)
    registrable_domain(address)
    belongs(address, domain)
    kind_of(address, [domain], [address])
