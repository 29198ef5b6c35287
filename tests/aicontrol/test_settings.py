"""What settings make of the environment, and what a bad deployment is told, each in a process of its own."""

from __future__ import annotations

import json
import re
import stat

import pytest
from django.conf import settings
from django.db import connection
from django.views.debug import SafeExceptionReporterFilter

from tests.conftest import CHECKOUT

KEY = "0123456789 abcdefghijklmnopqrstuvwxyz" * 2
DATABASE = "postgres://someone:hidden@127.0.0.1:1/name"
PRODUCTION = {"DEBUG": "off", "SECRET_KEY": KEY, "DATABASE_URL": DATABASE, "ALLOWED_HOSTS": "aicontrol.example.com"}
CANNOT_RUN = 2
CANNOT_LOAD = 4


@pytest.fixture
def settings_of(run_python):
    """Return the settings that an environment leads to."""

    def read(names, **variables):
        script = (
            f"from aicontrol import settings as s; import json; print(json.dumps([getattr(s, n) for n in {names}]))"
        )
        return json.loads(run_python("-c", script, **variables).stdout)

    return read


@pytest.mark.parametrize(
    ("variables", "debug"),
    [
        ({}, True),
        ({"SECRET_KEY": KEY}, False),
        ({"DATABASE_URL": DATABASE}, False),
        ({"DATABASE_URL": DATABASE, "DEBUG": "on"}, True),
        ({"DEBUG": "off"}, False),
    ],
)
def test_debug_is_on_by_itself_only_in_a_bare_checkout(settings_of, variables, debug):
    assert settings_of(["DEBUG"], **variables) == [debug]


def test_a_check_of_a_bare_checkout_passes_and_starts_no_database(run_python, tmp_path):
    result = run_python("manage.py", "check")

    assert result.returncode == 0, result.stderr
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["secret_key"]


def test_a_developers_secret_key_is_made_once_and_is_private(settings_of, tmp_path):
    first, second = settings_of(["SECRET_KEY"]), settings_of(["SECRET_KEY"])

    assert first == second
    assert len(first[0]) >= 50
    assert stat.S_IMODE((tmp_path / "data" / "secret_key").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("variables", "ids"),
    [
        ({"DEBUG": "off"}, {"aicontrol.E001", "aicontrol.E002"}),
        ({"SECRET_KEY": KEY}, {"aicontrol.E001"}),
        ({"DEBUG": "off", "SECRET_KEY": KEY}, {"aicontrol.E001"}),
        ({"DATABASE_URL": DATABASE}, {"aicontrol.E002"}),
        ({"DATABASE_URL": DATABASE, "SECRET_KEY": " "}, {"aicontrol.E002"}),
        ({"DATABASE_URL": DATABASE, "SECRET_KEY": KEY, "GEMINI_API_KEY": "g", "GEMINI_API": "x"}, {"aicontrol.E003"}),
        ({"DATABASE_URL": DATABASE, "SECRET_KEY": KEY, "METRICS_TOKEN": "guess-me"}, {"aicontrol.E004"}),
        (
            {
                "DATABASE_URL": DATABASE,
                "SECRET_KEY": KEY,
                "OPENAI_API_KEY": "o",
                "OPENAI_BASE_URL": "http://elsewhere.example",
            },
            {"aicontrol.E003"},
        ),
    ],
)
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["manage.py", "check"], 1),
        (["manage.py", "runworkers"], 1),
        (["-c", "import aicontrol.wsgi"], CANNOT_LOAD),
    ],
)
def test_a_server_without_database_or_key_does_not_start_and_says_why(run_python, variables, ids, arguments, code):
    result = run_python(*arguments, **variables)

    assert result.returncode == code
    assert {part.strip("():,") for part in result.stderr.split() if "aicontrol.E" in part} == ids
    assert "HINT" in result.stderr or "Set " in result.stderr
    assert "Traceback" not in result.stderr


def test_gunicorn_ends_rather_than_tries_again(run_python):
    result = run_python("-m", "gunicorn", "--no-control-socket", "-b", "127.0.0.1:0", "aicontrol.wsgi", DEBUG="off")

    assert result.returncode == CANNOT_LOAD
    assert "aicontrol.E001" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_web_server_takes_debug_only_from_who_asks_for_it(run_python):
    by_chance = run_python("-c", "import aicontrol.wsgi")
    on_purpose = run_python("-c", "import aicontrol.wsgi", DEBUG="on")

    assert (by_chance.returncode, on_purpose.returncode) == (CANNOT_LOAD, 0)
    assert "DEBUG is on" in by_chance.stderr


