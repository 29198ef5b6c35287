"""`manage.py`, by a process that takes itself to be on another machine: for where there are no namespaces.

python -m tests.process.elsewhere BOOT_ID runworkers
"""

from __future__ import annotations

import sys

from capture import processes


def main() -> None:
    """Be elsewhere: process numbers of other places prove nothing here, nor ours there."""
    boot_id = sys.argv.pop(1)
    setattr(processes, "here", lambda: processes.Place(boot_id, "pid:[1]"))  # noqa: B010  the product has no such hook
    import manage

    sys.argv[0] = "manage.py"
    manage.main()


if __name__ == "__main__":
    main()
