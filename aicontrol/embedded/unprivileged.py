"""Run a command as an unprivileged account that can still reach private folders.

    python -I unprivileged.py UID GID COMMAND [ARGUMENT]...

PostgreSQL refuses to run as root. Under another account it could not reach a checkout in ``/root`` or in a
``mktemp -d`` folder, and opening those folders up is not ours to do. So the command runs under that account and keeps
one capability, ``CAP_DAC_OVERRIDE``, which lets it pass folders whatever their mode. It is kept as an *ambient*
capability, the only kind that outlives ``exec`` of an ordinary file and is handed on to child processes.

The secure bit ``NO_SETUID_FIXUP`` has two uses: the change of account drops no capability, and ``access(2)``, by which
PostgreSQL looks for its own files, honours it.

A kernel or sandbox that allows none of this is not yet an error: the command works without where all folders on
the way are open to everybody. Where they are not, this ends with one line on standard error and exit code 126.

This is a program of its own (it changes the process for good, and nothing between fork and exec may do so in a process
with threads), needs only the standard library, and runs on Linux only.
"""

import ctypes
import os
import sys

CAP_DAC_OVERRIDE = 1
CAPABILITY_VERSION_3 = 0x20080522
PR_SET_SECUREBITS = 28
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_RAISE = 2
SECBIT_NO_SETUID_FIXUP = 1 << 2

CANNOT_RUN = 126  # what shells return for a command that is there and can't be run


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Sets(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def main(uid: int, gid: int, command: list[str]) -> None:
    """Become the account and replace this process by the command.

    Raises:
        OSError: the account can't be taken on (an id that does not exist in this user namespace).
    """
    libc = ctypes.CDLL(None, use_errno=True)
    keeping = libc.prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0) == 0
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)
    if not (keeping and _keep_only_dac_override(libc)):
        _require_open_folders(command)
    os.execv(command[0], command)  # noqa: S606  no shell is wanted


def _keep_only_dac_override(libc: ctypes.CDLL) -> bool:
    """Give up every capability but the one, which is kept over exec. Return whether that worked."""
    one = 1 << CAP_DAC_OVERRIDE
    header = _Header(CAPABILITY_VERSION_3, 0)
    sets = (_Sets * 2)(_Sets(one, one, one), _Sets(0, 0, 0))
    if libc.capset(ctypes.byref(header), ctypes.byref(sets)) != 0:
        return False
    return bool(libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_OVERRIDE, 0, 0) == 0)


def _require_open_folders(command: list[str]) -> None:
    """End with one clear line when a path of the command is out of the account's reach."""
    for path in filter(os.path.isabs, command):
        if not os.access(path, os.R_OK):
            print(  # noqa: T201  a program's error output
                f"Root can't run PostgreSQL itself, and this system does not let the account with id {os.getuid()} "
                f"keep the capability to reach {path}. Use a folder that everybody can enter, run this as an "
                "ordinary user, or set DATABASE_URL.",
                file=sys.stderr,
            )
            sys.exit(CANNOT_RUN)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
