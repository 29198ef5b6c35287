"""Staff invite people by mail, in the admin."""

from __future__ import annotations

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.core import mail
from django.db import IntegrityError

from capture import invitations
from capture.models import Membership, Team
from capture.user_admin import NEEDED
from tests.factories import make_team, make_user

pytestmark = pytest.mark.django_db

PAGE = "/admin/auth/user/invite/"
LIST = "/admin/auth/user/"


@pytest.fixture
def boss(client):
    user = make_user("boss", is_staff=True, is_superuser=True)
    client.force_login(user)
    return user


def send(client, address="new@mail.example", team="", new_team=""):
    return client.post(PAGE, {"address": address, "team": team, "new_team": new_team}, follow=True)


def errors_of(response) -> dict[str, list[str]]:
    return {name: list(errors) for name, errors in response.context["form"].errors.items()}


def broken_mail(settings):
    settings.EMAIL_BACKEND = "tests.test_invitations.NoMail"


class NoMail:
    """A mail server that is away."""

    def __init__(self, **_):
        pass

    def send_messages(self, messages):
        raise ConnectionRefusedError


def test_somebody_is_invited_into_a_team_that_is_there(client, boss):
    team = make_team()

    html = send(client, "New@Mail.example", team=team.pk).content.decode()

    user = User.objects.get(username="new@mail.example")
    assert "An invitation went to new@mail.example." in html
    assert not user.has_usable_password()
    assert not user.is_staff
    assert Team.objects.of(user) == team
    (message,) = mail.outbox
    assert message.to == ["new@mail.example"]
    assert f"boss invites you to AI Control, to the team {team}." in message.body


def test_the_link_of_the_mail_sets_the_first_password(client, boss):
    send(client, new_team="Marketing")
    (path,) = re.findall(r"http://testserver(\S+)", str(mail.outbox[0].body))
    client.logout()

    form = client.get(path).url
    client.post(form, {"new_password1": "quite a long sentence", "new_password2": "quite a long sentence"})

    assert User.objects.get(email="new@mail.example").check_password("quite a long sentence")
    assert client.get("/").status_code == 200


def test_the_invitation_is_in_the_log_of_the_admin(client, boss):
    send(client, new_team="Marketing")

    entry = LogEntry.objects.get()
    assert (entry.user, entry.object_repr, entry.is_addition()) == (boss, "new@mail.example", True)
    assert entry.change_message == "Invited to the team Marketing."


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"address": "boss@mail.example", "new_team": "A"}, "address"),
        ({"address": "BOSS", "new_team": "A"}, "address"),
        ({"address": "no address", "new_team": "A"}, "address"),
        ({"address": "", "new_team": "A"}, "address"),
        ({"address": "Taken@mail.example", "new_team": "A"}, "address"),
        ({"new_team": ""}, "new_team"),
        ({"new_team": "  "}, "new_team"),
        ({"new_team": "their team"}, "new_team"),
        ({"new_team": "a\x00b"}, "new_team"),
        ({"new_team": "x" * 151}, "new_team"),
        ({"team": "0"}, "team"),
        ({"team": "theirs", "new_team": "A"}, "new_team"),
    ],
)
def test_what_cannot_be_taken_is_said_beside_its_field(client, boss, sent, field):
    User.objects.filter(pk=boss.pk).update(email="boss@mail.example")
    make_user("Taken@mail.example")
    theirs = Team.objects.create(name="Their team")
    sent = {**sent, "team": theirs.pk if sent.get("team") == "theirs" else sent.get("team", "")}

    response = send(client, **sent)

    assert list(errors_of(response)) == [field]
    assert mail.outbox == []
    assert not User.objects.filter(username="new@mail.example").exists()
    assert not LogEntry.objects.exists()


def test_of_two_who_invite_the_same_person_at_once_the_second_is_told(client, boss, monkeypatch):
    def late(*_):
        raise IntegrityError

    monkeypatch.setattr(invitations, "invite", late)

    response = send(client, new_team="Marketing")

    assert errors_of(response) == {"address": ["There is an account with this address already."]}


def test_a_mail_that_cannot_be_sent_leaves_nothing_behind(client, boss, settings, caplog):
    broken_mail(settings)

    html = send(client, new_team="Marketing").content.decode()

    assert "The mail could not be sent, so nobody was invited." in html
    assert 'value="new@mail.example"' in html
    assert not User.objects.filter(username="new@mail.example").exists()
    assert not Team.objects.filter(name="Marketing").exists()
    assert "ConnectionRefusedError" in caplog.text


@pytest.mark.parametrize("lacking", NEEDED)
def test_only_staff_who_may_add_users_and_put_them_into_teams_may_invite(client, lacking):
    staff = make_user(is_staff=True)
    names = [name.split(".")[1] for name in NEEDED if name != lacking]
    staff.user_permissions.set(Permission.objects.filter(codename__in=[*names, "view_user"]))
    client.force_login(staff)

    assert client.get(PAGE).status_code == 403
    assert send(client, new_team="Marketing").status_code == 403
    assert "Invite somebody" not in client.get(LIST).content.decode()
    assert not Membership.objects.filter(team__name="Marketing").exists()


def test_people_who_are_not_staff_are_sent_to_log_in(client):
    client.force_login(make_user())

    assert client.get(PAGE).status_code == 302


class TestAgain:
    def act(self, client, *users):
        sent = {"action": "invite_again", "_selected_action": [user.pk for user in users]}
        return client.post(LIST, sent, follow=True).content.decode()

    def test_only_those_who_have_not_chosen_a_password_are_mailed_again(self, client, boss):
        send(client, new_team="Marketing")
        waiting = User.objects.get(username="new@mail.example")

        html = self.act(client, waiting, boss)

        assert "1 invitation was mailed again." in html
        assert [message.to for message in mail.outbox] == [["new@mail.example"]] * 2
        assert LogEntry.objects.filter(change_message="Invited again.").count() == 1

    def test_a_mail_that_cannot_be_sent_is_told(self, client, boss, settings):
        send(client, new_team="Marketing")
        broken_mail(settings)

        html = self.act(client, User.objects.get(username="new@mail.example"))

        assert "Not all mails could be sent." in html
