"""The embedded PostgreSQL, with real servers and real processes that use it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from aicontrol.embedded import unprivileged
from aicontrol.embedded.account import ROOT, server_account
from aicontrol.embedded.errors import EmbeddedServerError
from aicontrol.embedded.postmaster import PidFile
from aicontrol.embedded.server import EmbeddedServer
from aicontrol.embedded.sockets import LOCK, LONGEST, SOCKET, accepts, socket_folder

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).resolve().parents[2]
NOBODY = 65_534

# Uses the server until its standard input ends.
USER = """
import pathlib, sys
from aicontrol.embedded.server import server_for
server_for(pathlib.Path(sys.argv[1]), durable=False).address()
print("up", flush=True)
sys.stdin.read()
"""

# Forks a child that ends at once, then uses the server like the other.
FORKING_USER = USER.replace("print(", "import os; os.fork() or sys.exit(); os.wait(); print(")


class User:
    """A process that uses the server of a folder."""

    def __init__(self, folder: Path, script: str = USER, prefix: tuple[str, ...] = ()) -> None:
        self.process = subprocess.Popen(
            [*prefix, sys.executable, "-c", script, str(folder)],
            cwd=CHECKOUT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def is_up(self) -> bool:
        assert self.process.stdout
        return self.process.stdout.readline() == "up\n"

    def end(self) -> str:
        """End tidily; return what it wrote on standard error."""
        return self.process.communicate(timeout=60)[1]

    def kill(self) -> None:
        self.process.kill()
        self.end()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def user_of() -> Iterator[Callable[..., User]]:
    """Make users, and end those that a failed test has left."""
    users: list[User] = []

    def make(*arguments: Any, **options: Any) -> User:
        users.append(User(*arguments, **options))
        return users[-1]

    yield make
    for user in users:
        if user.process.poll() is None:
            user.end()


def server_pid(folder: Path) -> int | None:
    return PidFile(folder / "postgres").pid()


def running_pid(folder: Path) -> int:
    pid = server_pid(folder)
    assert pid is not None
    return pid


def wait_until(condition: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_first_user_starts_it_and_the_last_one_stops_it(folder, user_of):
    first, second = user_of(folder), user_of(folder)
    assert first.is_up()
    assert second.is_up()
    pid = server_pid(folder)

    assert first.end() == ""
    assert server_pid(folder) == pid

    assert second.end() == ""
    assert server_pid(folder) is None


def test_many_that_start_at_once_get_one_server(folder, user_of):
    users = [user_of(folder) for _ in range(5)]
    assert all(user.is_up() for user in users)

    assert [user.end() for user in users] == [""] * 5

    log = (folder / "postgres.log").read_text()
    assert log.count("ready to accept connections") == 1
    assert log.count("database system is shut down") == 1


def test_a_killed_user_leaves_it_to_the_next_who_stops_it(folder, user_of):
    killed = user_of(folder)
    assert killed.is_up()
    pid = server_pid(folder)
    killed.kill()

    following = user_of(folder)

    assert following.is_up()
    assert server_pid(folder) == pid
    assert following.end() == ""
    assert server_pid(folder) is None


def test_a_forked_child_neither_holds_nor_stops_it(folder, user_of):
    user = user_of(folder, FORKING_USER)

    assert user.is_up()
    assert server_pid(folder) is not None

    assert user.end() == ""
    assert server_pid(folder) is None


def test_it_has_a_session_of_its_own_so_that_ctrl_c_does_not_reach_it(folder, user_of):
    user = user_of(folder)
    assert user.is_up()
    pid = running_pid(folder)

    assert os.getsid(pid) == pid != os.getsid(user.process.pid)

    user.end()


def test_a_killed_server_is_started_again_with_its_data(folder):
    server = EmbeddedServer(folder, durable=False)
    server.address()
    with server._connect("aicontrol") as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS one")
    first = running_pid(folder)
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: not accepts(folder / "postgres"))

    server.address()

    assert server_pid(folder) not in {None, first}
    with server._connect("aicontrol") as connection:
        assert connection.execute("SELECT one FROM kept").fetchone() == (1,)
    server.leave()
    assert server_pid(folder) is None


def test_a_process_that_ends_does_not_start_it_again(folder):
    server = EmbeddedServer(folder, durable=False)
    server.address()
    server.leave()

    with pytest.raises(EmbeddedServerError, match="ending"):
        server.address()

    assert server_pid(folder) is None


def test_a_pid_file_that_names_another_program_is_no_obstacle(folder, user_of):
    user = user_of(folder)
    assert user.is_up()
    server = running_pid(folder)
    os.kill(server, signal.SIGKILL)
    user.kill()
    wait_until(lambda: not PidFile(folder / "postgres").is_server(server))
    sleep = server_account(folder / "postgres").command([str(shutil.which("sleep")), "60"])
    with subprocess.Popen(sleep) as sleeper:
        for lock in ("postmaster.pid", LOCK):
            path = folder / "postgres" / lock
            path.write_text(path.read_text().replace(str(server), str(sleeper.pid), 1))

        after_restart = user_of(folder)

        assert after_restart.is_up()
        assert after_restart.end() == ""
        sleeper.kill()


def test_an_interrupted_initdb_is_done_again(folder, user_of):
    unfinished = folder / "postgres.new"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18\n")

    user = user_of(folder)

    assert user.is_up()
    assert user.end() == ""
    assert not unfinished.exists()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("long " * 30, id="long"),
        pytest.param("""it's "quoted", $HOME and\ttab""", id="quotes, comma, dollar"),
        pytest.param("größe 数据", id="not ASCII"),
    ],
)
def test_any_path_will_do(tmp_path, name, user_of):
    folder = tmp_path / name / "data"

    user = user_of(folder)

    assert user.is_up()
    assert server_pid(folder) is not None
    assert len(os.fsencode(socket_folder(folder / "postgres") / SOCKET)) <= LONGEST
    assert user.end() == ""
    assert server_pid(folder) is None


