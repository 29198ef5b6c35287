"""The real bin/demo, in a copy of the checkout with a data folder of its own."""

from __future__ import annotations

import http.cookiejar
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.conftest import CHECKOUT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc"),
]

CANNOT_RUN = 2
PATIENCE = 100.0  # seconds; only a failure waits for so long
COUNT_SOURCES = (
    "from capture.models import Capture; "
    "print(Capture.objects.filter(sources__isnull=False, simulated=True).exclude(text='').distinct().count())"
)
NOT_COPIED = (".venv", ".data", ".env", ".git", "staticfiles", "__pycache__", ".*_cache", ".hypothesis")


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Demo:
    """bin/demo of one checkout, and what can be seen of it from outside."""

    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout
        self.port = free_port()
        self.log = checkout / "demo.log"
        self.process: subprocess.Popen[bytes] | None = None

    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}

    def start(self, *arguments: str) -> None:
        """Start it, and wait until it says where it is."""
        self.launch(*arguments)
        until(lambda: "Open http" in self.said() or self.process is None or self.process.poll() is not None)
        assert "Open http" in self.said(), self.said()

    def launch(self, *arguments: str) -> None:
        command = [sys.executable, str(self.checkout / "bin" / "demo"), "--port", str(self.port), *arguments]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, cwd="/", env=self.environment(), stdout=log, stderr=log)

    def said(self) -> str:
        return self.log.read_text()

    def signal(self, number: int) -> int:
        """Send a signal, and return the exit code."""
        assert self.process
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def second(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the command again, in a second terminal."""
        command = [sys.executable, str(self.checkout / "bin" / "demo"), *arguments]
        return self.run(command)

    def shell(self, script: str) -> str:
        """Run some lines in `manage.py shell` in a second terminal, and return what they print."""
        result = self.manage("shell", "-v0", "-c", "from django.contrib.auth.models import User as U;" + script)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run manage.py in a second terminal."""
        return self.run([str(self.checkout / ".venv" / "bin" / "python"), "manage.py", *arguments])

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.checkout,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def processes(self, word: str = "") -> set[int]:
        """The processes that belong to this checkout and have a word in their command line."""
        return set(processes(str(self.checkout), word))

    def password(self) -> str:
        match = re.search(r"password: (\S+)", self.said())
        assert match
        return match[1]


def processes(*words: str) -> Iterator[int]:
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if all(word in command for word in words):
                yield int(folder.name)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout whose path is too long for a socket, with the packages of this one."""
    path = tmp_path_factory.mktemp("demo") / ("a folder " * 8).strip() / "check out"
    shutil.copytree(CHECKOUT, path, ignore=shutil.ignore_patterns(*NOT_COPIED))
    (path / ".venv").symlink_to(sys.prefix)
    return path


@pytest.fixture
def demo(checkout: Path) -> Iterator[Demo]:
    # Under nohup, as these tests may run, SIGHUP would be ignored by all that is started here.
    usual = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    demo = Demo(checkout)
    yield demo
    signal.signal(signal.SIGHUP, usual)
    if demo.process and demo.process.poll() is None:
        demo.signal(signal.SIGINT)
    for pid in demo.processes():
        os.kill(pid, signal.SIGKILL)


def browser() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))


def post(browser: urllib.request.OpenerDirector, address: str, **form: str) -> str:
    """Send the form of a page as a browser does, and return the address that it leads to."""
    with browser.open(address) as page:
        (token,) = set(re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page.read().decode()))
    with browser.open(address, urllib.parse.urlencode({**form, "csrfmiddlewaretoken": token}).encode()) as page:
        return str(page.url)


def log_in(port: int, password: str) -> str:
    return post(browser(), f"http://127.0.0.1:{port}/login/", username="demo", password=password)


def test_it_serves_lets_people_in_and_leaves_nothing_running(demo):
    demo.start()

    assert demo.said().splitlines()[-1].startswith(f"Open http://127.0.0.1:{demo.port}/")
    assert "ChatGPT: simulated (no OPENAI_API_KEY in .env)" in demo.said()
    assert log_in(demo.port, demo.password()) == f"http://127.0.0.1:{demo.port}/"
    assert demo.processes("postgres")
    assert demo.processes("runworkers")

    assert demo.signal(signal.SIGINT) == 0
    assert demo.processes() == set()
    assert not (demo.checkout / ".data" / "demo.env").exists()
    assert "Traceback" not in demo.said()


def test_mails_are_printed_to_its_terminal(demo):
    demo.start("--no-simulator")
    address = f"http://127.0.0.1:{demo.port}/password/forgotten/"

    post(browser(), address, email="demo@localhost.example")

    until(lambda: f"http://127.0.0.1:{demo.port}/password/set/" in demo.said())


def assert_a_check_is_answered_whole(demo):
    prompts = [
        part for number in range(3) for part in ("--prompt", f"Which espresso machine suits {number + 2} people?")
    ]
    systems = ["--provider", "chatgpt", "--provider", "perplexity"]

    result = demo.manage("startcheck", "--user", "demo", "--brand", "Acme", *prompts, *systems, "--wait", "--json")

    jobs = json.loads(result.stdout)["jobs"]
    assert result.returncode == 0, result.stderr
    assert len(jobs) == 6
    assert {(job["outcome"], job["attempts"]) for job in jobs} == {("answered", 1)}
    assert demo.shell(COUNT_SOURCES) == "6\n"


def test_a_second_terminal_sees_the_same_database_and_simulator_has_a_check_answered_and_starts_no_second_demo(demo):
    demo.start()
    assert_a_check_is_answered_whole(demo)

    script = "from django.conf import settings; print(settings.SIMULATOR_URL, *U.objects.values_list('username'))"
    url, user = demo.shell(script).split()
    again = demo.second("--port", str(free_port()))

    assert urllib.request.urlopen(f"{url}/__control__/counts").status == 200
    assert user == "('demo',)"
    assert again.returncode == CANNOT_RUN
    assert "already runs" in again.stderr
    assert again.stderr.count("\n") == 1
    assert demo.signal(signal.SIGTERM) == 0
    assert demo.processes() == set()


def test_a_second_start_keeps_the_data_and_a_killed_worker_is_started_again(demo):
    demo.start("--no-simulator")
    password = demo.password()
    assert "ChatGPT: not asked (no OPENAI_API_KEY in .env)" in demo.said()
    demo.shell("U.objects.create(username='kept'); u = U.objects.get(username='demo'); u.set_password('new'); u.save()")
    assert demo.signal(signal.SIGHUP) == 0

    demo.start()

    assert demo.password() == password
    assert log_in(demo.port, password) == f"http://127.0.0.1:{demo.port}/"
    assert demo.shell("print(U.objects.filter(username='kept').count())") == "1\n"
    (worker,) = demo.processes("runworkers")
    os.kill(worker, signal.SIGKILL)
    until(lambda: demo.processes("runworkers") - {worker})
    assert "The worker ended (SIGKILL); it is started again in 1 s." in demo.said()
    assert demo.signal(signal.SIGINT) == 0
    assert demo.processes() == set()


def test_what_it_started_ends_with_it_even_if_it_is_killed(demo):
    demo.start()

    demo.signal(signal.SIGKILL)

    until(lambda: demo.processes() == set())


def test_a_second_ctrl_c_ends_it_at_once(demo):
    demo.start()
    (worker,) = demo.processes("runworkers")
    os.kill(worker, signal.SIGSTOP)  # it would be waited for
    demo.process.send_signal(signal.SIGINT)
    until(lambda: "Stopping" in demo.said())
    time.sleep(0.5)
    began = time.monotonic()

    demo.signal(signal.SIGINT)

    assert time.monotonic() - began < 10
    assert demo.processes() == set()


def test_a_port_in_use_is_one_line_before_anything_is_started(demo):
    shutil.rmtree(demo.checkout / ".data", ignore_errors=True)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        result = demo.second("--port", str(port))

    assert result.returncode == CANNOT_RUN
    assert result.stderr.startswith(f"bin/demo: port {port} is in use")
    assert result.stderr.count("\n") == 1
    assert not (demo.checkout / ".data" / "postgres").exists()


@pytest.mark.parametrize("port", ["0", "65536", "-1", "http", "８０"])
def test_a_port_that_is_none_is_a_usage_error(demo, port):
    result = demo.second("--port", port)

    assert result.returncode == CANNOT_RUN
    assert "--port" in result.stderr


def test_ctrl_c_stops_the_database_also_under_a_command_that_waits_in_another_terminal(demo):
    demo.start("--no-simulator")
    script = "from django.db import connection; connection.ensure_connection(); print('in'); input()"
    command = [str(demo.checkout / ".venv" / "bin" / "python"), "manage.py", "shell", "-v0", "-c", script]
    with subprocess.Popen(
        command, cwd=demo.checkout, env=demo.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout
        assert other.stdout.readline() == b"in\n"

        assert demo.signal(signal.SIGINT) == 0

        assert not demo.processes("postgres")
        other.kill()
