"""A real PgBouncer in transaction mode before the test's database."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.db import connection

from aicontrol.embedded.account import server_account
from tests.process.running import until

PROGRAM = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")

CONFIGURATION = """
[databases]
* = host={host} port={port} user={user}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen_port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {size}
server_lifetime = {lifetime}
"""


@contextmanager
def pgbouncer(folder: Path, size: int, *, lifetime: int = 5) -> Iterator[str]:
    """Run one before the test's database, and give its address.

    Arguments:
        size: its connections to the server.
        lifetime: seconds after which it takes another connection in the place of one. The server counts both until the
            old one has ended, so a test that counts has to have a longer one.
    """
    assert PROGRAM
    server = connection.get_connection_params()
    port = free_port()
    configuration = folder / "pgbouncer.ini"
    configuration.write_text(
        CONFIGURATION.format(
            host=server["host"],
            port=server.get("port") or 5432,
            user=server["user"],
            listen_port=port,
            size=size,
            lifetime=lifetime,
        )
    )
    # It refuses to run as root, just as PostgreSQL does.
    command = server_account(Path(server["host"])).command([PROGRAM, "--quiet", str(configuration)])
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=sys.stderr) as process:
        try:
            until(lambda: listens(port))
            yield f"postgres://{server['user']}@127.0.0.1:{port}/{connection.settings_dict['NAME']}"
        finally:
            process.kill()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False
