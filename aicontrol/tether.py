"""Run a command that ends with the process that started it, even if that is killed.

    python -I tether.py PARENT COMMAND [ARGUMENT]...

The supervisor of bin/demo stops its services itself; this is for when it can't any more. Linux sends the signal when
the parent is gone; elsewhere the command just runs. A program of its own, since the request has to be made by the
process that it is for, and survives `exec` but not `fork`.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent: int, command: list[str]) -> None:
    """Ask for SIGTERM at the parent's end, and replace this process by the command.

    Arguments:
        parent: the id of the process that started this one; it may have ended before the request was made.
    """
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
        if os.getppid() != parent:
            sys.exit(1)
    os.execv(command[0], command)  # noqa: S606  no shell is wanted


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
