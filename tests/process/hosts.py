"""Hosts on this one machine, each with a cable of its own to the database, which can be pulled.

A host is a Linux namespace of networks, processes, mounts and names, with its own boot id, and one cable (a veth pair)
to the database and one to the AI systems. Where that cannot be had (it takes root and Linux, and many containers do
not allow it), a host is a proxy before the database that ceases to carry, and processes that say they are elsewhere.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from uuid import uuid4

from django.db import connection

from tests.process import running
from tests.process.cables import Cable
from tests.process.running import ROOT, Simulator, until

UNSHARE = ("unshare", "--net", "--pid", "--mount", "--uts", "--fork", "--kill-child", "--mount-proc")
SYSTEMS = "systems.test"
BOOT_ID = "/proc/sys/kernel/random/boot_id"


class Host(ABC):
    """Arguments:
    name: as logs call it.
    folder: for what it needs and what its workers say.
    """

    kind: str

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        self.boot_id = str(uuid4())
        self._folder = folder
        self._cable: Cable

    @contextmanager
    def worker(self, system: Simulator, *arguments: str, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
        """A worker on this host, which reaches database and AI systems by this host's cables."""
        host, port = self._cable.address
        settings = connection.settings_dict
        variables |= {
            "DATABASE_URL": f"postgres://{settings['USER'] or 'aicontrol'}@{host}:{port}/{settings['NAME']}",
            "SIMULATOR_URL": self.url_of(system),
        }
        with running.worker(*arguments, log=self.log, program=self.manage, **variables) as process:
            yield process

    @property
    @abstractmethod
    def manage(self) -> Sequence[str]:
        """What runs `manage.py` on this host."""

    @abstractmethod
    def url_of(self, system: Simulator) -> str:
        """Where the AI systems are; every host calls them by the same name."""

    @abstractmethod
    def pull_cable(self) -> None:
        """From now on nothing comes from this host to the database or back, and nobody is told."""

    @abstractmethod
    def plug_cable(self) -> None: ...

    @abstractmethod
    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        """`kill -9`, on this host."""


class Namespace(Host):
    kind = "namespaces of networks and processes"

    @contextmanager
    def running(self) -> Iterator[None]:
        # Its first process waits for our end, whatever that will be; with it the kernel ends all others.
        with subprocess.Popen([*UNSHARE, "cat"], stdin=subprocess.PIPE) as holder:
            try:
                self._init = until(lambda: children_of(holder.pid))[0]
                until(lambda: os.readlink(f"/proc/{self._init}/exe").endswith("cat"))
                self._database, address = self._lay_cable("database")
                _, systems = self._lay_cable("systems")
                self._boot({BOOT_ID: self.boot_id, "/etc/hosts": f"127.0.0.1 localhost\n{systems} {SYSTEMS}\n"})
                with Cable(address) as self._cable:
                    yield
            finally:
                holder.kill()

    def _boot(self, files: Mapping[str, str]) -> None:
        self._run("hostname", self.name)
        self._run("ip", "link", "set", "lo", "up")
        for path, content in files.items():
            own = self._folder / f"{self.name}.{Path(path).name}"
            own.write_text(content)
            self._run("mount", "--bind", str(own), path)

    def _lay_cable(self, end: str) -> tuple[str, str]:
        """Both ends of it; gives this machine's end and the address there, out of those for tests (RFC 2544)."""
        here, number = f"aic{secrets.token_hex(4)}", secrets.randbelow(2**15)
        network = f"198.{18 + number // 2**14}.{number // 2**6 % 256}.{{}}"
        ours, theirs = (network.format(number % 2**6 * 4 + host) for host in (1, 2))
        run("ip", "link", "add", here, "type", "veth", "peer", "name", end, "netns", str(self._init))
        run("ip", "addr", "add", f"{ours}/30", "dev", here)
        run("ip", "link", "set", here, "up")
        self._run("ip", "addr", "add", f"{theirs}/30", "dev", end)
        self._run("ip", "link", "set", end, "up")
        return here, ours

    def _run(self, *command: str) -> None:
        run(*self._enter, *command)

    @property
    def _enter(self) -> Sequence[str]:
        return ("nsenter", "--target", str(self._init), "--net", "--pid", "--mount", "--uts", "--")

    @property
    def manage(self) -> Sequence[str]:
        return [*self._enter, "env", "-C", str(ROOT), sys.executable, "manage.py"]

    def url_of(self, system: Simulator) -> str:
        return f"http://{SYSTEMS}:{system.url.rpartition(':')[2]}"

    def pull_cable(self) -> None:
        run("ip", "link", "set", self._database, "down")

    def plug_cable(self) -> None:
        run("ip", "link", "set", self._database, "up")

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        for child in children_of(worker.pid):
            os.kill(child, signal.SIGKILL)
        worker.wait(20)


class Pretended(Host):
    kind = "a proxy before the database and processes that say they are elsewhere"

    @contextmanager
    def running(self) -> Iterator[None]:
        with Cable("127.0.0.1") as self._cable:
            yield

    @property
    def manage(self) -> Sequence[str]:
        return [sys.executable, "-m", "tests.process.elsewhere", self.boot_id]

    def url_of(self, system: Simulator) -> str:
        return f"http://127.0.0.1:{system.url.rpartition(':')[2]}"

    def pull_cable(self) -> None:
        self._cable.carries.clear()

    def plug_cable(self) -> None:
        self._cable.carries.set()

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        worker.kill()
        worker.wait(20)


def kind_of_host() -> type[Namespace] | type[Pretended]:
    """The best that this machine allows; HOSTS=pretended asks for the other one."""
    if os.environ.get("HOSTS") == "pretended" or not all(map(shutil.which, ("unshare", "nsenter", "ip", "mount"))):
        return Pretended
    # The kernel may forget the pair with the namespace; that it could be made is all that counts.
    probe = [*UNSHARE, "ip", "link", "add", "here", "type", "veth", "peer", "name", "there"]
    return Pretended if subprocess.run(probe, capture_output=True, check=False).returncode else Namespace


@contextmanager
def hosts(folder: Path, *names: str) -> Iterator[list[Namespace | Pretended]]:
    """Some hosts that are up and running."""
    kind = kind_of_host()
    print(f"\nEach host is {kind.kind}.")
    with ExitStack() as stack:
        found = [kind(name, folder) for name in names]
        for host in found:
            stack.enter_context(host.running())
        yield found


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def run(*command: str) -> None:
    subprocess.run(command, check=True)
