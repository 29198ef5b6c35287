"""Nothing that anybody can send is an error of ours: no address, query, form, body or header answers 500.

`FUZZ_EXAMPLES=5000 bin/test tests/views/test_fuzz.py` looks further than a usual run, each time elsewhere.
"""

from __future__ import annotations

import os
import re
from functools import cache
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote_plus, urlencode

import pytest
from django.db import transaction
from django.http import HttpResponseBase
from django.test import Client
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from aicontrol.requests import Request
from tests.views.scene import STRANGER, Scene
from tests.views.test_every_address import ADMINS, ALLOWED, OURS, ROW, TABLES

# Django warns of it where a day is asked for as if it were a time, and takes it in our zone.
pytestmark = pytest.mark.filterwarnings("ignore:DateTimeField .* received a naive datetime")

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0"))


def bounded(examples: int) -> settings:
    """So many examples in a usual run, always the same ones."""
    return settings(
        max_examples=EXAMPLES or examples,
        derandomize=not EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )


# What programs have stumbled over, as it stands in an address or in a body of a form: bytes written as %XX.
HARD = [
    *("", "0", "-1", "1", "2", "1.5", "1e309", "NaN", "-Infinity", "0x10", "1_000", " 1 ", "+1", "1,2", "1%00"),
    *("2147483648", "9223372036854775807", "9223372036854775808", "9" * 30, "-" + "9" * 30, "9" * 5000),
    *(
        "%00",
        "%FF",
        "%ED%A0%80",
        "%C0%80",
        "%F0%9F%98%80" * 50,
        "%E2%80%AE",
        "%0D%0ASet-Cookie:a=b",
        "%",
        "%zz",
        "%u0041",
    ),
    *("%D9%A1%D9%A2", "%C2%B2", "%C4%B0", "%EF%AC%83" * 100, "a" * 20_000, "a%CC%81" * 500),
    *("2020-13-45", "0000-00-00", "0001-01-01", "9999-12-31", "9999-12-31T23:59:59%2B14:00", "2020-02-30%2025:61"),
    *("None", "null", "true", "True", "[]", "{}", "[[", "%22", "'", "';--", "%25", "_", "\\\\", "{{7*7}}", "$(id)"),
    *("../../etc/passwd", "//evil.example", "https://evil.example", "javascript:alert(1)", "/" * 50, "..", "%2e%2e%2f"),
    *("00000000-0000-0000-0000-000000000000", "{00000000000000000000000000000000}", "urn:uuid:0", "g" * 36),
    *("chatgpt", "real", "simulated", "plain", "any", "daily", "weekly", "off", "all", "yes", "brand:1", "starters"),
    *("1-chatgpt-1", "2-chatgpt-1", "failed", "cancelled", "Northwind", "Why%3F", "a%0Ab%0Ac", "delete_selected"),
]
TEXTS = st.text(st.characters(codec="utf-8"), max_size=40).map(quote_plus)
VALUES = st.sampled_from(HARD) | TEXTS

# The names by which pages and forms of ours are asked and told something, and one that none knows.
NAMES = [
    *("page", "search", "since", "until", "prompts", "country", "answers", "systems", "form", "brand", "next", "e"),
    *(
        "competitors",
        "providers",
        "language",
        "samples",
        "nonce",
        "do",
        "category",
        "thing",
        "earlier",
        "place",
        "kind",
    ),
    *("confirmed", "every", "hour", "edition", "own-name", "own-aliases", "own-domains", "own-match_case"),
    *("rivals-TOTAL_FORMS", "rivals-INITIAL_FORMS", "rivals-0-name", "rivals-0-number", "rivals-0-aliases"),
    *("username", "password", "email", "old_password", "new_password1", "new_password2", "csrfmiddlewaretoken", "x"),
]
# The same of the admin's.
STAFFS = [
    *("o", "p", "q", "e", "all", "_facets", "_popup", "_to_field", "_changelist_filters", "month", "unsettled", "next"),
    *("id", "id__exact", "id__in", "pk", "pk__in", "team", "team__id__exact", "of_check__id__exact", "created_at__gte"),
    *(
        "answered_at__lt",
        "started_at__year",
        "status__exact",
        "status__in",
        "provider",
        "provider__exact",
        "host__exact",
    ),
    *("lane__exact", "simulated__exact", "outcome__exact", "basis__exact", "user__password__startswith", "name__regex"),
    *(
        "action",
        "_selected_action",
        "select_across",
        "index",
        "post",
        "_save",
        "_continue",
        "_saveasnew",
        "_addanother",
    ),
    *("app_label", "model_name", "field_name", "term", "name", "limit", "monthly_budget", "time_zone", "username"),
    *(
        "memberships-TOTAL_FORMS",
        "memberships-INITIAL_FORMS",
        "memberships-0-id",
        "memberships-0-user",
        "brand",
        "user",
    ),
    *("competitors-TOTAL_FORMS", "competitors-INITIAL_FORMS", "competitors-0-id", "aliases", "domains", "address"),
    *("least_seconds_between_starts", "paused", "enabled", "password1", "password2", "date_joined_0", "date_joined_1"),
    *("usable_password", "groups", "user_permissions", "permissions", "team", "new_team", "email", "is_active"),
]
ACTIONS = ("requeue", "cancel", "pause", "resume", "settle_as_charged", "delete_selected", "invite_again")

