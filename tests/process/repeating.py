"""A process that makes what is due, at the times that it is told on its standard input, and says how many it made.

Run with `python -m`; the database is that of the environment. It stands for a worker at its beats, with our clock.
"""

from __future__ import annotations

import os
import sys
from datetime import datetime

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "aicontrol.settings")
    django.setup()
    from capture.schedules import ask_due

    for line in sys.stdin:
        print(ask_due(datetime.fromisoformat(line.strip())), flush=True)


if __name__ == "__main__":
    main()
