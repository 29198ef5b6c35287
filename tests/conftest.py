"""What all tests share."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from subprocess import PIPE

import httpx
import pytest

from capture.models import lanes
from tests.warm import Start

CHECKOUT = Path(__file__).resolve().parent.parent

QUICK_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def warm_python() -> Iterator[subprocess.Popen[str]]:
    """One for all runs; see `tests/warm.py`."""
    command = [sys.executable, "-m", "tests.warm"]
    basic = {"PATH": os.environ["PATH"]}
    with subprocess.Popen(command, cwd=CHECKOUT, env=basic, stdin=PIPE, stdout=PIPE, text=True) as python:
        yield python


@pytest.fixture
def run_python(warm_python: subprocess.Popen[str], tmp_path: Path) -> Run:
    """Run this Python in the checkout, with nothing in the environment but what a test says.

    No ``.env`` is read, and the data folder is the test's own.
    """

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        basic = {"PATH": os.environ["PATH"], "AICONTROL_ENV": os.devnull, "AICONTROL_DATA": str(tmp_path / "data")}
        output, errors = tmp_path / "output", tmp_path / "errors"
        start = Start(arguments=[*arguments], variables=basic | variables, output=str(output), errors=str(errors))
        assert warm_python.stdin
        assert warm_python.stdout
        print(json.dumps(start), file=warm_python.stdin, flush=True)
        code = int(warm_python.stdout.readline())
        return subprocess.CompletedProcess(arguments, code, output.read_text(), errors.read_text())

    return run


@pytest.fixture(scope="session", autouse=True)
def _certificates_are_read_once():
    """It takes a twelfth of a second to read them all, for each test that changes which systems can be asked."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpx, "create_ssl_context", functools.cache(httpx.create_ssl_context))
        yield


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