def test_two_processes_with_different_temporary_folders_meet(tmp_path, monkeypatch, user_of):
    folder = tmp_path / ("long " * 30)
    first = user_of(folder)
    assert first.is_up()
    (tmp_path / "t").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "t"))

    second = user_of(folder)

    assert second.is_up()
    first.end()
    assert second.end() == ""
    assert server_pid(folder) is None


@pytest.mark.parametrize("how", ["a link", "open to others", "a file"])
def test_a_socket_folder_that_is_not_private_is_refused(tmp_path, monkeypatch, how):
    cluster = tmp_path / ("long " * 30) / "postgres"
    place = socket_folder(cluster)
    place.rmdir()
    if how == "a link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        place.symlink_to(tmp_path / "elsewhere")
    elif how == "open to others":
        place.mkdir()
        place.chmod(0o755)
    else:
        place.touch()

    with pytest.raises(EmbeddedServerError, match="in the way"):
        socket_folder(cluster)

    place.rmdir() if how == "open to others" else place.unlink()


def test_a_server_that_does_not_start_says_why(folder, user_of):
    user_of(folder).end()
    with (folder / "postgres" / "postgresql.conf").open("a") as configuration:
        configuration.write("no_such_setting = 1\n")

    with pytest.raises(EmbeddedServerError, match="no_such_setting"):
        EmbeddedServer(folder, durable=False).address()


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(EmbeddedServerError, match="can't be used"):
        EmbeddedServer(tmp_path / "file" / "data").address()


@pytest.mark.skipif(os.geteuid() != ROOT, reason="only root needs another account")
def test_as_root_it_runs_in_a_private_folder_and_changes_none_above_it(tmp_path, user_of):
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    before = [(path.stat().st_mode, path.stat().st_uid) for path in (private, *private.parents)]

    user = user_of(private / "data")

    assert user.is_up()
    assert (private / "data" / "postgres").stat().st_uid != ROOT
    assert [(path.stat().st_mode, path.stat().st_uid) for path in (private, *private.parents)] == before
    assert user.end() == ""


@pytest.mark.skipif(os.geteuid() != ROOT, reason="only root can become somebody else")
def test_an_ordinary_user_runs_it_as_itself(folder, user_of):
    folder.mkdir()
    os.chown(folder, NOBODY, NOBODY)
    # Keeps the right to pass folders: the Python that runs the tests may be in one that only root can enter.
    become = (sys.executable, "-I", unprivileged.__file__, str(NOBODY), str(NOBODY))

    user = user_of(folder, prefix=become)

    assert user.is_up()
    assert {path.stat().st_uid for path in folder.iterdir()} == {NOBODY}
    assert user.end() == ""
    assert server_pid(folder) is None


@pytest.mark.skipif(os.geteuid() != ROOT, reason="only root can become somebody else")
def test_data_of_another_account_are_refused_with_a_reason(folder, user_of):
    user_of(folder).end()
    (folder / "postgres").rename(folder / "other")
    shutil.copytree(folder / "other", folder / "postgres")
    for path in (folder, folder / "postgres.lock", folder / "postgres.start.lock"):
        os.chown(path, NOBODY, NOBODY)

    become = (sys.executable, "-I", unprivileged.__file__, str(NOBODY), str(NOBODY))

    assert "belongs to another account" in user_of(folder, prefix=become).end()
