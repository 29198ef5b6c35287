"""The guide's own commands, one after the other, lead to an installation that is ready, upgraded and backed up."""

from __future__ import annotations

import re

import pytest

from tests.conftest import CHECKOUT
from tests.deploy import machine

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

GUIDE = CHECKOUT / "docs" / "operations.md"
HOST = "aicontrol.test"

SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FETCHING = ("git -C", "pip install")  # of an upgrade; there is nothing newer to fetch

ASK = f"""
TRY_NGINX="curl --silent --insecure --resolve {HOST}:443:127.0.0.1"
echo "SECRETS $(stat -c '%A %U' /etc/aicontrol/secrets/SECRET_KEY)"
echo "REFUSED $($TRY_NGINX --output /dev/null --write-out '%{{http_code}}' https://{HOST}/metrics)"
echo "LOGIN $($TRY_NGINX https://{HOST}/login/ | grep -c csrfmiddleware)"
echo "DUMPED $(runuser -u postgres -- pg_restore --list /var/backups/aicontrol/aicontrol.dump | grep -c 'TABLE DATA')"
"""


def section(title: str) -> str:
    """The commands of a section."""
    text = GUIDE.read_text().split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]
    blocks = SHELL.findall(text)
    assert blocks, title
    return "\n".join(blocks)


def without_fetching(commands: str) -> str:
    return "\n".join(line for line in commands.splitlines() if not any(word in line for word in FETCHING))


@pytest.fixture(scope="module")
def said(tmp_path_factory) -> str:
    """What all the commands have said, on a machine of their own."""
    if why := machine.why_not():
        pytest.skip(f"there is no machine to throw away here: {why}")
    sections = [section("Install"), without_fetching(section("Upgrade")), section("Back up and restore")]
    script = "\n".join([*sections, section("Watch it"), ASK])

    result = machine.run(script, tmp_path_factory.mktemp("machine"), HOST, seconds=240)

    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-6000:]
    return result.stdout


def test_it_is_ready_by_itself_and_through_nginx_and_after_an_upgrade(said):
    assert said.count('{"ready": true, "missing": {}}') == 3


def test_two_workers_are_alive(said):
    assert "Nothing needs a person." in said
    assert 'aicontrol_workers{health="alive"} 2.0' in said


def test_secrets_are_roots_and_figures_are_for_who_has_the_token(said):
    assert "SECRETS -rw------- root" in said
    assert "REFUSED 401" in said
    assert "aicontrol_database_up 1.0" in said


def test_people_are_shown_where_to_log_in(said):
    assert "LOGIN 1" in said


def test_the_backup_holds_the_tables(said):
    (tables,) = re.findall(r"^DUMPED (\d+)$", said, re.MULTILINE)
    assert int(tables) > 20
