"""`python -m tests.killtest`: exit code 0 only if nothing is wrong."""

from __future__ import annotations

import logging
import os
import sys
import time
from pathlib import Path

from tests.killtest import arguments as command_line
from tests.killtest import ledgers, plan, report
from tests.killtest.arguments import Arguments
from tests.killtest.server import Server
from tests.killtest.systems import Systems

SYSTEMS = 5


def main() -> int:
    """Read the command line, run the test, print the table."""
    arguments = command_line.read()
    keep_the_environment_out()
    folder = Path(os.environ.get("AICONTROL_DATA", ".data/killtest")).resolve()
    logs = folder / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    for old in logs.glob("*.log"):
        old.unlink()
    with Server(folder, os.environ.get("DATABASE_URL", "")) as server:
        os.environ["DATABASE_URL"] = server.url
        return kill(arguments, server, logs)


def keep_the_environment_out() -> None:
    """No key and no setting of the checkout's owner reaches the test; an AI system is never asked for real."""
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "PERPLEXITY_", "GEMINI_", "SERPAPI_", "CAPTURE_", "PG")):
            del os.environ[name]
    os.environ |= {"AICONTROL_ENV": os.devnull, "DEBUG": "on", "LOG_LEVEL": "INFO", "PYTHONWARNINGS": "error"}
    os.environ["DJANGO_SETTINGS_MODULE"] = "aicontrol.settings"


def kill(arguments: Arguments, server: Server, logs: Path) -> int:
    """Run the test on a database that is there, and print what came of it."""
    began = time.monotonic()
    planned = plan.make(arguments, SYSTEMS)
    with Systems(logs, planned.script) as systems:
        os.environ["SIMULATOR_URL"] = systems.url
        import django

        django.setup()
        logging.getLogger("capture").setLevel(logging.WARNING)  # that the test enqueues is no news
        from django.db import connection

        from tests.killtest.run import Run

        run = Run(arguments, planned, server, systems, logs)
        books = run.run()
        connection.close()
    findings = ledgers.compare(books)
    done = report.Done(arguments, run.deaths, run.interruptions, run.requeued, time.monotonic() - began)
    print(report.table(done, books, findings))
    if arguments.crashes and not server.can_crash:
        print("\nThe database was not restarted: DATABASE_URL names a server that is not the test's own.")
    wrong = [finding.what for finding in findings if finding.count]
    print(f"\nWRONG: {', '.join(wrong)}. The logs are in {logs}." if wrong else "\nAll is right.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
