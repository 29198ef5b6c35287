"""Teams with checks that go on for as long as a benchmark takes, and the processes that serve them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from benchmarks.database import analyze

TEAMS, CHECKS_OF_A_TEAM, PROMPTS = 10, 10, 10
SYSTEMS = ("chatgpt", "perplexity", "copilot", "gemini", "google_ai")
CHECKS = TEAMS * CHECKS_OF_A_TEAM
JOBS = CHECKS * PROMPTS * len(SYSTEMS)
GUNICORN = ("--workers=2", "--threads=4")


def checks_of_teams() -> Iterator[list[tuple[str, str]]]:
    """Ask the checks of one team after the other: the paths of their pages, each with a member's cookie."""
    from django.conf import settings
    from django.test import Client

    from capture import lanes, reports
    from tests.factories import make_check, make_user

    lanes.make_missing()
    prompts = tuple(f"Which espresso machine is best for an office of {number} people?" for number in range(PROMPTS))
    for _ in range(TEAMS):
        user, client = make_user(), Client()
        client.force_login(user)
        cookie = f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
        checks = (make_check(user, prompts=prompts, providers=SYSTEMS) for _ in range(CHECKS_OF_A_TEAM))
        yield [(reports.check_url(check), cookie) for check in checks]
    analyze()


@contextmanager
def gunicorn(log: Path, simulator: str) -> Iterator[tuple[int, int]]:
    """The web server as the README starts it: its port and its process.

    Arguments:
        simulator: its address.
    """
    from tests.browser.site import Site
    from tests.process.running import ROOT, environment, until

    site = Site(log, SIMULATOR_URL=simulator, LOG_LEVEL="ERROR")
    site.prepare()
    command = [sys.executable, "-m", "gunicorn", f"--bind=127.0.0.1:{site.port}", *GUNICORN, "--no-control-socket"]
    variables = environment(**site.variables) | {"PYTHONWARNINGS": "default"}
    command += ["--log-level=error", "aicontrol.wsgi"]
    with (
        log.open("ab") as output,
        subprocess.Popen(command, cwd=ROOT, env=variables, stdout=output, stderr=output) as web,
    ):
        try:
            until(site._answers)
            yield site.port, web.pid
        finally:
            web.terminate()


def postmaster() -> int:
    """The process of the embedded PostgreSQL from which all of its others descend."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        own: int = cursor.fetchone()[0]
    return psutil.Process(own).ppid()
