"""What every response says to the browser, whatever it is a response to."""

from __future__ import annotations

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage

from capture import reports
from tests.factories import make_check, make_user

pytestmark = pytest.mark.django_db

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}


def policy_of(response) -> dict[str, str]:
    parts = response.headers["Content-Security-Policy"].split(";")
    return dict(part.strip().split(" ", 1) for part in parts)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 200),
        ("/checks/new/", 302),
        ("/login/", 302),
        ("/nothing-here/", 404),
        ("/?page=%00", 400),
        ("/admin/", 200),
        ("/admin/capture/team/add/", 200),
        ("/admin/jsi18n/", 200),
        ("/favicon.ico", 302),
        ("check", 200),
        ("status", 200),
    ],
)
def test_every_page_lets_the_browser_use_the_site_alone(client, path, status):
    user = make_user(is_staff=True, is_superuser=True)
    client.force_login(user)
    check = reports.check_url(make_check(user))
    address = {"check": check, "status": f"{check}status.json"}.get(path, path)

    response = client.get(address)

    assert response.status_code == status
    assert policy_of(response) == POLICY
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["X-Frame-Options"] == "DENY"
    assert response.headers["Referrer-Policy"] == "same-origin"
    assert response.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "camera=()" in response.headers["Permissions-Policy"]


def test_an_error_has_the_policy_too(client, monkeypatch):
    client.force_login(make_user())
    client.raise_request_exception = False
    monkeypatch.setattr(reports, "checks_of", lambda team: 1 / 0)

    response = client.get("/")

    assert response.status_code == 500
    assert policy_of(response) == POLICY


def test_the_page_of_an_error_asks_the_database_nothing(client, monkeypatch, django_assert_num_queries):
    client.raise_request_exception = False
    monkeypatch.setattr("capture.views.redirect_to_login", lambda path: 1 / 0)

    with django_assert_num_queries(0):
        response = client.get("/")

    assert response.status_code == 500
    assert "Something went wrong" in response.content.decode()


def test_who_asks_for_a_favicon_without_a_page_is_told_where_it_is(client):
    assert client.get("/favicon.ico").url == staticfiles_storage.url("capture/favicon.svg")
