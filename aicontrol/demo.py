"""bin/demo: the whole product on one machine, with one command, until Ctrl-C.

    database, migrations, a login  ->  simulator, worker, web server  ->  "Open http://127.0.0.1:8000/"

It runs as a server would (DEBUG off, gunicorn, a worker of its own) but for HTTPS, and for itself only: it listens on
the loopback address. All that it keeps is in the data folder.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import fcntl
import hashlib
import http.client
import os
import secrets
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import django
from django.core.exceptions import ImproperlyConfigured

from aicontrol import environment as env
from aicontrol.embedded.server import server_for
from aicontrol.supervisor import Service, Signals, Supervisor, say

CHECKOUT = Path(__file__).resolve().parent.parent
LOOPBACK = "127.0.0.1"
USER = "demo"
CANNOT_RUN = 2
READY_SECONDS = 30.0  # how long the web server may take to answer


class DemoError(Exception):
    """The demo can't run; the message says why."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run until told to stop. Returns the exit code: 0 after a tidy stop, 2 if it could not start."""
    options = _parser().parse_args(argv)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)  # until the services run, a stop is an interrupt
    try:
        _set_environment(simulated=not options.no_simulator)
        with only_one(env.data_folder(CHECKOUT)), listening(options.port) as listener:
            return serve(listener, simulated=not options.no_simulator)
    except (DemoError, ImproperlyConfigured) as error:
        say(f"bin/demo: {error}")
        return CANNOT_RUN
    except KeyboardInterrupt:
        say("Stopped.")
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bin/demo", description="Run the whole product on this machine.")
    parser.add_argument("--port", type=_port, default=8000, help="of the web pages, on the loopback address (8000)")
    parser.add_argument("--no-simulator", action="store_true", help="only ask AI systems that have a key in .env")
    return parser


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 65_535):
        raise argparse.ArgumentTypeError(f"{text!r} is no port; it must be from 1 to 65535")
    return int(text)


def _set_environment(*, simulated: bool) -> None:
    """Fill in what neither the environment nor .env says, before the settings are read; children inherit it."""
    env.read_dotenv(CHECKOUT)
    folder = env.data_folder(CHECKOUT)
    defaults = {
        "DJANGO_SETTINGS_MODULE": "aicontrol.settings",
        "DATABASE_URL": "embedded:",
        "DEBUG": "off",
        "HTTPS": "off",
        "ALLOWED_HOSTS": "localhost,127.0.0.1,[::1]",
        "EMAIL_URL": "consolemail://",
    }
    for name, value in defaults.items():
        if not env.text(name):
            os.environ[name] = value
    if not env.text("SECRET_KEY"):
        os.environ["SECRET_KEY"] = env.kept_secret(folder / "secret_key")
    os.environ["AICONTROL_PROCESS"] = "aicontrol demo"
    os.environ["SIMULATOR_URL"] = f"http://{LOOPBACK}:{simulator_port(folder)}" if simulated else ""


@contextlib.contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Hold the data folder's demo lock.

    Raises:
        DemoError: another demo has it.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(folder / "demo.lock", "a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DemoError(f"it already runs in this checkout (data in {folder}).") from None
        yield


@contextlib.contextmanager
def listening(port: int) -> Iterator[socket.socket]:
    """Listen on the loopback address, before anything is started; gunicorn gets the socket, however often it starts.

    Raises:
        DemoError: the port is in use, or not for this account.
    """
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, port))
            listener.listen(128)
        except OSError as error:
            raise DemoError(_why_no_port(port, error)) from None
        yield listener


