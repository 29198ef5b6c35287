"""A backup is made while workers work, the database is lost, and they go on with what was restored."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from django.db import connection
from psycopg import sql

from aicontrol.embedded import programs
from capture import lanes
from capture.models import Attempt, CaptureJob, Lane, Status
from tests.factories import make_check
from tests.process.running import simulator, until, worker

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

RESTORED = "aicontrol_restored"
FOR_EVER = {"pending_for_s": None}


def program(name: str) -> str:
    """Of the same version as the server, which may be newer than those that the system has."""
    version = connection.cursor().connection.info.server_version // 10_000
    of_the_system = Path(f"/usr/lib/postgresql/{version}/bin/{name}")
    return str(of_the_system if of_the_system.exists() else programs.program(name))


def server() -> list[str]:
    parameters = connection.get_connection_params()
    return [f"--host={parameters['host']}", f"--username={parameters['user']}"]


def run(name: str, *arguments: str) -> None:
    result = subprocess.run([program(name), *server(), *arguments], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


@contextmanager
def restored_from(file: Path) -> Iterator[str]:
    """A new database with what was saved. Gives its address."""
    parameters = connection.get_connection_params()
    drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(RESTORED))
    with connection.cursor() as cursor:
        cursor.execute(drop.as_string())
        cursor.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(RESTORED)).as_string())
        try:
            run("pg_restore", "--no-owner", "--exit-on-error", f"--dbname={RESTORED}", str(file))
            yield f"postgres://{parameters['user']}@/{quote(parameters['host'])}/{RESTORED}"
        finally:
            cursor.execute(drop.as_string())


def connected() -> psycopg.Connection[tuple[Any, ...]]:
    parameters = connection.get_connection_params()
    return psycopg.connect(host=parameters["host"], user=parameters["user"], dbname=RESTORED, autocommit=True)


def one(database: psycopg.Connection[tuple[Any, ...]], query: str) -> Any:
    (row,) = database.execute(query).fetchall()
    return row[0]


def started(system, slug):
    return system.counts()["starts"].get(slug, {}).get("total", 0)


def test_nothing_is_lost_and_nothing_asked_twice_without_being_told_after_a_restore(tmp_path):
    """When it is saved, jobs are done, in hand at their systems, just being sent, and not yet begun."""
    lanes.make_missing()
    Lane.objects.filter(name="gemini").update(paused=True)
    saved = tmp_path / "saved.dump"
    with simulator("--speed", "1000") as system:
        with worker(log=tmp_path / "before.log", SIMULATOR_URL=system.url) as process:
            make_check(prompts=("done?", "done too?"))
            until(lambda: CaptureJob.objects.filter(status=Status.DONE).count() == 2)
            system.script(
                {"system": "chatgpt", "call": "poll", "times": None, "do": FOR_EVER},
                {"system": "perplexity", "call": "start", "times": None, "do": {"delay_s": 40}},
            )
            make_check(prompts=("in hand?", "in hand too?", "and this?"))
            make_check(prompts=("being sent?", "being sent too?"), providers=("perplexity",))
            make_check(prompts=("not begun?",), providers=("gemini",))
            until(lambda: CaptureJob.objects.waiting().count() == 3 and started(system, "perplexity") == 2)

            run("pg_dump", "--format=custom", f"--file={saved}", connection.settings_dict["NAME"])
            process.kill()
        CaptureJob.objects.all().delete()  # the database is lost

        system.clear_script()
        with restored_from(saved) as address, connected() as database:
            database.execute("UPDATE capture_lane SET paused = false")
            options = {"SIMULATOR_URL": system.url, "DATABASE_URL": address}
            with worker("--drain", log=tmp_path / "after.log", **options) as process:
                assert process.wait(60) == 0
            jobs = database.execute("SELECT provider, status, attempts, unknowns FROM capture_capturejob").fetchall()
            attempts = database.execute("SELECT outcome FROM capture_attempt").fetchall()
            answers = one(database, "SELECT count(*) FROM capture_capture WHERE outcome = 'answered'")
            charges = one(database, "SELECT count(*) FROM capture_charge")
        starts = {slug: started(system, slug) for slug in ("chatgpt", "perplexity", "gemini")}

    assert (
        sorted(jobs)
        == [("chatgpt", "done", 1, 0)] * 5 + [("gemini", "done", 1, 0)] + [("perplexity", "done", 2, 1)] * 2
    )
    assert answers == len(jobs) == 8
    assert sorted(outcome for (outcome,) in attempts) == ["replied"] * 8 + ["unknown"] * 2
    # Each start at a system is an attempt with its charge; those that were being sent are shown as unknown outcomes.
    assert starts == {"chatgpt": 5, "perplexity": 4, "gemini": 1}
    assert sum(starts.values()) == len(attempts) == charges
    assert not Attempt.objects.exists()
