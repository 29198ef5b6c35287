"""Debian's Chromium, driven by Playwright; CI must have it, elsewhere its tests are skipped without it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

from tests.neighbours import program

PROGRAM = os.environ.get("CHROMIUM", "/usr/bin/chromium")

ARGUMENTS = [
    "--no-sandbox",  # it refuses its own sandbox to root, which CI is
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-dev-shm-usage",  # small in containers
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


@contextmanager
def chromium() -> Iterator[Browser]:
    """A running browser, without any profile."""
    path = program(PROGRAM, "a browser (Debian's package chromium; CHROMIUM names another place)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()
