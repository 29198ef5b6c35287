"""The examples for nginx, PostgreSQL, PgBouncer and gunicorn are taken by these programs."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from aicontrol.embedded import programs
from aicontrol.embedded.account import server_account
from tests.conftest import CHECKOUT
from tests.neighbours import program
from tests.process.pooler import PROGRAM as PGBOUNCER
from tests.process.pooler import free_port, listens
from tests.process.running import environment, until

DEPLOY = CHECKOUT / "deploy"

AROUND = """
{user}
events {{}}
pid {folder}/pid;
error_log stderr;
http {{
    access_log off;
    include {folder}/site.conf;
}}
"""


def replaced(text: str, others: Mapping[str, str]) -> str:
    """An example with some of its lines otherwise, all of which have to be there."""
    for line, other in others.items():
        assert line in text
        text = text.replace(line, other)
    return text


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    openssl = program("openssl", "makes a certificate for the test; Debian's package openssl")
    options = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=test"]
    files = ["-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "cert.pem")]
    subprocess.run([openssl, "req", *options, *files], check=True, capture_output=True)
    return tmp_path


def nginx(folder: Path, *arguments: str, port: int = 443) -> list[str]:
    """A command that runs nginx with the example, and with what a test needs to be otherwise."""
    others = {
        "/etc/ssl/certs/aicontrol.pem": str(folder / "cert.pem"),
        "/etc/ssl/private/aicontrol.key": str(folder / "key.pem"),
        "/var/log/nginx/aicontrol.log": str(folder / "access.log"),
        "/run/aicontrol-web.sock": str(folder / "web.sock"),
    }
    site = replaced((DEPLOY / "nginx.conf").read_text(), others)
    if port != 443:
        site = re.sub(r"^    listen .*80.*;\n|^    listen \[::\].*;\n", "", site, flags=re.MULTILINE)
        # A client that asks for a port without a name is answered by the only server there is.
        site = site.replace("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;")
        site = site.partition("# Whoever is not asked for")[0]
        site = re.sub(r"server {\n    server_name .*\n    return 301.*\n}\n", "", site)
    (folder / "site.conf").write_text(site)
    (folder / "nginx.conf").write_text(AROUND.format(folder=folder, user="user root;" if os.geteuid() == 0 else ""))
    found = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    return [found or program("nginx", "Debian's package nginx"), "-c", str(folder / "nginx.conf"), *arguments]


def test_nginx_takes_the_example(certificate):
    result = subprocess.run(nginx(certificate, "-t"), capture_output=True, text=True, check=False)

    assert result.returncode == 0, result.stderr
    assert "[warn]" not in result.stderr


def postgresqls() -> list[Path]:
    return [programs.program("postgres"), *sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))]


@pytest.mark.parametrize("postgres", postgresqls(), ids=lambda path: path.parent.parent.name)
def test_postgresql_takes_the_settings(tmp_path, postgres):
    (tmp_path / "postgresql.auto.conf").touch()
    (tmp_path / "postgresql.conf").write_text((DEPLOY / "postgresql.conf").read_text())

    command = [str(postgres), "-C", "log_error_verbosity", "-D", str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (result.stdout, result.stderr) == ("terse\n", "")


@pytest.mark.django_db
@pytest.mark.skipif(PGBOUNCER is None, reason="PgBouncer is not installed (Debian's package pgbouncer)")
def test_pgbouncer_takes_the_example_and_the_database_is_reached_through_it(tmp_path):
    server = connection.get_connection_params()
    port = free_port()
    example = replaced(
        (DEPLOY / "pgbouncer.ini").read_text(),
        {
            "aicontrol = host=/run/postgresql dbname=aicontrol": f"* = host={server['host']} user={server['user']}",
            "listen_port = 6432": f"listen_port = {port}",
            "unix_socket_dir = /run/postgresql": "unix_socket_dir =",
            "auth_type = scram-sha-256": "auth_type = any",
            "auth_file = /etc/pgbouncer/userlist.txt": "",
        },
    )
    (tmp_path / "pgbouncer.ini").write_text(example)
    command = server_account(Path(server["host"])).command([str(PGBOUNCER), str(tmp_path / "pgbouncer.ini")])

    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            until(lambda: listens(port))
            address = f"postgres://{server['user']}@127.0.0.1:{port}/{connection.settings_dict['NAME']}"
            with psycopg.connect(address, application_name="aicontrol test") as session:
                assert session.execute("SELECT 1").fetchone() == (1,)
        finally:
            process.terminate()
        assert process.stderr
        assert [line for line in process.stderr if "ERROR" in line or "WARNING" in line] == []


@pytest.mark.django_db(transaction=True)
def test_gunicorn_takes_its_settings_behind_nginx_and_logs_by_the_id_of_nginx(certificate):
    """The way of a request: nginx, the Unix socket, gunicorn, our log; nothing that a client claims is believed."""
    folder, port = certificate, free_port()
    variables = environment(
        ALLOWED_HOSTS="aicontrol.example.com",
        TRUSTED_PROXIES="unix",
        SECURE_SSL_REDIRECT="on",
        LOG_FORMAT="json",
        WEB_PROCESSES="1",
        PYTHONWARNINGS="",
    )
    log = folder / "web.log"
    serving = ["-m", "gunicorn", "--config", "deploy/gunicorn.conf.py", "--bind", f"unix:{folder}/web.sock"]
    front = nginx(folder, "-g", "daemon off; worker_processes 1;", port=port)
    with (
        log.open("wb") as output,
        running([sys.executable, *serving, "aicontrol.wsgi"], env=variables, stdout=output, stderr=output),
        running(front, env={}, stderr=output),
    ):
        until(lambda: ask(port, "/healthz") == 200)
        claims = {"X-Request-ID": "claimed-by-a-client", "X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "http"}
        status = ask(port, "/login/", data=b"username=a&password=b", headers=claims)
        heads = [ask(port, path, method="HEAD") for path in ("/healthz", "/login/", "/nothing", "/static/nothing.css")]

    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    assert heads == [200, 200, 404, 404]
    assert "no-body" not in log.read_text()  # a body that gunicorn had to drop
    assert status == 403  # no CSRF token; and no redirect, since nginx has said that it was asked by HTTPS
    assert {line["logger"] for line in lines} >= {"gunicorn.error", "aicontrol.request_ids"}
    (told,) = [line for line in lines if line["logger"] == "aicontrol.request_ids" and "POST" in line["message"]]
    assert re.fullmatch("[0-9a-f]{32}", told["request"])
    assert f" {told['request']} POST /login/ 403 " in (folder / "access.log").read_text()


NO_ANSWER, ERROR_OF_OURS = 0, 500

# What can stand at the top of a request beside what browsers write there.
ODD = [
    *(f"{name}: {value}" for name in ("SCRIPT_NAME", "script_name", "Script-Name", "PATH_INFO", "Path-Info")
      for value in ("", "/", "/nothing", "/login", "//", "%00", "\xff")),
    *("REMOTE_USER: boss", "REMOTE_ADDR: x", "SERVER_NAME: x", "SERVER_PORT: x", "wsgi.input: x", "Content_Length: 9"),
    *("Content-Length: x", "Content-Length: -1", "Content-Length: +1", f"Content-Length: {'9' * 30}"),
    *("Transfer-Encoding: x", "Transfer-Encoding: chunked, x", "Expect: x", "Upgrade: h2c", "Connection: x"),
    *("X-Forwarded-Proto: x", "X-Forwarded-Protocol: ssl", "X-Forwarded-Ssl: on", "X-Forwarded-For: x, ,::1%x, 1.2"),
    *("Host:", "Host: x y", "Host: [::1", "Host: \xff", "Host: a:b", "Cookie: =;\xff=\xfe", "Range: bytes=9-1,x"),
    *("Accept-Language: \xff-x;q=y", "Accept-Encoding: *;q=\xff", "If-Modified-Since: x", "If-None-Match: \xff"),
    *("X: " + "y" * 9_000, "A: b\r\nA: c", "No colon", ": x", "X y: z", "X: \x00", "X\xff: y"),
]  # fmt: skip


@pytest.mark.django_db(transaction=True)
def test_gunicorn_with_its_settings_fails_at_no_header(tmp_path):
    """Whatever a client says at the top of a request: a page, or a refusal, and no error of ours."""
    door, log = tmp_path / "web.sock", tmp_path / "web.log"
    variables = environment(ALLOWED_HOSTS="localhost", TRUSTED_PROXIES="unix", WEB_PROCESSES="1", PYTHONWARNINGS="")
    serving = ["-m", "gunicorn", "--config", "deploy/gunicorn.conf.py", "--bind", f"unix:{door}", "aicontrol.wsgi"]
    with log.open("wb") as output, running([sys.executable, *serving], env=variables, stdout=output, stderr=output):
        until(lambda: door.exists() and said(door, "Host: localhost") == 200)

        statuses = {odd: said(door, "Host: localhost" if "Host:" not in odd else "X: y", odd) for odd in ODD}

    assert [odd for odd, status in statuses.items() if status in {NO_ANSWER, ERROR_OF_OURS}] == []
    assert {statuses[odd] for odd in ODD if odd.lower().startswith(("script", "path"))} == {200}


def said(door: Path, *headers: str) -> int:
    """The status with which the server behind a socket answers."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(10)
        client.connect(str(door))
        client.sendall("\r\n".join(["GET /login/ HTTP/1.1", *headers, "Connection: close", "", ""]).encode("latin-1"))
        client.shutdown(socket.SHUT_WR)
        return int((client.makefile("rb").readline().split() or [b"", b"0"])[1])


def ask(port: int, path: str, **more: Any) -> int | None:
    """The status that a client is answered with that takes the server for aicontrol.example.com."""
    context = ssl._create_unverified_context()
    request = urllib.request.Request(f"https://localhost:{port}{path}", **more)
    request.add_header("Host", "aicontrol.example.com")
    handler = urllib.request.HTTPSHandler(context=context)
    try:
        with urllib.request.build_opener(handler).open(request, timeout=10) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
    except OSError:
        return None


@contextmanager
def running(command: list[str], **options: Any) -> Iterator[None]:
    with subprocess.Popen(command, cwd=CHECKOUT, **options) as process:
        try:
            yield
        finally:
            process.terminate()
            process.wait(30)
