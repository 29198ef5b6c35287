"""The id of a request, and the line that is written of it."""

from __future__ import annotations

import logging
import re
from ipaddress import ip_network

import pytest
from django.contrib.auth.tokens import default_token_generator
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from aicontrol.request_ids import current_request
from tests.factories import make_user

pytestmark = pytest.mark.django_db

OWN = re.compile(r"[0-9a-f]{32}")


@pytest.fixture(autouse=True)
def _heard(caplog):
    caplog.set_level(logging.INFO, "aicontrol.request_ids")


@pytest.fixture
def behind(settings):
    """A proxy on the same machine is trusted, from which the client comes."""
    settings.TRUSTED_PROXIES = [ip_network("127.0.0.1")]


def test_each_request_has_an_id_of_its_own(client):
    first, second = client.get("/login/"), client.get("/login/")

    assert OWN.fullmatch(first["X-Request-ID"])
    assert first["X-Request-ID"] != second["X-Request-ID"]
    assert current_request.get() == ""


def test_an_id_that_anybody_could_send_is_not_taken(client):
    response = client.get("/login/", headers={"X-Request-ID": "from-outside"})

    assert OWN.fullmatch(response["X-Request-ID"])


def test_the_id_of_a_proxy_that_is_trusted_is_taken(behind, client):
    response = client.get("/login/", headers={"X-Request-ID": "3f1c9a0be2d44f7a"})

    assert response["X-Request-ID"] == "3f1c9a0be2d44f7a"


def test_beside_a_proxy_nobody_is_believed(behind, client):
    response = client.get("/login/", headers={"X-Request-ID": "3f1c9a0be2d44f7a"}, REMOTE_ADDR="192.0.2.9")

    assert OWN.fullmatch(response["X-Request-ID"])


@pytest.mark.parametrize("named", ["", "short", "x" * 65, "two\nlines-of-it", "käse-und-brot", "a b c d e f"])
def test_what_is_no_id_is_not_taken_from_a_proxy_either(behind, client, named):
    response = client.get("/login/", HTTP_X_REQUEST_ID=named)

    assert OWN.fullmatch(response["X-Request-ID"])


def test_what_changes_something_or_fails_is_told_and_what_is_only_read_is_not(client, caplog):
    client.get("/login/")
    client.post("/login/", {"username": "nobody", "password": "wrong"})
    client.get("/checks/00000000-0000-0000-0000-000000000000/", {"q": "a question"})
    client.get("/no/such/page/")

    told = [re.sub(r"in \d+ ms", "in N ms", record.getMessage()) for record in caplog.records if "ms" in record.msg]
    assert told == [
        "POST /login/: 200 in N ms",
        "GET (no page of ours): 404 in N ms",
    ]


def test_a_link_that_opens_an_account_is_in_no_log(client, caplog):
    user = make_user(email="ada@example.com")
    token = default_token_generator.make_token(user)
    path = f"/password/set/{urlsafe_base64_encode(force_bytes(user.pk))}/{token}/"

    client.post(path, {"new_password1": "x", "new_password2": "y"})

    assert f"POST {path.replace(token, '…')}" in caplog.text
    assert token not in caplog.text