def test_production_settings_pass_the_deployment_check(run_python):
    result = run_python("manage.py", "check", "--deploy", "--fail-level", "WARNING", **PRODUCTION)

    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("variables", "mail"),
    [
        ({}, ["console", None, None, None, None, False]),
        (PRODUCTION, ["smtp", "localhost", 25, None, None, False]),
        (
            {"EMAIL_URL": "smtp+tls://me%40a.example:pa%2Fss@mail.example:587"},
            ["smtp", "mail.example", 587, "me@a.example", "pa/ss", True],
        ),
        ({**PRODUCTION, "EMAIL_URL": "consolemail://"}, ["console", None, None, None, None, False]),
    ],
)
def test_mail_goes_out_as_the_address_says(run_python, variables, mail):
    names = ["EMAIL_HOST", "EMAIL_PORT", "EMAIL_HOST_USER", "EMAIL_HOST_PASSWORD", "EMAIL_USE_TLS"]
    script = (
        "from django.conf import settings as s; import json; "
        f"print(json.dumps([s.EMAIL_BACKEND.split('.')[-2], *(getattr(s, n) for n in {names})]))"
    )

    said = run_python("-c", script, DJANGO_SETTINGS_MODULE="aicontrol.settings", **variables)

    assert json.loads(said.stdout) == mail


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CAPTURE_CONCURRENCY", "many"),
        ("CAPTURE_CONCURRENCY", "0"),
        ("CAPTURE_CONCURRENCY", "1.5"),
        ("CAPTURE_POLL", "nan"),
        ("CAPTURE_GRACE", "-1"),
        ("CAPTURE_LANE_LIMITS", "openai=x"),
        ("CAPTURE_MONTHLY_BUDGET", "-0.01"),
        ("CAPTURE_MONTHLY_BUDGET", "nan"),
        ("CAPTURE_MONTHLY_BUDGET", "inf"),
        ("CAPTURE_MONTHLY_BUDGET", "$50"),
        ("CAPTURE_LANE_LIMITS", "nobody=3"),
        ("DEBUG", "perhaps"),
        ("DATABASE_URL", "mysql://someone:hidden@host/name"),
        ("DATABASE_URL", "postgres://someone:hidden@host:port/name"),
        ("DATABASE_URL", "hidden"),
        ("CAPTURE_LISTEN", "perhaps"),
        ("CAPTURE_LISTEN", "mysql://someone:hidden@host/name"),
        ("CAPTURE_LISTEN", "postgres://someone:hidden@host:port/name"),
        ("EMAIL_URL", "smtp+tls://someone:hidden@"),
        ("EMAIL_URL", "smtp://someone:hidden@host:port"),
        ("EMAIL_URL", "pigeon://hidden"),
        ("SECURE_PROXY_SSL_HEADER", "HTTP_X_FORWARDED_PROTO"),
        ("SECRET_KEY_FILE", "/not/there"),
        ("SECRET_KEY_FILE", "/hidden"),
        ("DATABASE_URL_FILE", "/"),
        ("EMAIL_URL_FILE", "/dev/null"),
        ("OPENAI_API_KEY_FILE", "sk-hidden" * 1000),
        ("TRUSTED_PROXIES", "10.0.0.1/8"),
        ("TRUSTED_PROXIES", "proxy.example"),
        ("LOGIN_ATTEMPTS", "0"),
        ("LOG_LEVEL", "LOUD"),
    ],
)
def test_a_bad_value_is_one_line_that_names_the_variable(run_python, name, value):
    result = run_python("manage.py", "check", **{name: value})

    assert result.returncode == CANNOT_RUN
    assert result.stderr.count("\n") == 1
    assert name in result.stderr
    assert "hidden" not in result.stderr


@pytest.mark.parametrize("url", [DATABASE, "postgres://someone@%2Fnot%2Fthere/name"])
def test_a_database_that_is_away_is_one_line(run_python, url):
    result = run_python("manage.py", "migrate", DATABASE_URL=url, SECRET_KEY=KEY)

    assert result.returncode == CANNOT_RUN
    assert result.stderr.startswith("manage.py: ")
    assert result.stderr.count("\n") == 1
    assert "hidden" not in result.stderr


def test_an_embedded_database_that_cannot_be_used_is_one_line(run_python, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "postgres").touch()

    result = run_python("manage.py", "migrate")

    assert result.returncode == CANNOT_RUN
    assert result.stderr.startswith("manage.py: The embedded PostgreSQL")
    assert result.stderr.count("\n") == 1


