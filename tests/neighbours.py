"""Programs that some tests need and that Python does not bring along."""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest


def missing(what: str) -> NoReturn:
    """Skip for want of something, or fail in CI, where a skipped test would go unnoticed.

    Raises:
        pytest.skip.Exception: anywhere but in CI.
        pytest.fail.Exception: in CI.
    """
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what}; CI must have it", pytrace=False)
    pytest.skip(what)


def program(name: str, about: str) -> str:
    """Return where a program is; without it the test is skipped, or fails in CI.

    Arguments:
        name: of the program, or its whole path.
        about: what it is for and where it comes from.
    """
    return shutil.which(name) or missing(f"no {name}: {about}")
