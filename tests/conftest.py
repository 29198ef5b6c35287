"""What all tests share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from capture.models import lanes

CHECKOUT = Path(__file__).resolve().parent.parent

QUICK_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run_python(tmp_path: Path) -> Run:
    """Run this Python in the checkout, with nothing in the environment but what a test says.

    No ``.env`` is read, and the data folder is the test's own.
    """

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        basic = {"PATH": os.environ["PATH"], "AICONTROL_ENV": os.devnull, "AICONTROL_DATA": str(tmp_path / "data")}
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=CHECKOUT,
            env=basic | variables,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


@pytest.fixture(autouse=True)
def _quick_passwords(settings):
    """A real password hash takes a third of a second, by design; tests make many users."""
    settings.PASSWORD_HASHERS = QUICK_HASHERS


@pytest.fixture(autouse=True)
def _idle_within_a_transaction(request, monkeypatch):
    """A claim bounds for how long its transaction may be idle; a test's own begins with the test, and may be slow."""
    marker = request.node.get_closest_marker("django_db")
    if not (marker and marker.kwargs.get("transaction")) and "transactional_db" not in request.fixturenames:
        monkeypatch.setattr(lanes, "IDLE_TIMEOUT", timedelta(0))


@pytest.fixture
def simulated(settings):
    """Both AI systems can be asked, and it is the simulator that would answer; nothing listens there."""
    settings.CAPTURE_PROVIDER_KEYS = {}
    settings.SIMULATOR_URL = "http://127.0.0.1:9"


@pytest.fixture
def only_chatgpt(simulated, settings):
    """ChatGPT has a key; Perplexity cannot be asked."""
    settings.CAPTURE_PROVIDER_KEYS = {"OPENAI_API_KEY": "sk-test"}
    settings.SIMULATOR_URL = ""