def _why_no_port(port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is in use; try --port {port + 1 if port < 65_535 else 8000}."
    return f"can't listen on port {port}: {error.strerror}."


def simulator_port(folder: Path) -> int:
    """Return a free port for the simulator: the same for a data folder at each start, if that is free.

    Calls that were waiting when the last demo ended go on being asked for at the same address.
    """
    usual = 18_000 + int(hashlib.sha256(os.fsencode(folder)).hexdigest(), 16) % 10_000
    for port in (usual, 0):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((LOOPBACK, port))
            return int(probe.getsockname()[1])
    raise DemoError("no port is free for the simulator.")


def serve(listener: socket.socket, *, simulated: bool) -> int:
    """Set everything up, run the services until told to stop, and stop them."""
    say("Starting: database, migrations, login")
    django.setup()
    _check()
    password = _prepare()
    address = f"http://{LOOPBACK}:{listener.getsockname()[1]}/"
    supervisor = Supervisor(Signals())
    with _told_other_terminals(simulated=simulated):
        try:
            for service in _services(listener, simulated=simulated):
                supervisor.start(service)
            supervisor.run(until=lambda: _answers(listener.getsockname()[1]), seconds=READY_SECONDS)
            _introduce(address, password)
            supervisor.run()
        finally:
            say("Stopping")
            supervisor.stop()
            _stop_database()
    return 0


def _stop_database() -> None:
    """Stop the embedded database, also where a command in another terminal still uses it."""
    from django.conf import settings

    database = settings.DATABASES["default"]
    if database["ENGINE"] == "aicontrol.embedded":
        server_for(database["FOLDER"], durable=database["DURABLE"]).shut_down()


def _check() -> None:
    """Look at the settings before anything is started.

    Raises:
        DemoError: one of them cannot be right.
    """
    from django.core import checks

    wrong = [message for message in checks.run_checks(tags=["deployment"]) if message.is_serious()]
    if wrong:
        raise DemoError(" ".join(f"{message.msg} ({message.id})" for message in wrong))


def _prepare() -> str:
    """Bring the database and the static files up to date. Return the password of the login.

    Raises:
        DemoError: the database can't be used.
    """
    from django.core.management import call_command
    from django.db import connection
    from django.db.utils import OperationalError

    try:
        call_command("migrate", interactive=False, verbosity=0)
        password = _login()
    except OperationalError as error:
        raise DemoError(" ".join(str(error).split())) from error
    finally:
        connection.close()
    call_command("collectstatic", interactive=False, verbosity=0)
    return password


def _login() -> str:
    """Make the login unless it is there, and give it the password in the data folder. Return that."""
    from django.conf import settings
    from django.contrib.auth import get_user_model

    password = env.kept_secret(settings.DATA_DIR / "demo-password", length=12)
    staff = {"is_staff": True, "is_superuser": True, "email": f"{USER}@localhost.example"}
    user, _ = get_user_model().objects.get_or_create(username=USER, defaults={"password": secrets.token_hex(), **staff})
    if not user.check_password(password):
        user.set_password(password)
        user.save(update_fields=["password"])
    return password


def _services(listener: socket.socket, *, simulated: bool) -> Iterator[Service]:
    """What runs, in the order in which it is started."""
    from django.conf import settings

    if simulated:
        port = settings.SIMULATOR_URL.rpartition(":")[2]
        state = str(settings.DATA_DIR / "simulator.jsonl")
        yield Service("simulator", ["-m", "simulator", "--port", port, "--state", state], grace=5)
    yield Service("worker", ["manage.py", "runworkers"], grace=settings.CAPTURE_GRACE + 5)
    yield Service("web server", _gunicorn(listener.fileno()), grace=15, descriptors=(listener.fileno(),))


def _gunicorn(descriptor: int) -> list[str]:
    options = {"bind": f"fd://{descriptor}", "workers": "2", "threads": "4", "graceful-timeout": "10"}
    flags = [f"--{name}={value}" for name, value in options.items()]
    # No header is a proxy's word, as in deploy/gunicorn.conf.py.
    flags.append("--forwarder-headers=")
    # The control socket would be in the home folder, which need not be writable.
    return ["-m", "gunicorn", *flags, "--log-level=warning", "--no-control-socket", "aicontrol.wsgi"]


@contextlib.contextmanager
def _told_other_terminals(*, simulated: bool) -> Iterator[None]:
    """Leave in the data folder where the simulator is, for manage.py in a second terminal, while this runs."""
    from django.conf import settings

    file = settings.DATA_DIR / "demo.env"
    file.write_text(f"SIMULATOR_URL={settings.SIMULATOR_URL}\n" if simulated else "")
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def _answers(port: int) -> bool:
    """Return whether the web server answers; any answer will do."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=2)
    try:
        connection.request("GET", "/login/")
        connection.getresponse()
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
    return True


def _introduce(address: str, password: str) -> None:
    """Say who answers, how to log in, and last of all where."""
    from django.conf import settings

    from capture.providers.registry import PROVIDERS

    for provider in PROVIDERS:
        key = f"{provider.env_prefix}_API_KEY"
        if key in settings.CAPTURE_PROVIDER_KEYS:
            state = f"asked for real, and charged for ({key} is set)"
        elif settings.SIMULATOR_URL:
            state = f"simulated (no {key} in .env)"
        else:
            state = f"not asked (no {key} in .env)"
        say(f"{provider.label}: {state}")
    say(f"Login: {USER}, password: {password}")
    say(f"Open {address} (Ctrl-C stops everything)")


if __name__ == "__main__":
    sys.exit(main())
