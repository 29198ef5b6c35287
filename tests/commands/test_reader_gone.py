"""Whoever reads what a command prints may go, as `| head` does: the command ends, with no word about that."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from django.core.management import get_commands

from tests.conftest import CHECKOUT
from tests.factories import make_check, make_user
from tests.process.running import environment

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("simulated")]

ASKED = {
    "ask": ["chatgpt", "Why?"],
    "checkproviders": [],
    "cleanupjobs": ["--dry-run"],
    "eraseuser": ["ada", "--dry-run"],
    "exportuser": ["ada"],
    "queuestatus": [],
    "reanalyse": [],
    "startcheck": ["--user=ada", "--brand=A", "--prompt=Why?", "--provider=chatgpt"],
}
PRINT_NOTHING = {"runworkers"}
LONG = 100_000  # characters, more than a pipe holds


def command(name: str, *arguments: str, buffered: bool = True, **options: Any) -> subprocess.Popen[bytes]:
    variables = environment(SIMULATOR_URL="http://127.0.0.1:9", PYTHONUNBUFFERED="" if buffered else "1")
    return subprocess.Popen(
        [sys.executable, "manage.py", name, *arguments], cwd=CHECKOUT, env=variables, stderr=subprocess.PIPE, **options
    )


def test_every_command_is_in_the_table():
    ours = {name for name, app in get_commands().items() if app == "capture"}

    assert ours == ASKED.keys() | PRINT_NOTHING


@pytest.mark.parametrize("name", [*ASKED, "showmigrations"])
def test_one_who_has_gone_is_not_complained_of(name):
    make_check(make_user("ada"))
    assert ended_unread(name, buffered=False) == (1 if name == "queuestatus" else 0)


@pytest.mark.parametrize(("name", "code"), [("ask", 1), ("queuestatus", 1), ("exportuser", 0)])
def test_the_exit_code_is_right_where_all_was_done_before_anything_was_printed(name, code):
    make_check(make_user("ada"))
    assert ended_unread(name, buffered=True) == code


def ended_unread(name: str, *, buffered: bool) -> int:
    """The exit code of a command whose reader has gone before it begins."""
    reading, writing = os.pipe()
    os.close(reading)
    with command(name, *ASKED.get(name, []), buffered=buffered, stdout=writing) as process:
        os.close(writing)
        _, told = process.communicate(timeout=60)
    assert b"Broken" not in told
    assert b"Traceback" not in told
    return process.returncode


def test_one_who_goes_in_the_middle_ends_it():
    make_check(make_user("ada"), prompts=("Why?" * (LONG // 4),) * 3)

    with command("exportuser", "ada", stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.read(9) == b'{"user": '
        process.stdout.close()
        _, told = process.communicate(timeout=60)

    assert (process.returncode, told) == (0, b"")
