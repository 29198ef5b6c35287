"""The word by which workers are woken: something may be claimable. A hint; polling finds whatever it misses."""

from __future__ import annotations

from typing import Any

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db import Error as DatabaseTrouble
from django.db.utils import ConnectionHandler

CHANNEL = "aicontrol_jobs"


def notify() -> None:
    """Wake the workers when the transaction around is committed, or at once where there is none.

    However often one transaction says it, it is sent once: the server drops repetitions, since there is no payload.
    More would be dear, as every COMMIT with a NOTIFY waits for every other.
    """
    with connection.cursor() as cursor:
        cursor.execute(f"NOTIFY {CHANNEL}")


def listening_parameters() -> dict[str, Any]:
    """What psycopg connects with where CAPTURE_LISTEN says: to the database itself, or at an address of its own.

    Raises:
        psycopg.OperationalError: the embedded database cannot be started.
    """
    own = settings.CAPTURE_LISTEN
    handler = ConnectionHandler({DEFAULT_DB_ALIAS: own}) if isinstance(own, dict) else connections
    try:
        parameters = handler[DEFAULT_DB_ALIAS].get_connection_params()
    except DatabaseTrouble as error:
        raise psycopg.OperationalError(str(error)) from error
    return {**parameters, "application_name": "aicontrol worker listener"}
