"""Whether this installation can do its work now: what load balancers and upgrades ask before they go on."""

from __future__ import annotations

from django.db import Error as DatabaseTrouble
from django.db import connection

from capture import schema
from capture.models import Worker


def missing() -> dict[str, str]:
    """What is missing, each with why; nothing when all is ready. Four short queries."""
    try:
        return {**_migrations(), **_worker()}
    except DatabaseTrouble:
        connection.close()
        return {"database": "it cannot be used"}


def _migrations() -> dict[str, str]:
    lacking = schema.unapplied()
    return {"migrations": f"not applied: {', '.join(lacking)}"} if lacking else {}


def _worker() -> dict[str, str]:
    return {} if Worker.objects.alive().exists() else {"worker": "none is alive"}
