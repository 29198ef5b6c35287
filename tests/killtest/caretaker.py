"""Stops the embedded PostgreSQL of a kill test that cannot do it any more: a second user of it, tethered to the test.

python -m tests.killtest.caretaker FOLDER
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from aicontrol.embedded.server import EmbeddedServer


def main(folder: Path) -> None:
    """Be a user until told to end; the last user to leave stops the server."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    server = EmbeddedServer(folder)
    server.address()
    print("here", flush=True)
    signal.sigwait([signal.SIGTERM])
    server.leave()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