def test_the_traceback_is_there_for_who_asks(run_python):
    result = run_python("manage.py", "migrate", "--traceback", DATABASE_URL=DATABASE, SECRET_KEY=KEY)

    assert result.stderr.startswith("Traceback")


def test_the_environment_comes_before_the_file_and_the_file_before_the_demo(settings_of, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "demo.env").write_text("SIMULATOR_URL=demo\nCAPTURE_POLL=7\nCAPTURE_GRACE=7\n")
    (tmp_path / "env").write_text("CAPTURE_POLL=6\nCAPTURE_GRACE=6\n")
    names = ["CAPTURE_GRACE", "CAPTURE_POLL", "SIMULATOR_URL"]

    read = settings_of(names, AICONTROL_ENV=str(tmp_path / "env"), CAPTURE_GRACE="5")

    assert read == [5, 6, "demo"]


def test_a_server_does_not_read_what_a_demo_left(settings_of, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "demo.env").write_text("SIMULATOR_URL=demo\n")

    assert settings_of(["SIMULATOR_URL"], **PRODUCTION) == [""]


@pytest.mark.parametrize(("value", "listens"), [("", True), ("on", True), ("off", False)])
def test_workers_listen_at_the_database_itself_unless_something_else_is_said(settings_of, value, listens):
    assert settings_of(["CAPTURE_LISTEN"], CAPTURE_LISTEN=value) == [listens]


def test_workers_can_listen_at_an_address_of_its_own_that_is_hidden_on_error_pages(settings_of):
    address = "postgres://someone:hidden@db.example:5433/name?sslmode=require"

    own, main = settings_of(["CAPTURE_LISTEN", "DATABASES"], **PRODUCTION | {"CAPTURE_LISTEN": address})

    assert (own["HOST"], own["PORT"], own["NAME"], own["PASSWORD"]) == ("db.example", 5433, "name", "hidden")
    assert own["OPTIONS"] == main["default"]["OPTIONS"] | {"sslmode": "require"}
    assert "hidden" not in str(SafeExceptionReporterFilter().cleanse_setting("CAPTURE_LISTEN", own))


@pytest.mark.parametrize(("value", "kept"), [("", None), ("off", None), ("on", 3)])
def test_the_server_keeps_no_plans_unless_it_is_said(settings_of, value, kept):
    (databases,) = settings_of(["DATABASES"], **PRODUCTION | {"DATABASE_KEEP_PLANS": value})

    assert databases["default"]["OPTIONS"].get("prepare_threshold") == kept


@pytest.mark.parametrize(("keeps", "warned"), [("on", True), ("off", False)])
def test_keeping_plans_behind_a_pooler_is_warned_of(run_python, keeps, warned):
    behind = {"DATABASE_KEEP_PLANS": keeps, "CAPTURE_LISTEN": DATABASE}

    result = run_python("manage.py", "check", **PRODUCTION | behind)

    assert ("aicontrol.W004" in result.stderr) is warned


@pytest.mark.parametrize(
    ("listen", "warned"), [("postgres://someone:hidden@db.example/another", True), (DATABASE, False), ("off", False)]
)
def test_listening_at_another_database_is_warned_of(run_python, listen, warned):
    result = run_python("manage.py", "check", **PRODUCTION | {"CAPTURE_LISTEN": listen})

    assert result.returncode == 0
    assert ("aicontrol.W001" in result.stderr) is warned
    assert "hidden" not in result.stderr


def test_a_secret_can_come_from_a_file(settings_of, tmp_path):
    (tmp_path / "key").write_text(KEY + "\n")
    (tmp_path / "openai").write_text("sk-1\n")
    files = {"SECRET_KEY_FILE": str(tmp_path / "key"), "OPENAI_API_KEY_FILE": str(tmp_path / "openai")}

    assert settings_of(["SECRET_KEY", "CAPTURE_PROVIDER_KEYS"], **files) == [KEY, {"OPENAI_API_KEY": "sk-1"}]


SECRETS = (
    *("SECRET_KEY", "SECRET_KEY_FALLBACKS", "DATABASE_URL", "EMAIL_URL", "CAPTURE_LISTEN"),
    *("OPENAI_API_KEY", "PERPLEXITY_API_KEY", "GEMINI_API_KEY", "SERPAPI_API_KEY"),
)


