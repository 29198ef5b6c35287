"""The set-up of bin/demo, bin/test and bin/check: what it finds, makes and says. No test installs anything."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import CHECKOUT

THIS = "{}.{}".format(*sys.version_info[:2])


@pytest.fixture
def prepare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module, for a checkout that is an empty folder."""
    spec = importlib.util.spec_from_file_location("prepare", CHECKOUT / "bin" / "prepare.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "bin").mkdir()
    monkeypatch.setattr(module, "CHECKOUT", tmp_path)
    monkeypatch.setattr(module, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(module, "PYTHON", tmp_path / ".venv" / "bin" / "python")
    return module


@pytest.fixture
def venv(prepare) -> Path:
    """A .venv of this Python, as far as the set-up looks."""
    (prepare.VENV / "bin").mkdir(parents=True)
    (prepare.VENV / "lib" / f"python{THIS}" / "site-packages" / "pip").mkdir(parents=True)
    prepare.PYTHON.symlink_to(sys.executable)
    (prepare.VENV / "pyvenv.cfg").write_text(f"home = /versions/3.2.1/bin\nversion = {THIS}.7\n")
    return Path(prepare.VENV)


@pytest.fixture
def pip(prepare, monkeypatch) -> list[list[str]]:
    """The calls of pip, which do nothing and succeed."""
    calls: list[list[str]] = []

    def call(command, **_):
        calls.append(command)
        return 0

    monkeypatch.setattr(prepare.subprocess, "call", call)
    return calls


@pytest.mark.parametrize("name", ["prepare.py", "bench", "demo", "test", "check"])
def test_old_pythons_can_read_it_and_so_say_what_is_wrong(name):
    ast.parse((CHECKOUT / "bin" / name).read_text(), feature_version=(3, 7))


@pytest.mark.parametrize("name", ["bench", "demo", "test", "check"])
def test_commands_can_be_called(name):
    path = CHECKOUT / "bin" / name

    assert path.stat().st_mode & 0o111 == 0o111
    assert path.read_text().startswith("#!/usr/bin/env python3\n")


def test_a_sound_venv_is_kept(prepare, venv):
    assert prepare.venv_works()


def test_no_venv_has_to_be_made(prepare):
    assert not prepare.venv_works()


def test_a_venv_whose_python_is_gone_does_not_work(prepare, venv):
    prepare.PYTHON.unlink()
    prepare.PYTHON.symlink_to("/not/there")

    assert not prepare.venv_works()


def test_a_venv_of_another_version_does_not_work(prepare, venv):
    (venv / "pyvenv.cfg").write_text("version = 3.2.1\n")

    assert not prepare.venv_works()


def test_a_venv_without_pip_does_not_work(prepare, venv):
    (venv / "lib" / f"python{THIS}" / "site-packages" / "pip").rmdir()

    assert not prepare.venv_works()


def test_packages_are_installed_once_and_again_when_the_lists_change(prepare, venv, pip, tmp_path):
    prepare.prepare(prepare.RUNTIME)
    prepare.prepare(prepare.RUNTIME)
    assert len(pip) == 1

    (tmp_path / "constraints.txt").write_text("changed\n")
    prepare.prepare(prepare.RUNTIME)

    assert len(pip) == 2


def test_what_tests_need_holds_what_the_product_needs(prepare, venv, pip):
    prepare.prepare(prepare.DEVELOPMENT)
    prepare.prepare(prepare.RUNTIME)

    assert len(pip) == 1


def test_an_installation_that_failed_is_done_again(prepare, venv, pip, monkeypatch):
    with monkeypatch.context() as failing:
        failing.setattr(prepare.subprocess, "call", lambda *_, **__: 1)
        with pytest.raises(SystemExit, match="could not install"):
            prepare.prepare(prepare.RUNTIME)

    prepare.prepare(prepare.RUNTIME)

    assert len(pip) == 1


def test_an_interrupted_installation_ends_with_a_line(prepare, venv, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(prepare.subprocess, "call", interrupted)

    with pytest.raises(SystemExit, match="run it again"):
        prepare.prepare(prepare.RUNTIME)

    assert not prepare.stamp(prepare.RUNTIME).exists()


def test_a_python_that_is_too_old_is_told(prepare, monkeypatch):
    monkeypatch.setattr(prepare, "version_of", lambda python: (3, 9))

    with pytest.raises(SystemExit, match=r"needs Python 3\.11 or newer"):
        prepare.prepare(prepare.RUNTIME)


def test_a_supported_python_on_the_path_is_taken_before_an_old_one(prepare, monkeypatch):
    versions = {"/path/python3.12": (3, 12)}
    monkeypatch.setattr(prepare.shutil, "which", lambda name: f"/path/{name}")
    monkeypatch.setattr(prepare, "version_of", lambda python: versions.get(python, (3, 9)))

    assert prepare.find_python() == "/path/python3.12"


def test_a_python_that_cannot_make_environments_is_told_how_to_get_there(prepare, monkeypatch):
    monkeypatch.setattr(prepare, "run", lambda *command: 1)

    with pytest.raises(SystemExit, match="apt install python3-venv"):
        prepare.prepare(prepare.RUNTIME)


def test_a_program_that_does_not_run_has_no_version(prepare, tmp_path):
    shim = tmp_path / "python3.13"
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)

    assert prepare.version_of(str(shim)) == (0, 0)
    assert prepare.version_of("/not/there") == (0, 0)
