"""Debian's Chromium, driven by Playwright; CI must have it, elsewhere its tests are skipped without it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

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


def missing(what: str) -> None:
    """Skip for want of something, or fail in CI, where a skipped test would go unnoticed.

    Raises:
        pytest.skip.Exception: anywhere but in CI.
        pytest.fail.Exception: in CI.
    """
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what}; CI must have it", pytrace=False)
    pytest.skip(what)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A running browser, without any profile."""
    if not shutil.which(PROGRAM):
        missing(f"no Chromium at {PROGRAM} (Debian's package chromium; CHROMIUM names another place)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()
