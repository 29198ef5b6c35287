"""The data folder of the embedded server, which is there whole or not at all."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from aicontrol.embedded.account import Account
from aicontrol.embedded.errors import EmbeddedServerError
from aicontrol.embedded.programs import program

OWNER = "aicontrol"  # the superuser inside the database; nothing to do with the system's accounts

# The builtin provider sorts and compares the same on every system and version of the C library, so that a data folder
# never has a stale index after an update.
LOCALE = ("--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C")


# initdb runs its neighbour by a shell, with its path in double quotes.
UNUSABLE = frozenset('"$`\\')


def make_cluster(cluster: Path, account: Account, *, durable: bool) -> None:
    """Make the data folder unless it exists.

    It is made beside its place and renamed, so that an interrupted run leaves nothing that looks like a database.
    The caller holds the start lock: two at once would use the same folder.

    Arguments:
        durable: flush it to disk before the rename; off for tests.

    Raises:
        EmbeddedServerError: initdb failed; with its last lines.
    """
    if cluster.exists():
        return
    if wrong := UNUSABLE.intersection(str(program("initdb"))):
        raise EmbeddedServerError(
            f"PostgreSQL's initdb cannot run from {program('initdb')}, since the path holds {' '.join(sorted(wrong))}. "
            "Move the checkout, or set DATABASE_URL."
        )
    unfinished = cluster.with_name(cluster.name + ".new")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700)
    account.give(unfinished)
    _run_initdb(unfinished, account, durable=durable)
    unfinished.rename(cluster)


def _run_initdb(folder: Path, account: Account, *, durable: bool) -> None:
    argv = [str(program("initdb")), "--pgdata", str(folder), "--username", OWNER, "--auth=trust", *LOCALE]
    if not durable:
        argv.append("--no-sync")
    result = subprocess.run(  # noqa: S603  our own program
        account.command(argv),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        start_new_session=True,  # Ctrl-C is for us to handle, not for initdb
    )
    if result.returncode != 0:
        raise EmbeddedServerError(f"The embedded database could not be made: {last_lines(result.stdout)}")


def last_lines(text: str, count: int = 5) -> str:
    """Return the last lines that say something, in one line."""
    return " / ".join([line.strip() for line in text.splitlines() if line.strip()][-count:]) or "(it said nothing)"
