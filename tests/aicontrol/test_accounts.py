"""Passwords by mail, without a browser: who gets a link, and what the link is good for."""

from __future__ import annotations

import re
import socket
from datetime import datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.core import mail

from tests.factories import make_user

pytestmark = pytest.mark.django_db

GOOD = "quite a long sentence"


def path_in_mail() -> str:
    (path,) = re.findall(r"http://testserver(\S+)", str(mail.outbox[-1].body))
    return str(path)


def ask_for_link(client, address: str):
    return client.post("/password/forgotten/", {"email": address}, follow=True)


def test_a_link_is_mailed_to_the_address_of_an_account(client):
    make_user("ada", email="ada@mail.example")

    ask_for_link(client, "ada@mail.example")

    (message,) = mail.outbox
    assert message.to == ["ada@mail.example"]
    assert message.subject == "AI Control: choose a new password"
    assert "ada" in message.body


@pytest.mark.parametrize(
    "fields",
    [{"email": "other@mail.example"}, {"email": "ada@mail.example", "is_active": False}],
    ids=["another address", "an account that is switched off"],
)
def test_who_has_no_account_gets_no_mail_and_the_page_does_not_tell(client, fields):
    make_user("ada", **fields)

    html = ask_for_link(client, "ada@mail.example").content.decode()

    assert mail.outbox == []
    assert "Look into your mail" in html


def test_a_link_is_not_good_after_three_days(client, monkeypatch):
    make_user("ada", email="ada@mail.example")
    ask_for_link(client, "ada@mail.example")
    later = datetime.now() + timedelta(days=3, minutes=1)  # noqa: DTZ005  as Django's own clock for this
    monkeypatch.setattr("django.contrib.auth.tokens.PasswordResetTokenGenerator._now", lambda self: later)

    html = client.get(path_in_mail()).content.decode()

    assert "This link works no more" in html


def test_the_address_of_the_form_does_not_hold_the_token(client):
    make_user("ada", email="ada@mail.example")
    ask_for_link(client, "ada@mail.example")

    response = client.get(path_in_mail())

    assert response.url.endswith("/set-password/")


def test_a_mail_that_cannot_go_out_is_logged_and_tells_the_stranger_nothing(client, settings, caplog):
    make_user("ada", email="ada@mail.example")
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST = "127.0.0.1"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        settings.EMAIL_PORT = probe.getsockname()[1]  # bound, and nobody listens

        html = ask_for_link(client, "ada@mail.example").content.decode()

    assert "Look into your mail" in html
    assert "Failed to send password reset email" in caplog.text


def test_a_new_password_is_held_against_the_rules(client):
    user = make_user("ada", email="ada@mail.example")
    ask_for_link(client, "ada@mail.example")
    form = client.get(path_in_mail()).url

    html = client.post(form, {"new_password1": "password", "new_password2": "password"}).content.decode()
    assert "too common" in html
    client.post(form, {"new_password1": GOOD, "new_password2": GOOD})

    assert User.objects.get(pk=user.pk).check_password(GOOD)