HAS_FORM = re.compile(r"(add|change|delete|invite|password)/$")

METHODS = st.sampled_from(["GET", "POST"])
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=x"


def pairs(names: list[str]) -> st.SearchStrategy[str]:
    """A query, or the body of a form; names may come several times."""
    name = st.sampled_from(names)
    return st.lists(st.tuples(name, VALUES).map("=".join), max_size=6).map("&".join)


@pytest.fixture
def scene(simulated, db, monkeypatch) -> Scene:
    monkeypatch.setattr("django.test.client.WSGIRequest", Request)  # as on a server
    return Scene.make()


@pytest.fixture
def member(scene: Scene) -> Client:
    return scene.browser("member")


@pytest.fixture
def boss(scene: Scene) -> Client:
    return scene.browser("boss")


def ask(
    browser: Client, method: str, path: str, query: str = "", body: str | bytes = b"", **more: Any
) -> HttpResponseBase:
    """What comes of it; an error of ours is raised. The database is afterwards as it was."""
    cookies = browser.cookies
    browser.cookies = cookies.__class__(cookies.output(header="", sep=";"))
    more = {"content_type": FORM, "QUERY_STRING": query} | more
    with transaction.atomic():
        response = browser.generic(method, path, body, **more)
        if response.streaming:
            b"".join(response)
        transaction.set_rollback(True)
    browser.cookies = cookies
    assert response.status_code < 500, (method, path, query, body)
    return response


