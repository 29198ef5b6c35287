"""Processes that end with the kill test, even if it is killed itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from aicontrol import tether


def tethered(*arguments: str) -> Sequence[str]:
    """The command that runs this Python with these arguments, and is told to end when this process is gone."""
    return [sys.executable, "-I", tether.__file__, str(os.getpid()), sys.executable, *arguments]
