"""The Django database backend ``aicontrol.embedded``: PostgreSQL, started by the first connection to it.

An entry of DATABASES has two keys of its own: FOLDER, the absolute path of the data folder, and DURABLE, whether a
power cut may lose nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.backends.postgresql import base, client
from django.db.utils import OperationalError

from aicontrol.embedded.errors import EmbeddedServerError
from aicontrol.embedded.programs import program
from aicontrol.embedded.server import Address, server_for


def running_address(settings: dict[str, Any]) -> Address:
    """Return where the server of these database settings is, having started it if need be.

    Raises:
        OperationalError: as for any database that can't be reached; the message says why.
    """
    try:
        return server_for(settings["FOLDER"], durable=settings["DURABLE"]).address()
    except EmbeddedServerError as error:
        raise OperationalError(str(error)) from error


class DatabaseClient(client.DatabaseClient):
    """``manage.py dbshell``, with the embedded psql."""

    @classmethod
    def settings_to_cmd_args_env(
        cls, settings_dict: dict[str, Any], parameters: Iterable[str]
    ) -> tuple[list[str], dict[str, str] | None]:
        """Return the command line and the environment of psql."""
        address = running_address(settings_dict)
        located = settings_dict | {"HOST": address.host, "PORT": address.port, "USER": address.user}
        argv, environment = super().settings_to_cmd_args_env(located, parameters)
        return [str(program("psql")), *argv[1:]], environment


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's PostgreSQL backend, but for where the server is."""

    client_class = DatabaseClient

    def get_connection_params(self) -> dict[str, Any]:
        """Return what psycopg connects with; the server runs by then."""
        address = running_address(self.settings_dict)
        located = {"host": address.host, "port": address.port, "user": address.user}
        return {**super().get_connection_params(), **located}
