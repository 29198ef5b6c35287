"""Addresses are cleaned of tracking and wrappings, and of nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.providers.urls import clean_url

KEPT = [
    "https://www.youtube.com/watch?v=abc&t=3",
    "https://acme.example/a%20b/?q=%24150m+x&empty=&flag#part",
    "https://acme.example",
    "http://[::1]:8080/x",
    "https://google.com/about",
    "https://www.google.com/searching",
    "https://notgoogle.com/search?q=x",
    "https://google.com.acme.example/search",
    "https://acme.example/?q=utm_source",
    "https://яндекс.рф/путь?имя=да",
]


@pytest.mark.parametrize("url", KEPT)
def test_a_clean_address_stays_as_it_is(url):
    assert clean_url(url) == url


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("https://acme.example/?utm_source=openai", "https://acme.example/"),
        ("https://acme.example/?a=1&utm_source=chatgpt.com&UTM_Medium=x&b=2#c", "https://acme.example/?a=1&b=2#c"),
        ("https://acme.example/?srsltid=AfmB&id=7", "https://acme.example/?id=7"),
        ("https://acme.example/?utm%5Fsource=x", "https://acme.example/"),
        ("HTTPS://WWW.Acme.EXAMPLE/Path", "https://www.acme.example/Path"),
        ("  https://acme.example/x\n", "https://acme.example/x"),
        (
            "https://translate.google.com/translate?u=https://Acme.example/x%3Fid%3D7%26utm_source%3Dopenai&hl=hi&sl=en",
            "https://acme.example/x?id=7",
        ),
        (
            "https://translate.google.com/translate?u=https%3A%2F%2Ftranslate.google.de%2Ftranslate%3Fu%3Dhttps%3A%2F%2Facme.example%2F",
            "https://acme.example/",
        ),
    ],
)
def test_tracking_and_wrappings_are_taken_off(raw, clean):
    assert clean_url(raw) == clean


@pytest.mark.parametrize(
    "raw",
    [
        "https://www.google.com/searchviewer/10?svid=CAwS",
        "https://google.com/goto?url=CAES",
        "https://www.google.co.in/search?q=acme",
        "https://translate.google.com/translate?hl=hi",
        "https://translate.google.com/translate?u=javascript:alert(1)",
        "javascript:alert(1)",
        "data:text/html,x",
        "ftp://acme.example/",
        "//acme.example/",
        "acme.example",
        "https://",
        "https:///path",
        "https://[::1",
        "https://acme.example:port/",
        "https://two words.example/",
        "https://acme.example\\@evil.example/",
        "",
        None,
        7,
        ["https://acme.example/"],
    ],
)
def test_what_is_no_source_is_none(raw):
    assert clean_url(raw) is None


@given(
    st.one_of(
        st.text(), st.text().map("https://".__add__), st.text().map("https://translate.google.com/translate?u=".__add__)
    )
)
def test_any_text_is_cleaned_or_dropped_and_cleaning_twice_changes_nothing(raw):
    clean = clean_url(raw)

    if clean is not None:
        assert clean.startswith(("http://", "https://"))
        assert clean_url(clean) == clean
