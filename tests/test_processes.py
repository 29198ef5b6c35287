"""What the kernel proves about a process, with real ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from capture import processes

WAITS = [sys.executable, "-c", "print(flush=True); input()"]


@pytest.fixture
def child():
    with subprocess.Popen(WAITS, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


def test_a_process_that_runs_is_not_gone(child):
    assert not processes.is_surely_gone(child.pid, processes.start_ticks(child.pid))
    assert not processes.is_surely_gone(os.getpid(), processes.start_ticks(os.getpid()))


def test_a_process_that_was_killed_and_waited_for_is_gone(child):
    started = processes.start_ticks(child.pid)

    child.kill()
    child.wait()

    assert processes.is_surely_gone(child.pid, started)


def test_a_zombie_is_gone(child):
    started = processes.start_ticks(child.pid)

    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and is not yet waited for

    assert processes.start_ticks(child.pid) == started
    assert processes.is_surely_gone(child.pid, started)


def test_another_process_under_the_same_number_is_not_the_one_that_is_looked_for(child):
    started = processes.start_ticks(child.pid)
    assert started is not None

    assert processes.is_surely_gone(child.pid, started - 1)


def test_a_process_whose_start_time_nobody_wrote_down_counts_as_alive(child):
    assert not processes.is_surely_gone(child.pid, None)


def test_what_cannot_be_read_counts_as_alive(child, monkeypatch):
    monkeypatch.setattr(processes, "_read", lambda path: "")

    assert not processes.is_surely_gone(child.pid, 1)
    assert processes.start_ticks(child.pid) is None
    assert not processes.here().known


def test_a_process_that_may_not_be_asked_counts_as_alive(child, monkeypatch):
    def refuse(pid, number):
        raise PermissionError

    started = processes.start_ticks(child.pid)
    with monkeypatch.context() as patch:
        patch.setattr(os, "kill", refuse)
        gone = processes.is_surely_gone(child.pid, started)

    assert not gone


def test_a_name_with_brackets_and_spaces_hides_nothing(tmp_path):
    named = tmp_path / "a) Z 1 (b"
    named.symlink_to("/bin/cat")
    with subprocess.Popen([named], stdin=subprocess.PIPE) as process:
        try:
            assert processes.start_ticks(process.pid) is not None
            assert not processes.is_surely_gone(process.pid, processes.start_ticks(process.pid))
        finally:
            process.kill()


def test_a_place_is_a_boot_and_a_namespace_and_no_host_name():
    place = processes.here()

    assert place.boot_id == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert place.pid_namespace == os.readlink("/proc/self/ns/pid")
    assert place.known
    assert not processes.Place("", place.pid_namespace).known
    assert not processes.Place(place.boot_id, "").known