def test_every_secret_can_come_from_a_file(run_python, tmp_path):
    values = dict(zip(SECRETS, (f"secret{number}" for number in range(len(SECRETS))), strict=True))
    values |= {"DATABASE_URL": "postgres://a:secret2@b/c", "EMAIL_URL": "smtp://a:secret3@b:25"}
    values["CAPTURE_LISTEN"] = "postgres://a:secret4@b/c"
    for name, value in values.items():
        (tmp_path / name).write_text(f"{value}\n")

    names = ["SECRET_KEY", "SECRET_KEY_FALLBACKS", "DATABASES", "EMAIL_HOST_PASSWORD", "CAPTURE_LISTEN"]
    script = f"from aicontrol import settings as s; print(s.CAPTURE_PROVIDER_KEYS, [getattr(s, n) for n in {names}])"
    said = run_python("-c", script, **{f"{name}_FILE": str(tmp_path / name) for name in SECRETS})

    assert [number for number in range(len(SECRETS)) if f"secret{number}" not in said.stdout] == []


def test_a_secret_in_a_file_that_is_no_text_is_one_line_and_not_told(run_python, tmp_path):
    (tmp_path / "key").write_bytes(b"hidden\xff")

    result = run_python("manage.py", "check", SECRET_KEY_FILE=str(tmp_path / "key"))

    assert result.returncode == CANNOT_RUN
    assert result.stderr == "manage.py: SECRET_KEY_FILE names a file that is not UTF-8.\n"


@pytest.mark.parametrize(
    ("variables", "warning"),
    [
        ({"ALLOWED_HOSTS": "*"}, "aicontrol.W002"),
        ({"SECURE_PROXY_SSL_HEADER": "HTTP_X_FORWARDED_PROTO,https"}, "aicontrol.W003"),
        ({"TRUSTED_PROXIES": "127.0.0.1"}, None),
    ],
)
def test_hosts_and_proxies_that_are_not_named_are_warned_of(run_python, variables, warning):
    result = run_python("manage.py", "check", **PRODUCTION | variables)

    assert result.returncode == 0
    assert re.findall(r"aicontrol\.W\d+", result.stderr) == ([warning] if warning else [])


def test_lane_limits_that_are_not_said_have_their_defaults(settings_of):
    limits = {"openai": 20, "perplexity": 3, "gemini": 20, "serpapi": 10}

    assert settings_of(["CAPTURE_LANE_LIMITS"], CAPTURE_LANE_LIMITS=" perplexity = 3 ") == [limits]


@pytest.mark.parametrize(("value", "budget"), [("", "100"), ("0", "0"), ("49.99", "49.99"), ("0.1", "0.1")])
def test_a_budget_is_exact_to_the_cent(run_python, value, budget):
    script = "from aicontrol import settings as s; print(repr(s.CAPTURE_MONTHLY_BUDGET))"

    assert run_python("-c", script, CAPTURE_MONTHLY_BUDGET=value).stdout == f"Decimal('{budget}')\n"


def test_provider_keys_are_hidden_on_error_pages():
    shown = SafeExceptionReporterFilter().get_safe_settings()

    assert hasattr(settings, "CAPTURE_PROVIDER_KEYS")
    assert shown["CAPTURE_PROVIDER_KEYS"] == SafeExceptionReporterFilter.cleansed_substitute


@pytest.mark.django_db
def test_the_embedded_database_says_who_is_connected():
    with connection.cursor() as cursor:
        cursor.execute("SELECT application_name FROM pg_stat_activity WHERE pid = pg_backend_pid()")
        assert cursor.fetchone()[0].startswith("aicontrol")


def test_the_example_names_every_variable_and_changes_nothing(run_python):
    """Settings read variables by name, as in `env.text("NAME")`; some names are put together."""
    example = (CHECKOUT / ".env.example").read_text()
    read = re.findall(r'env\.\w+\(\s*"([A-Z_]+)"', (CHECKOUT / "aicontrol" / "settings.py").read_text())
    set_by_us = {"AICONTROL_PROCESS"}

    assert [name for name in read if f"{name}=" not in example and name not in set_by_us] == []
    assert run_python("manage.py", "check", AICONTROL_ENV=str(CHECKOUT / ".env.example")).returncode == 0


def test_the_credentials_of_a_systemd_unit_are_secrets_from_files(settings_of, tmp_path):
    for name, value in {"aicontrol_SECRET_KEY": KEY, "aicontrol_METRICS_TOKEN": "token", "other_DEBUG": "x"}.items():
        (tmp_path / name).write_text(f"{value}\n")

    read = settings_of(["SECRET_KEY", "METRICS_TOKEN", "DEBUG"], CREDENTIALS_DIRECTORY=str(tmp_path))

    assert read == [KEY, "token", False]
