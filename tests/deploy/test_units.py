"""The systemd units: systemd takes them, they are shut in, and their times fit those of the loop."""

from __future__ import annotations

import configparser
import re
import subprocess
from pathlib import Path

import pytest

from capture import worker
from tests.conftest import CHECKOUT
from tests.neighbours import program

UNITS = CHECKOUT / "deploy" / "systemd"
SERVICES = sorted(path.name for path in UNITS.glob("*.service"))
SERVING = ["aicontrol-web.service", "aicontrol-worker@.service"]

MOST_EXPOSED = 25  # tenths of systemd's scale, on which 100 is a service that may do all
CONNECTING = 5  # seconds, as settings say it of the database
GRACE_OF_GUNICORN = re.compile(r"^graceful_timeout = (\d+)$", re.MULTILINE)

# A worker that cannot see the others' processes in /proc, or where it is itself, notices their death by the lease only.
BLINDFOLDS = {"ProcSubset": "pid", "PrivatePIDs": "yes", "PrivateUsers": "yes", "DynamicUser": "yes"}


def options(name: str, section: str = "Service") -> dict[str, str]:
    """What a unit says; of what it says several times, the last."""
    parser = configparser.ConfigParser(strict=False, interpolation=None, delimiters="=", comment_prefixes="#")
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # systemd's names have capitals
    parser.read(UNITS / name)
    return dict(parser[section])


def analyze(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = program("systemd-analyze", "reads the units; Debian's package systemd")
    return subprocess.run([command, *arguments], capture_output=True, text=True, check=False)


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The units, beside an installation of which there are only the names of its programs."""
    programs = tmp_path / "opt" / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("python", "gunicorn"):
        (programs / name).symlink_to("/bin/true")
    for path in UNITS.iterdir():
        (tmp_path / path.name).write_text(path.read_text().replace("/opt/aicontrol", str(tmp_path / "opt")))
    return tmp_path


def test_systemd_takes_all_units_without_a_warning(installed):
    result = analyze("verify", "--man=no", *(str(installed / path.name) for path in UNITS.iterdir()))

    # What is said of the machine's own units is not about ours.
    assert [line for line in result.stderr.splitlines() if "aicontrol" in line] == []
    assert result.returncode == 0, result.stderr


def test_a_unit_that_is_wrong_would_be_found(installed):
    wrong = installed / "aicontrol-cleanup.service"
    wrong.write_text(wrong.read_text().replace("ProtectClock=yes", "ProtectClocks=yes"))

    result = analyze("verify", "--man=no", str(wrong))

    assert "ProtectClocks" in result.stderr


@pytest.mark.parametrize("name", SERVICES)
def test_no_service_is_more_exposed_than_it_has_to_be(name):
    result = analyze("security", "--offline=true", f"--threshold={MOST_EXPOSED}", str(UNITS / name))

    assert result.returncode == 0, result.stdout
    assert "Overall exposure level" in result.stdout


@pytest.mark.parametrize("name", SERVING)
def test_what_serves_is_started_again_for_ever_and_says_when_it_is_ready(name):
    service = options(name)

    assert options(name, "Unit")["StartLimitIntervalSec"] == "0"
    wanted = {"Type": "notify", "Restart": "always", "RestartSec": "2", "KillMode": "mixed"}
    assert {key: service[key] for key in wanted} == wanted


def test_workers_see_each_others_processes():
    service = options("aicontrol-worker@.service")

    assert [name for name, value in BLINDFOLDS.items() if service.get(name) == value] == []
    assert service["User"] == "aicontrol"


def test_the_watchdog_waits_longer_than_a_turn_that_waits_for_the_database():
    watchdog = float(options("aicontrol-worker@.service")["WatchdogSec"])

    # Fed by the half of it at the latest, and then once more by the turn that is under way.
    assert watchdog / 2 > worker.DATABASE_PATIENCE + CONNECTING


def test_a_worker_is_killed_only_after_its_grace_and_a_turn_to_write_things_down():
    service = options("aicontrol-worker@.service")
    grace = float(service["ExecStart"].partition("--grace ")[2])

    assert float(service["TimeoutStopSec"]) > grace + worker.DATABASE_PATIENCE + CONNECTING


def test_the_web_server_is_killed_only_after_its_grace():
    found = GRACE_OF_GUNICORN.search((CHECKOUT / "deploy" / "gunicorn.conf.py").read_text())

    assert found
    assert float(options("aicontrol-web.service")["TimeoutStopSec"]) > float(found[1])


@pytest.mark.parametrize("name", SERVICES)
def test_each_service_has_the_settings_and_the_secrets(name):
    service = options(name)

    assert service["Environment"] == "AICONTROL_ENV=/etc/aicontrol/aicontrol.env"
    assert service["LoadCredential"] == "aicontrol:/etc/aicontrol/secrets"
