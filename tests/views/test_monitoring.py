"""What machines ask, and who is told."""

from __future__ import annotations

import pytest
from django.db import OperationalError, connection
from django.test import Client
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_families
from prometheus_client.parser import text_string_to_metric_families

from capture.models import Worker
from tests.lost_workers import fall_silent, make_worker
from tests.process.test_systemd import forget_the_last_migration

TOKEN = "a-token-of-random-characters"
OPENMETRICS = "application/openmetrics-text"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def token(settings):
    settings.METRICS_TOKEN = TOKEN


@pytest.fixture
def _away(monkeypatch):
    def refuse(*_):
        raise OperationalError("the server is starting up")

    monkeypatch.setattr("django.db.backends.utils.CursorWrapper.execute", refuse)


def figures(response) -> dict[str, float]:
    """The figures without labels, by name."""
    families = text_string_to_metric_families(response.content.decode())
    return {sample.name: sample.value for family in families for sample in family.samples if not sample.labels}


class TestAlive:
    def test_a_process_that_answers_is_alive_whatever_the_database_does(self, client):
        response = client.get("/healthz")  # pytest-django lets nobody without the mark at the database

        assert (response.status_code, response.json()) == (200, {"alive": True})

    def test_it_may_be_asked_without_https(self, client, settings):
        settings.SECURE_SSL_REDIRECT = True

        assert client.get("/healthz").status_code == 200
        assert client.get("/login/").status_code == 301

    @pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
    def test_nothing_keeps_what_was_said_and_nothing_can_be_sent(self, client, db, token, path):
        assert "no-store" in client.get(path)["Cache-Control"]
        assert client.post(path).status_code == 405


@pytest.mark.django_db
class TestReady:
    def test_with_database_migrations_and_a_worker_it_is_ready(self, client):
        make_worker()

        response = client.get("/readyz")

        assert (response.status_code, response.json()) == (200, {"ready": True, "missing": {}})

    @pytest.mark.parametrize("how", ["none", "silent", "stopped"])
    def test_without_a_worker_that_is_alive_it_is_not(self, client, how):
        if how != "none":
            worker = make_worker()
            fall_silent(worker) if how == "silent" else Worker.objects.update(stopped_at="2026-01-01T00:00Z")

        response = client.get("/readyz")

        assert response.status_code == 503
        assert response.json() == {"ready": False, "missing": {"worker": "none is alive"}}

    def test_it_says_which_migrations_are_missing(self, client):
        make_worker()
        last = forget_the_last_migration()

        response = client.get("/readyz")

        assert response.status_code == 503
        assert response.json()["missing"] == {"migrations": f"not applied: capture.{last.name}"}

    @pytest.mark.usefixtures("_away")
    def test_without_the_database_that_is_what_is_missing(self, client, monkeypatch):
        monkeypatch.setattr(connection, "close", lambda: None)  # it holds the test's transaction

        response = client.get("/readyz")

        assert response.status_code == 503
        assert response.json() == {"ready": False, "missing": {"database": "it cannot be used"}}


@pytest.mark.django_db
class TestFigures:
    def test_without_a_token_in_the_settings_there_are_none(self, client):
        assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404

    @pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}])
    def test_without_the_token_nobody_sees_them(self, client, token, headers):
        response = client.get("/metrics", headers=headers)

        assert (response.status_code, response.content) == (401, b"")
        assert response["WWW-Authenticate"] == "Bearer"

    def test_who_is_logged_in_as_staff_needs_the_token_too(self, admin_client, token):
        assert admin_client.get("/metrics").status_code == 401

    def test_with_the_token_they_come_as_text_for_prometheus(self, client, token):
        response = client.get("/metrics", headers=BEARER)

        assert response["Content-Type"].startswith("text/plain; version=")
        assert figures(response)["aicontrol_database_up"] == 1

    def test_openmetrics_is_spoken_to_whoever_asks_for_it(self, client, token):
        response = client.get("/metrics", headers=BEARER | {"Accept": "application/openmetrics-text; version=1.0.0"})

        assert response["Content-Type"].startswith("application/openmetrics-text")
        assert response.content.endswith(b"# EOF\n")

    @given(
        offers=st.lists(
            st.builds(
                "{}; {}={}{}".format,
                st.sampled_from([OPENMETRICS, "text/plain", "Text/Plain", "*/*", "", "/", ";"]),
                st.sampled_from(["version", "q", "escaping", "charset*", ""]),
                st.sampled_from(["", "0.0.1", "1.0.0", "1.x", "1.0.x", "2.x", "9.9", "-1", "NaN", "\xe9", "x''%ff"])
                | st.text(st.characters(codec="latin-1", exclude_categories=["Cc"]), max_size=9),
                st.sampled_from(["", ";q=0.5", ";;", "; escaping=allow-utf-8", '; version="']),
            ),
            max_size=4,
        )
    )
    @example(offers=[f"{OPENMETRICS}; version=1.x"])
    @example(offers=[f"{OPENMETRICS}; version=2.x"])
    @example(offers=["text/plain; version=1.x"])
    @settings(max_examples=60, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def test_whatever_a_scraper_would_like_it_gets_what_the_type_says(self, client, token, offers):
        response = client.get("/metrics", headers=BEARER | {"Accept": ", ".join(offers)})

        kind, version = response["Content-Type"].split("; ")[:2]
        assert (kind, version) in {(OPENMETRICS, "version=1.0.0"), ("text/plain", "version=0.0.4")}
        families = openmetrics_families if kind == OPENMETRICS else text_string_to_metric_families
        assert "aicontrol_database_up" in {family.name for family in families(response.content.decode())}

    @pytest.mark.usefixtures("_away")
    def test_without_the_database_they_say_so_and_no_more(self, client, token, monkeypatch):
        monkeypatch.setattr(connection, "close", lambda: None)

        response = client.get("/metrics", headers=BEARER)

        assert response.status_code == 200
        assert set(figures(response)) == {"aicontrol_database_up", "aicontrol_scrape_seconds"}
        assert figures(response)["aicontrol_database_up"] == 0


def test_an_id_of_the_request_comes_with_the_answer():
    assert Client().get("/healthz")["X-Request-ID"]
