"""`python -m simulator` as a process."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from tests.simulator.conftest import FORMS, KEY, chatgpt_form, id_of, poll_call, start_call

ROOT = Path(__file__).parents[2]


@contextmanager
def running(*arguments: str, port: int = 0) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "simulator", "--port", str(port), *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield process, process.stdout.readline().strip().rpartition(" ")[2]
        finally:
            process.kill()


def failing(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "simulator", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20)


def start(url: str, **fields) -> httpx.Response:
    path, body = chatgpt_form("Best bikes?")
    return httpx.post(url + path, json=body | fields, headers=KEY)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_tells_its_address_and_ends_tidily(number: signal.Signals):
    with running() as (process, url):
        assert start(url).status_code == 200

        process.send_signal(number)

        assert process.wait(10) == 0
        assert process.stderr
        assert process.stderr.read() == ""


def test_a_port_in_use_is_one_clear_line():
    with running() as (_, url):
        port = url.rpartition(":")[2]

        second = failing("--port", port)

    assert second.returncode == 2
    assert second.stdout == ""
    assert len(second.stderr.splitlines()) == 1
    assert f"127.0.0.1:{port}" in second.stderr


def test_a_killed_simulator_goes_on_where_it_was(tmp_path: Path):
    state = ("--state", str(tmp_path / "state.jsonl"), "--speed", "inf")
    with running(*state) as (process, url):
        call_id = start(url).json()["id"]
        body = httpx.get(f"{url}/openai/v1/responses/{call_id}", headers=KEY).json()
        counts = httpx.get(f"{url}/__control__/counts").json()
        os.kill(process.pid, signal.SIGKILL)
        process.wait(10)

    with running(*state) as (_, url):
        assert httpx.get(f"{url}/__control__/counts").json() == counts
        assert httpx.get(f"{url}/openai/v1/responses/{call_id}", headers=KEY).json() == body


@pytest.mark.slow
def test_a_simulator_killed_amid_starts_knows_every_id_that_it_gave_out(tmp_path: Path):
    state = ("--state", str(tmp_path / "state.jsonl"))
    given: list[tuple[str, str]] = []
    with running(*state, "--speed", "1000") as (process, url), ThreadPoolExecutor(len(FORMS)) as pool:
        streams = [pool.submit(start_until_it_dies, url, system, given) for system in FORMS]
        while {system for system, _ in given} < set(FORMS) or len(given) < 100:
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        for stream in streams:
            stream.result(20)

    with running(*state, "--speed", "inf") as (_, url), httpx.Client(base_url=url) as http:
        statuses = {http.request(**poll_call(system, call_id)).status_code for system, call_id in given}
        charges = http.get("/__control__/counts").json()["charges"]

    assert statuses == {200}
    assert sum(tally["total"] for tally in charges.values()) >= len(given)


def start_until_it_dies(url: str, system: str, given: list[tuple[str, str]]) -> None:
    with httpx.Client(base_url=url) as http, suppress(httpx.TransportError):
        for number in range(1_000_000):
            given.append((system, id_of(http.request(**start_call(system, f"Best bikes? {number}")))))


def test_help_tells_all_that_can_be_ordered():
    told = failing("--help").stdout

    assert all(word in told for word in ("/serpapi", "x-goog-api-key", "quota_minute", "after_accept", "counts"))


def test_a_script_file_is_in_force_from_the_start(tmp_path: Path):
    path = tmp_path / "script.json"
    path.write_text(json.dumps([{"call": "start", "do": {"shape": "no_money"}}]))

    with running("--script", str(path), "--speed", "inf") as (_, url):
        assert [start(url).status_code for _ in range(2)] == [429, 200]


def test_verbose_says_one_line_for_each_start():
    with running("--verbose", "--speed", "inf") as (process, url):
        start(url)
        process.terminate()
        assert process.stderr
        lines = process.stderr.read().splitlines()

    assert len(lines) == 1
    assert "start chatgpt 'Best bikes?' run=r1" in lines[0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "--port"),
        (("--port", "70000"), "from 0 to 65535"),
        (("--port", "0", "--speed", "0"), "above 0"),
        (("--port", "0", "--speed", "fast"), "above 0"),
        (("--port", "0", "--script", "no-such-file.json"), "no-such-file.json"),
        (("--port", "0", "--state", "/no-such-directory/file"), "/no-such-directory/file"),
    ],
)
def test_bad_options_are_named(arguments: tuple[str, ...], said: str):
    ended = failing(*arguments)

    assert ended.returncode == 2
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_bad_script_file_is_named_with_its_mistake(tmp_path: Path):
    path = tmp_path / "script.json"
    path.write_text('[{"call": "stop", "do": {"delay_s": 1}}]')

    ended = failing("--port", "0", "--script", str(path))

    assert ended.returncode == 2
    assert "'stop' is none of start, poll" in ended.stderr


def test_it_needs_nothing_but_python():
    """The product's libraries are not there in isolated mode without site packages."""
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import simulator.__main__; print(sorted(sys.modules))"
    modules = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, timeout=20)

    assert modules.returncode == 0, modules.stderr
    assert "'django'" not in modules.stdout
    assert "'capture" not in modules.stdout
