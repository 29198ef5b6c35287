"""Processes that end with this one, even if it is killed."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from aicontrol import tether


def tethered(command: Sequence[str]) -> list[str]:
    """A command, by its full path, that is told to end when this process is gone."""
    return [sys.executable, "-I", tether.__file__, str(os.getpid()), *command]
