"""What a worker of ours says to the database, byte for byte: the messages of libpq's own trace, written to a file."""

from __future__ import annotations

import os
from typing import Any

from psycopg import pq

VARIABLE = "BENCH_TRACE"  # where the file is to be, if there is to be one


def trace_if_asked() -> None:
    """Trace the connection that Django opens in this process."""
    from django.db.backends.signals import connection_created

    if path := os.environ.get(VARIABLE):
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

        def begin(connection: Any, **_: object) -> None:
            connection.connection.pgconn.trace(file)
            connection.connection.pgconn.set_trace_flags(pq.Trace.SUPPRESS_TIMESTAMPS)

        connection_created.connect(begin, weak=False)