class Fields(HTMLParser):
    """The fields of a page's forms, with what stands in them, as a browser would send them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self._name = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        told = dict(attributes)
        if tag in {"input", "select", "textarea"}:
            self._name = told.get("name") or ""
            self.found.setdefault(self._name, told.get("value") or "")
        elif tag == "option" and "selected" in told:
            self.found[self._name] = told.get("value") or ""

    def handle_data(self, data: str) -> None:
        if self.lasttag == "textarea" and self._name:
            self.found[self._name] = data.strip()


@cache
def form_of(browser: Client, path: str) -> dict[str, str]:
    """What the form of a page sends if nobody changes it: always the same, as `ask` leaves nothing behind."""
    fields = Fields(browser.get(path, follow=True).content.decode()).found
    return {name: quote_plus(text) for name, text in fields.items() if name}


FORMS = [
    *("login/", "password/", "password/forgotten/", "checks/new/", "checks/<uuid:uuid>/", "brands/<uuid:uuid>/names/"),
]
FORMS_OF_STAFF = [address for address, kind in sorted(ADMINS.items()) if kind == ALLOWED and HAS_FORM.search(address)]


class TestForms:
    """A form as its page sends it, but for one field or two."""

    @given(address=st.sampled_from(FORMS), data=st.data())
    @bounded(60)
    def test_of_ours(self, scene, member, address, data):
        self.send(scene, scene.browser(STRANGER) if address == "login/" else member, address, data)

    @given(address=st.sampled_from(FORMS_OF_STAFF), data=st.data())
    @bounded(60)
    def test_of_the_admin(self, scene, boss, address, data):
        self.send(scene, boss, address, data)

    def send(self, scene: Scene, browser: Client, address: str, data: st.DataObject) -> None:
        path = scene.path(address)
        form = dict(form_of(browser, path))
        form |= data.draw(st.dictionaries(st.sampled_from(sorted(form)), VALUES, min_size=1, max_size=2))
        where = f"{path}schedule/" if path.startswith("/checks/") and address != "checks/new/" else path
        ask(browser, "POST", where, body="&".join(map("=".join, form.items())))


class TestPages:
    @given(address=st.sampled_from(sorted(OURS)), method=METHODS, query=pairs(NAMES), body=pairs(NAMES))
    @bounded(250)
    def test_any_query_and_any_form(self, scene, member, address, method, query, body):
        ask(member, method, scene.path(address), query, body)

    @given(address=st.sampled_from(sorted(OURS)), method=METHODS, query=pairs(NAMES), body=pairs(NAMES))
    @bounded(60)
    def test_of_a_stranger(self, scene, address, method, query, body):
        ask(scene.browser(STRANGER), method, scene.path(address), query, body)

    @given(parts=st.lists(VALUES, max_size=5), before=st.sampled_from(["", "checks/", "brands/", "password/set/"]))
    @bounded(60)
    def test_any_path(self, member, parts, before):
        ask(member, "GET", f"/{before}x{'/'.join(parts)}/")


# Bodies, and what they say that they are; many are neither what they say nor anything else.
KINDS = [
    *(FORM, MULTIPART, "multipart/form-data", "multipart/form-data; boundary=", "", ";", "=;="),
    *(f"{FORM}; charset={name}" for name in ("utf-7", "utf-16", "hex", "idna", "undefined", "latin-1", "\x7f")),
    *(f"{MULTIPART}; charset={name}" for name in ("utf-7", "unicode_escape", "rot13", "ascii", "zip")),
    *("multipart/form-data; boundary*=utf-8''x", "multipart/form-data; boundary=" + "x" * 500, "text/plain"),
]  # fmt: skip
BODIES = [
    *(b"", b"--x", b"--x--", b"--x\r\n\r\n--x--", b"\xff\xfe\x00", b"=&=&&==", b"brand=%", b"brand=%ff%fe"),
    b'--x\r\nContent-Disposition: form-data; name="brand"\r\n\r\nNorthwind\r\n--x--\r\n',
    b'--x\r\nContent-Disposition: form-data; name="brand"; filename="a"\r\n\r\nNorthwind\r\n--x--\r\n',
    b'--x\r\nContent-Disposition: form-data; name="brand"\r\nContent-Transfer-Encoding: base64\r\n\r\n!',
    b'--x\r\nContent-Disposition: form-data; name="\xff\x00"\r\n\r\n\\ud800+2AA-\x00\r\n--x--\r\n',
    b"--x\r\nContent-Disposition: form-data; name*=utf-8''%ff\r\n\r\nx\r\n--x--\r\n",
    *(b"a=1&" * 1001, b"prompts=" + b"a%0A" * 50_000, b"x" * 200_000),
]  # fmt: skip

NOWHERE = ["/nothing/", "/nothing", "/static/nothing", "/checks/nothing/"]
TAKES_FORMS = ["/login/", "/checks/new/", "/admin/", "/admin/capture/team/add/", "/admin/nothing/", "/healthz"]
REFUSED = {400, 403, 404, 405, 413}


class TestRefusals:
    """The page that refuses is made without the body: with the cookie alone, that is where a token is looked for."""

    @given(
        who=st.sampled_from([STRANGER, "member", "boss"]),
        path=st.sampled_from(NOWHERE + TAKES_FORMS),
        kind=st.sampled_from(KINDS),
        body=st.sampled_from(BODIES) | st.binary(max_size=200),
    )
    @example(who=STRANGER, path="/nothing/", kind="multipart/form-data", body=b"x")
    @example(who=STRANGER, path="/nothing/", kind=FORM, body=b"a=1&" * 1001)
    @example(who="member", path="/nothing/", kind=MULTIPART, body=b"--x\r\n" * 2)
    @example(who="boss", path="/admin/nothing/", kind="multipart/form-data", body=b"x")
    @example(who="member", path="/login/", kind=FORM, body=b"a=1&" * 1001)
    @bounded(150)
    def test_of_any_body_of_any_kind(self, scene, who, path, kind, body):
        browser = scene.browser(who)
        browser.handler.enforce_csrf_checks = True
        browser.cookies["csrftoken"] = "x" * 32

        found = ask(browser, "POST", path, body=body, content_type=kind).status_code

        assert found in ({400, 404} if path in NOWHERE else REFUSED)


class TestBodies:
    @given(
        kind=st.sampled_from(KINDS),
        body=st.sampled_from(BODIES) | st.binary(max_size=200),
        length=st.sampled_from([None, "", "0", "-1", "1", "x", "9" * 30]),
        address=st.sampled_from(["login/", "checks/new/", "checks/new/draft/", "brands/<uuid:uuid>/names/"]),
    )  # fmt: skip
    @example(kind=f"{FORM}; charset=hex", body=b"a=b", length=None, address="login/")
    @bounded(150)
    def test_any_body_of_any_kind(self, scene, member, kind, body, length, address):
        said = {} if length is None else {"CONTENT_LENGTH": length}
        ask(member, "POST", scene.path(address), "form=%C3%A4", body, content_type=kind, **said)

    @given(
        header=st.sampled_from([
            *("HTTP_COOKIE", "HTTP_SHOWN", "HTTP_OVER", "HTTP_HX_REQUEST", "HTTP_HX_TARGET", "HTTP_HX_CURRENT_URL"),
            *("HTTP_ACCEPT_LANGUAGE", "HTTP_USER_AGENT", "HTTP_REFERER", "HTTP_ORIGIN", "HTTP_X_FORWARDED_FOR"),
            *("HTTP_X_FORWARDED_PROTO", "HTTP_IF_NONE_MATCH", "HTTP_IF_MODIFIED_SINCE", "HTTP_HOST", "REMOTE_ADDR"),
            *("HTTP_ACCEPT", "HTTP_ACCEPT_ENCODING", "HTTP_AUTHORIZATION", "HTTP_RANGE", "HTTP_X_CSRFTOKEN"),
        ]),
        value=VALUES | st.sampled_from(['sessionid="' + 8 * "\\000" + '"', "messages=x:y:z", "a=b;;=;"]),
        path=st.sampled_from(["", "login/", "checks/<uuid:uuid>/", "checks/new/"]),
        htmx=st.booleans(),
    )  # fmt: skip
    @example(header="HTTP_COOKIE", value='sessionid="' + 8 * "\\000" + '"', path="", htmx=False)
    @bounded(120)
    def test_any_header(self, scene, member, header, value, path, htmx):
        said = {"HTTP_HX_REQUEST": "true"} if htmx else {}
        ask(member, "GET", scene.path(path), **said | {header: value.encode().decode("latin-1")})


class TestAdmin:
    @given(table=st.sampled_from(sorted(TABLES)), query=pairs(STAFFS))
    @example(table="capture/brand", query="domains=x")
    @bounded(200)
    def test_any_filter_of_any_list(self, boss, table, query):
        ask(boss, "GET", f"/admin/{table}/", query)

    @given(address=st.sampled_from(sorted(ADMINS)), method=METHODS, query=pairs(STAFFS), body=pairs(STAFFS))
    @example(address="admin/capture/team/<path:object_id>/change/", method="GET", query="_to_field=", body="")
    @example(address="admin/capture/membership/add/", method="POST", query="", body="team=x&user=y")
    @bounded(200)
    def test_any_query_and_any_form(self, scene, boss, address, method, query, body):
        ask(boss, method, scene.path(address), query, body)

    @given(
        table=st.sampled_from(sorted(TABLES)),
        action=st.sampled_from(ACTIONS) | VALUES,
        chosen=st.lists(VALUES, max_size=3),
        body=pairs(STAFFS),
    )
    @example(table="capture/team", action="delete_selected", chosen=["x"], body="")
    @bounded(120)
    def test_any_action_on_any_rows(self, boss, table, action, chosen, body):
        sent = urlencode({"action": action}) + "".join(f"&_selected_action={row}" for row in chosen)
        ask(boss, "POST", f"/admin/{table}/", body=f"{sent}&{body}")

    @given(
        address=st.sampled_from([address for address in sorted(ADMINS) if ROW in address]),
        row=VALUES,
        method=METHODS,
    )
    @example(address="admin/capture/brand/<path:object_id>/change/", row="9" * 5000, method="POST")
    @bounded(150)
    def test_any_row(self, boss, address, row, method):
        ask(boss, method, f"/{address.replace(ROW, row + '/')}")

    @given(content_type=VALUES, row=VALUES)
    @bounded(60)
    def test_any_row_of_any_kind_on_the_site(self, boss, content_type, row):
        ask(boss, "GET", f"/admin/r/{content_type}/{row}/")
