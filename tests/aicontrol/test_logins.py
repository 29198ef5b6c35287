"""Who may log in and how often it may be tried; nobody can lock out others, nor fill their mailbox."""

from __future__ import annotations

from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from django.utils import timezone

from tests.factories import make_user

pytestmark = pytest.mark.django_db

LIMIT = 3
GOOD = "quite a long sentence"


@pytest.fixture(autouse=True)
def _few_attempts(settings):
    settings.AXES_FAILURE_LIMIT = LIMIT


@pytest.fixture
def ada() -> User:
    return make_user("ada", email="ada@mail.example")


def log_in(client, username="ada", password="wrong", address="192.0.2.1", path="/login/", **extra):
    return client.post(path, {"username": username, "password": password}, REMOTE_ADDR=address, **extra)


def lock(client, **fields) -> None:
    for _ in range(LIMIT):
        log_in(client, **fields)


def is_in(response) -> bool:
    return bool(response.status_code == 302 and response.url == "/")


class TestTooManyAttempts:
    def test_after_so_many_wrong_passwords_the_right_one_is_not_taken_either(self, client, ada):
        statuses = [log_in(client).status_code for _ in range(LIMIT)]

        response = log_in(client, password="secret")

        assert statuses == [200] * (LIMIT - 1) + [429]
        assert response.status_code == 429
        assert response.headers["Retry-After"] == "900"
        assert "Try again in 15 minutes" in response.content.decode()
        assert "_auth_user_id" not in client.session

    @pytest.mark.parametrize("alike", ["bobı", "BOBI", "Bobi"])
    def test_a_name_that_is_taken_for_anothers_counts_as_that(self, client, alike):
        make_user("bobi")
        lock(client, username="bobi")

        assert log_in(client, username=alike, password="secret").status_code == 429

    def test_one_less_is_forgiven_and_forgotten_by_the_right_one(self, client, ada):
        for _ in range(2):
            for _ in range(LIMIT - 1):
                log_in(client)
            assert is_in(log_in(client, password="secret"))
            client.logout()

    def test_it_passes_and_what_is_tried_meanwhile_does_not_prolong_it(self, client, ada):
        lock(client)
        AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=14, seconds=59))
        log_in(client)
        AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=15))

        assert is_in(log_in(client, password="secret"))

    def test_nobody_locks_out_somebody_elsewhere(self, client, ada):
        lock(client)

        assert is_in(log_in(client, password="secret", address="192.0.2.2"))

    def test_nobody_locks_out_others_at_the_same_address(self, client, ada):
        make_user("bob")
        lock(client, username="bob")

        assert is_in(log_in(client, password="secret"))

    @pytest.mark.parametrize(
        "fields",
        [{"username": "ADA"}, {"HTTP_USER_AGENT": "another"}, {"path": "/admin/login/"}],
        ids=["in another case", "by another browser", "in the admin"],
    )
    def test_it_is_the_same_lock(self, client, ada, fields):
        lock(client, **fields)

        assert log_in(client, password="secret").status_code == 429

    @pytest.mark.parametrize("username", ["ﬃ" * 150, "x" * 100_000, "ada'--", "😀" * 150, "ß" * 150])
    def test_any_username_is_counted(self, client, username):
        lock(client, username=username)

        assert log_in(client, username=username).status_code == 429

    def test_an_ajax_call_is_answered_like_any_other(self, client, ada):
        lock(client)

        response = log_in(client, HTTP_X_REQUESTED_WITH="XMLHttpRequest")

        assert response.status_code == 429
        assert "Access-Control-Allow-Origin" not in response.headers
        assert "Content-Security-Policy" in response.headers

    def test_no_password_is_kept(self, client, ada):
        log_in(client, password="my other password")

        kept = AccessAttempt.objects.values().get()

        assert "my other password" not in str(kept)


class TestTheAddress:
    @pytest.mark.parametrize(
        ("first", "second", "same"),
        [
            ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
            ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
            ("192.0.2.1", "::ffff:192.0.2.1", True),
            ("", "no address", True),
        ],
        ids=["one IPv6 network", "another IPv6 network", "IPv4 in IPv6 clothes", "none"],
    )
    def test_is_that_of_one_customer(self, client, ada, first, second, same):
        lock(client, address=first)

        assert (log_in(client, password="secret", address=second).status_code == 429) is same


class TestTheUsername:
    def test_may_be_typed_in_any_case(self, client, ada):
        assert is_in(log_in(client, username="Ada", password="secret"))

    def test_has_to_be_exact_where_two_differ_by_their_case_alone(self, client, ada):
        User.objects.create_user("Ada", password="another one")

        assert not is_in(log_in(client, username="ADA", password="secret"))
        assert is_in(log_in(client, username="Ada", password="another one"))

    def test_wildcards_mean_nobody(self, client, ada):
        for name in ("a%", "ad_", "a.*", ""):
            assert not is_in(log_in(client, username=name, password="secret"))


class TestTheSession:
    def test_has_another_key_after_the_login(self, client, ada):
        session = client.session
        session["seen"] = "before"
        session.save()
        before = session.session_key

        log_in(client, password="secret")

        assert client.session.session_key != before
        assert client.session["seen"] == "before"

    def test_of_somebody_else_is_not_gone_on_with(self, client, ada):
        User.objects.update(is_staff=True)
        client.force_login(make_user("bob"))
        session = client.session
        session["of"] = "bob"
        session.save()

        log_in(client, password="secret", path="/admin/login/")

        assert "of" not in client.session

    def test_ends_elsewhere_when_the_password_changes(self, client, ada):
        elsewhere = Client()
        for each in (client, elsewhere):
            each.force_login(ada)

        client.post("/password/", {"old_password": "secret", "new_password1": GOOD, "new_password2": GOOD}, follow=True)

        assert client.get("/").status_code == 200
        assert elsewhere.get("/").headers["Location"] == "/login/?next=/"

    def test_is_out_of_reach_of_scripts_and_of_other_sites(self, client, ada, settings):
        log_in(client, password="secret")

        cookie = client.cookies[settings.SESSION_COOKIE_NAME]

        assert cookie["httponly"]
        assert cookie["samesite"] == "Lax"


class TestMails:
    def ask(self, client):
        return client.post("/password/forgotten/", {"email": "ada@mail.example"}, follow=True)

    def test_nobody_is_mailed_more_than_three_links_an_hour_and_the_page_does_not_tell(self, client, ada):
        pages = [self.ask(client).content for _ in range(5)]

        assert len(mail.outbox) == 3
        assert len(set(pages)) == 1

    def test_after_an_hour_there_is_another_one(self, client, ada):
        for _ in range(3):
            self.ask(client)
        LogEntry.objects.update(action_time=timezone.now() - timedelta(hours=1, seconds=1))

        self.ask(client)

        assert len(mail.outbox) == 4
