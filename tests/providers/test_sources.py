"""Sources are gathered once each."""

from __future__ import annotations

from capture.providers.replies import Source
from capture.providers.sources import Finding, gather


def test_findings_of_one_page_become_one_source():
    findings = [
        Finding("https://acme.example/?utm_source=openai", spans=((9, 12),), cited=True),
        Finding("https://ACME.example/", "Acme"),
        Finding("https://acme.example/", "Another title", cited=True, spans=((3, 5), (9, 12))),
    ]

    assert gather(findings) == (
        Source(
            url="https://acme.example/",
            raw_url="https://acme.example/?utm_source=openai",
            title="Acme",
            cited=True,
            spans=((3, 5), (9, 12)),
        ),
    )


def test_sources_keep_the_order_in_which_they_come_up():
    findings = [Finding(f"https://{name}.example/") for name in "bcabdc"]

    assert [source.url[8] for source in gather(findings)] == ["b", "c", "a", "d"]


def test_what_is_no_web_address_is_left_out():
    assert gather([Finding(""), Finding("mailto:a@b.example"), Finding("https://google.com/search?q=x")]) == ()
