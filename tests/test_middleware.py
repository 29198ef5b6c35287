"""Requests that no page of ours sends are refused before anything is done, each with a page that says so."""

from __future__ import annotations

import io

import pytest

from aicontrol.requests import Request
from capture import middleware
from capture.models import Check
from tests.aicontrol.test_security_headers import POLICY, policy_of
from tests.factories import make_user
from tests.test_new_check import typed

pytestmark = pytest.mark.django_db

FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=x"
FILE = b'--x\r\nContent-Disposition: form-data; name="brand"; filename="a"\r\n\r\nNorthwind\r\n--x--\r\n'


@pytest.fixture(autouse=True)
def _requests_as_on_a_server(monkeypatch):
    monkeypatch.setattr("django.test.client.WSGIRequest", Request)


@pytest.fixture
def ada(client, simulated):
    client.force_login(make_user("ada"))
    return client


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/?page=%00", {}),
        ("/a%00b/", {}),
        ("/", {"HTTP_COOKIE": 'sessionid="' + 8 * "\\000" + '"'}),
        ("/", {"CONTENT_LENGTH": "x"}),
        ("/", {"CONTENT_LENGTH": "-1"}),
        *(("/?a=b", {"CONTENT_TYPE": f"{FORM}; charset={name}"}) for name in ("hex", "idna", "utf-7", "latin-1")),
    ],
)
def test_what_no_browser_sends_is_400(client, path, said):
    response = client.get(path, **said)

    assert response.status_code == 400
    assert "no page of ours sends" in response.content.decode()
    assert policy_of(response) == POLICY


class TestSize:
    def test_more_than_may_be_sent_is_413_and_none_of_it_is_read(self, client, settings):
        body = io.BytesIO(b"x")
        size = settings.DATA_UPLOAD_MAX_MEMORY_SIZE

        taken, refused, endless = (
            client.post("/login/", **{"CONTENT_LENGTH": length, "wsgi.input": body})
            for length in ("1", str(size + 1), "9" * 5000)
        )

        assert (taken.status_code, refused.status_code, endless.status_code) == (200, 413, 413)
        assert "At most 3 MB are taken" in refused.content.decode()
        assert policy_of(refused) == POLICY

    def test_the_longest_form_that_the_limits_allow_is_taken(self, ada, settings):
        questions = [f"{number:03}{'😀' * (settings.CAPTURE_MAX_PROMPT_LENGTH - 3)}" for number in range(100)]

        response = ada.post("/checks/new/", typed(prompts="\n".join(questions), providers=["chatgpt"]))

        assert response.status_code == 302
        assert Check.objects.get().prompts.count() == 100

    def test_more_fields_than_any_form_has_are_400(self, ada):
        response = ada.generic("POST", "/checks/new/", "a=1&" * 1001, content_type=FORM)

        assert response.status_code == 400
        assert "it may have been too large" in response.content.decode()

    def test_a_file_is_not_taken(self, ada):
        assert ada.generic("POST", "/checks/new/", FILE, content_type=MULTIPART).status_code == 400


class TestNonsenseInTheAdmin:
    @pytest.mark.parametrize(
        ("method", "path", "body"),
        [
            ("POST", "/admin/capture/team/", "action=delete_selected&_selected_action=x"),
            ("GET", "/admin/capture/brand/?domains=x", ""),
            ("GET", "/admin/capture/team/1/change/?_to_field=", ""),
            ("POST", "/admin/capture/membership/add/", "team=x&user=y"),
        ],
    )
    def test_is_400_and_logged(self, admin_client, caplog, method, path, body):
        response = admin_client.generic(method, path, body, content_type=FORM)

        assert response.status_code == 400
        assert "what was sent makes no sense" in caplog.text

    @pytest.mark.parametrize("number", ["9" * 5000, "9" * 30, "-1", "x", "²"])
    @pytest.mark.parametrize("table", ["brand", "competitor", "capturejob", "worker"])
    def test_a_row_that_there_cannot_be_is_none(self, admin_client, table, number):
        response = admin_client.get(f"/admin/capture/{table}/{number}/change/", follow=True)

        assert response.redirect_chain == [("/admin/", 302)]

    def test_an_error_of_our_own_stays_one(self, admin_client, monkeypatch):
        monkeypatch.setattr(middleware, "OURS", {"tests"})
        monkeypatch.setattr("capture.reports.spend.summary", lambda rows: int("x"))

        with pytest.raises(ValueError, match="invalid literal"):
            admin_client.get("/admin/capture/charge/")


@pytest.mark.parametrize("kind", ["text/html; charset*=nonsense'en'x", "text/html; =;;="])
def test_a_header_that_makes_no_sense_is_none(client, kind):
    assert client.get("/login/?a=b%C3%A4", CONTENT_TYPE=kind).status_code == 200
    assert client.generic("POST", "/login/?a=b%C3%A4", "username=ada", content_type=kind).status_code == 200


def test_the_web_server_reads_requests_so(run_python):
    script = "from aicontrol.wsgi import application; print(application.request_class.__module__)"

    assert run_python("-c", script, DEBUG="on").stdout == "aicontrol.requests\n"


@pytest.mark.parametrize(
    "query", ["?id__range=1", "?created_at__year=99999999999", "?created_at__year=x", "?page=99999999999999999999"]
)
def test_filters_that_make_no_sense_are_no_error_of_ours(admin_client, query):
    assert admin_client.get(f"/admin/capture/check/{query}").status_code < 500


@pytest.mark.parametrize("month", ["9999-12", "0001-01", "2026-13", "x"])
def test_any_month_of_the_charges_is_answered(admin_client, month):
    assert admin_client.get(f"/admin/capture/charge/?month={month}").status_code < 500


@pytest.mark.parametrize("where", ["http://[", "//", "x", "http://testserver/checks/"])
def test_a_lapsed_session_is_told_so_whatever_page_it_was_on(client, where):
    response = client.get("/", HTTP_HX_REQUEST="true", HTTP_HX_CURRENT_URL=where)

    assert response.status_code == 401
