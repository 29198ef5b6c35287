"""The peers' own virtual environment: a second one, so that what they bring along never meets ours."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import venv
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
CHECKOUT = REQUIREMENTS.parent.parent.parent
FOLDER = CHECKOUT / ".venv-peers"
PYTHON = FOLDER / "bin" / "python"
STAMP = FOLDER / "requirements.installed"
OPTIONS = ("--quiet", "--quiet", "--no-input", "--retries=1", "--disable-pip-version-check", "--prefer-binary")


def ensure() -> Path | None:
    """Its Python, with all that the list names; None where that cannot be installed, as without a network."""
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes() + sys.version.encode()).hexdigest()
    if STAMP.exists() and STAMP.read_text() == wanted and PYTHON.exists():
        return PYTHON
    print(f"Installing the packages of {REQUIREMENTS.relative_to(CHECKOUT)} in {FOLDER.name}", file=sys.stderr)
    shutil.rmtree(FOLDER, ignore_errors=True)
    venv.create(FOLDER, with_pip=True)
    command = [str(PYTHON), "-m", "pip", "install", *OPTIONS, "-r", str(REQUIREMENTS)]
    if subprocess.call(command, stdin=subprocess.DEVNULL) != 0:
        return None
    STAMP.write_text(wanted)
    return PYTHON
