"""The product as a site: gunicorn on the test's database, DEBUG off, as on a server but for HTTPS."""

from __future__ import annotations

import socket
import subprocess
import sys
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from urllib.request import urlopen

from django.conf import settings

from tests.process.running import ROOT, environment, until

LOOPBACK = "127.0.0.1"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


class Site:
    """A web server that can be stopped and started again at the same address.

    Arguments:
        log: where its output goes.
        variables: of its environment, beside what every test process has.
    """

    def __init__(self, log: Path, **variables: str) -> None:
        self.log = log
        self.mailbox = log.with_name("mail")
        self.port = free_port()
        self.url = f"http://{LOOPBACK}:{self.port}"
        self.variables = {
            "DEBUG": "off",
            "HTTPS": "off",
            "ALLOWED_HOSTS": LOOPBACK,
            "EMAIL_URL": f"filemail:///{self.mailbox}",
            "SECRET_KEY": settings.SECRET_KEY,  # a session that a test makes opens the pages
            **variables,
        }
        self.process: subprocess.Popen[bytes] | None = None

    def prepare(self) -> None:
        """Gather the static files, as an installation does."""
        command = [sys.executable, "manage.py", "collectstatic", "--noinput", "-v0"]
        subprocess.run(command, cwd=ROOT, env=environment(**self.variables), check=True)

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        options = [f"--bind={LOOPBACK}:{self.port}", "--workers=1", "--threads=4", "--no-control-socket"]
        command = [sys.executable, "-m", "gunicorn", *options, "--log-level=warning", "tests.browser.wsgi"]
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=environment(**self.variables), stdout=output, stderr=output
            )
        until(lambda: self._ended() or self._answers())
        assert not self._ended(), self.log.read_text()

    def kill(self) -> None:
        """End the server at once, as a crash would."""
        assert self.process
        self.process.kill()  # the worker sees that its parent is gone, and ends too
        self.process.wait()
        until(lambda: not self._answers())

    def stop(self) -> None:
        if self.process:
            self.process.terminate()
            self.process.wait(30)

    def last_mail(self) -> EmailMessage:
        """The mail that the server sent last."""
        file = max(self.mailbox.iterdir(), key=lambda path: path.stat().st_mtime_ns)
        return message_from_bytes(file.read_bytes().rstrip(b"-\n"), policy=default)

    def _ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def _answers(self) -> bool:
        try:
            with urlopen(f"{self.url}/login/", timeout=10):
                return True
        except OSError:
            return False
