"""The account that the embedded server runs under."""

from __future__ import annotations

import os
import pwd
import sys
from dataclasses import dataclass
from pathlib import Path

from aicontrol.embedded import unprivileged
from aicontrol.embedded.errors import EmbeddedServerError

ROOT = 0


@dataclass(frozen=True, slots=True)
class Account:
    """A user id and group id that PostgreSQL is run as."""

    uid: int
    gid: int

    def command(self, argv: list[str]) -> list[str]:
        """Return the command line that runs `argv` under this account."""
        if os.geteuid() != ROOT:
            return argv
        return [sys.executable, "-I", unprivileged.__file__, str(self.uid), str(self.gid), *argv]

    def give(self, folder: Path) -> None:
        """Make the account the owner of a folder and of all in it. Follows no links, changes no permissions."""
        if os.geteuid() != ROOT or folder.stat().st_uid == self.uid:
            return
        for parent, folders, files in os.walk(folder):
            for name in (*folders, *files):
                os.chown(os.path.join(parent, name), self.uid, self.gid, follow_symlinks=False)
        os.chown(folder, self.uid, self.gid)


def server_account(cluster: Path) -> Account:
    """Return the account for the server of this data folder.

    That is our own, unless we are root, as whom PostgreSQL refuses to run: then it is the owner of the data
    (so that ``sudo bin/demo`` leaves them usable), or ``nobody``.

    Raises:
        EmbeddedServerError: there is no account, or the data are somebody else's.
    """
    if os.geteuid() != ROOT:
        _require_ours(cluster)
        return Account(os.geteuid(), os.getegid())
    if cluster.exists() and cluster.stat().st_uid != ROOT:
        return Account(cluster.stat().st_uid, cluster.stat().st_gid)
    try:
        entry = pwd.getpwnam("nobody")
    except KeyError:
        raise EmbeddedServerError(
            "PostgreSQL can't run as root, and this system has no account called nobody to run it under. "
            "Run this as an ordinary user, or set DATABASE_URL."
        ) from None
    return Account(entry.pw_uid, entry.pw_gid)


def _require_ours(cluster: Path) -> None:
    if cluster.exists() and cluster.stat().st_uid != os.geteuid():
        raise EmbeddedServerError(
            f"The database in {cluster} belongs to another account (id {cluster.stat().st_uid}), which probably means "
            "that it was made as root. Run this as that account, or give the folder to yourself, or remove it."
        )
