"""Stand in for programs that a test of the guide cannot run: systemd, and what fetches from the network.

    python stand_ins.py systemctl enable --now aicontrol-web.service

The units' own lines are run: their command, user, folder, environment, credentials and socket, and each is waited for
until it says that it is ready. Not stood in for is the sandbox. Standard library only.
"""

from __future__ import annotations

import configparser
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

UNITS = Path("/etc/systemd/system")
RUN = Path("/run/systemd")
PATIENCE = 60.0  # seconds


def main(name: str, arguments: list[str]) -> None:
    """Be the program of that name."""
    NAMES[name](arguments)


# ------------------------------------------------------------------------------------------------------- the network


def apt_get(arguments: list[str]) -> None:
    """Packages are here already; their names have to be right."""
    wanted = [each for each in arguments[1:] if not each.startswith("-")] if arguments[0] == "install" else []
    subprocess.run(["dpkg", "-s", *wanted], check=True, stdout=subprocess.DEVNULL) if wanted else None


def git(arguments: list[str]) -> None:
    """Clone what is in the checkout, as it stands there."""
    command, repository, folder = arguments
    if command != "clone":
        raise SystemExit(f"git {command} is not stood in for")
    listed = ["git", "-c", "safe.directory=*", "-C", repository, "ls-files", "-z", "-co", "--exclude-standard"]
    files = subprocess.run([f"/usr/bin/{listed[0]}", *listed[1:]], check=True, capture_output=True).stdout
    for file in filter(None, os.fsdecode(files).split("\0")):
        source, target = Path(repository, file), Path(folder, file)
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)


def python3(arguments: list[str]) -> None:
    """A virtual environment is this test's own, with all packages."""
    if arguments[:2] != ["-m", "venv"]:
        os.execv(sys.executable, [sys.executable, *arguments])
    programs = Path(arguments[2], "bin")
    programs.mkdir(parents=True)
    for name, line in {
        "python": f'exec {sys.executable} "$@"',
        "gunicorn": f'exec {sys.executable} -m gunicorn "$@"',
        "pip": "exit 0",
    }.items():
        (programs / name).write_text(f"#!/bin/sh\n{line}\n")
        (programs / name).chmod(0o755)


# ------------------------------------------------------------------------------------------------------------ systemd


def systemctl(arguments: list[str]) -> None:
    match arguments:
        case ["daemon-reload"] | ["--no-pager", "status", _]:
            pass
        case ["restart", "postgresql"]:
            clusters = subprocess.run(["pg_lsclusters", "-h"], check=True, capture_output=True, text=True).stdout
            version, name = clusters.split()[:2]
            subprocess.run(["pg_ctlcluster", version, name, "restart"], check=True)
        case ["reload-or-restart", "nginx"]:
            subprocess.run(["nginx"], check=True)
        case ["enable", "--now", *units] | ["restart", *units]:
            for unit in units:
                start(unit)
        case _:
            raise SystemExit(f"systemctl {' '.join(arguments)} is not stood in for")


def start(unit: str) -> None:
    """Start a unit, in place of its former self if there is one."""
    stem, _, kind = unit.rpartition(".")
    template = f"{stem.partition('@')[0]}@" if "@" in stem else stem
    sections = read(f"{template}.{kind}")
    if kind != "service":
        return
    stop(unit)
    service = sections["Service"]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        address = RUN / f"{unit}.notify"
        address.unlink(missing_ok=True)
        heard.bind(str(address))
        address.chmod(0o777)
        environment = {
            **dict(each.split("=", 1) for each in service["Environment"].split()),
            "PATH": os.environ["PATH"],
            "NOTIFY_SOCKET": str(address),
            "CREDENTIALS_DIRECTORY": credentials(unit, service),
        }
        process = spawn(unit, service, environment)
        (RUN / f"{unit}.pid").write_text(str(process.pid))
        wait_until_ready(unit, process, heard)


def read(name: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(strict=False, interpolation=None, delimiters="=", comment_prefixes="#")
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # systemd's names have capitals
    if not parser.read(UNITS / name):
        raise SystemExit(f"there is no unit {name}")
    return parser


def credentials(unit: str, service: configparser.SectionProxy) -> str:
    """The secrets as systemd hands them over: of a folder, each file under both names."""
    name, _, folder = service["LoadCredential"].partition(":")
    given = Path("/run/credentials", unit)
    given.mkdir(parents=True, exist_ok=True)
    for file in Path(folder).iterdir():
        copy = given / f"{name}_{file.name}"
        copy.write_bytes(file.read_bytes())
        shutil.chown(copy, service["User"])
        copy.chmod(0o400)
    return str(given)


def spawn(unit: str, service: configparser.SectionProxy, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    as_user = ["setpriv", f"--reuid={service['User']}", f"--regid={service['Group']}", "--init-groups"]
    command = [*as_user, "--no-new-privs", *service["ExecStart"].split()]
    door = UNITS / unit.replace(".service", ".socket")
    handed_on: tuple[int, ...] = ()
    if door.exists():
        descriptor = listen(read(door.name)["Socket"]).detach()
        handed_on, environment = (descriptor,), environment | {"LISTEN_FDS": "1"}
        command = ["bash", "-c", f'LISTEN_PID=$$ exec "$@" 3<&{descriptor}', "bash", *command]
    with Path("/var/log", f"{unit}.log").open("ab") as log:
        return subprocess.Popen(
            command,
            cwd=service["WorkingDirectory"],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=handed_on,
            start_new_session=True,
        )


def listen(door: configparser.SectionProxy) -> socket.socket:
    path = Path(door["ListenStream"])
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(128)
    shutil.chown(path, door["SocketUser"])
    path.chmod(int(door["SocketMode"], 8))
    return listener


def wait_until_ready(unit: str, process: subprocess.Popen[bytes], heard: socket.socket) -> None:
    heard.settimeout(0.2)
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        try:
            if b"READY=1" in heard.recv(4096).split(b"\n"):
                return
        except TimeoutError:
            continue
    raise SystemExit(f"{unit} was not ready:\n{Path('/var/log', f'{unit}.log').read_text()}")


def stop(unit: str) -> None:
    kept = RUN / f"{unit}.pid"
    if not kept.exists():
        return
    pid = int(kept.read_text())
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + PATIENCE
    while Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_bytes():
        if time.monotonic() > deadline:
            raise SystemExit(f"{unit} did not stop")
        time.sleep(0.05)


NAMES = {"apt-get": apt_get, "git": git, "python3": python3, "systemctl": systemctl}

if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
