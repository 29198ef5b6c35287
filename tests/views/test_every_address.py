"""Every address × who asks × how, as a table. An address that is not in it fails; put yours where it belongs.

Who asks: a stranger, a member of another team, a member of the team whose check it is, staff without any permission,
and a superuser. HEAD answers as GET, and all other methods are 405 wherever they are tried.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client

from capture.models import Attempt, Brand, Capture, CaptureJob, Check, Competitor, Lane, Schedule, Team
from tests.views.scene import STRANGER, Scene, addresses

WRONG_METHODS = ("PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW")


@dataclass(frozen=True)
class Kind:
    """What a kind of address answers, by who asks: a status, or `login`, `admin` or `->` for where it leads.

    It is asked with nothing to send, so that a form that is taken answers 200 with what is wrong.
    """

    #          stranger other member clerk boss
    get: str
    post: str = "405   405   405   405   405"


NO_GET = "405   405   405   405   405"

# ---------------------------------------- stranger other member clerk boss ----------------------------------------
LOG_IN = Kind("200   ->    ->    ->    ->   ", "200   ->    ->    ->    ->   ")
LOG_OUT = Kind(NO_GET, "login login login login login")
FOR_ALL = Kind("200   200   200   200   200  ")
NOBODYS_WITHOUT_ITS_TOKEN = Kind("404   404   404   404   404  ")
FORM_FOR_ALL = Kind("200   200   200   200   200  ", "200   200   200   200   200  ")
LEADS_ON = Kind("->    ->    ->    ->    ->   ")
LINK_OF_A_MAIL = Kind("->    ->    ->    ->    ->   ", "->    ->    ->    ->    ->   ")
PAGE = Kind("login 200   200   200   200  ")
FORM = Kind("login 200   200   200   200  ", "login 200   200   200   200  ")
NEW_CHECK = Kind("login ->    ->    ->    ->   ", "401   200   200   200   200  ")
DRAFT = Kind(NO_GET, "login 200   200   200   200  ")

THE_TEAMS_PAGE = Kind("login 404   200   404   404  ")
THE_TEAMS_STATUS = Kind("401   404   200   404   404  ")
THE_TEAMS_FORM = Kind("login 404   200   404   404  ", "login 404   200   404   404  ")
THE_TEAMS_DRAFT = Kind(NO_GET, "login 404   200   404   404  ")
THE_TEAMS_BUTTON = Kind("login 404   ->    404   404  ", "login 404   ->    404   404  ")
THE_TEAMS_SWITCH = Kind(NO_GET, "login 404   ->    404   404  ")
THE_TEAMS_CONFIRMATION = Kind("login 404   200   404   404  ", "login 404   ->    404   404  ")

STAFFS_DOOR = Kind("200   200   200   ->    ->   ", "200   200   200   200   200  ")
STAFFS_EXIT = Kind("->    ->    ->    405   405  ", "->    ->    ->    login login")
STAFFS = Kind("admin admin admin 200   200  ", "admin admin admin 200   200  ")
STAFFS_PAGE = Kind("admin admin admin 200   200  ", "admin admin admin 405   405  ")
STAFFS_OLD = Kind("admin admin admin ->    ->   ", "admin admin admin ->    ->   ")
STAFFS_SEARCH = Kind("admin admin admin 403   403  ", "admin admin admin 405   405  ")
NOT_THERE = Kind("admin admin admin 404   404  ", "admin admin admin 404   404  ")
ALLOWED = Kind("admin admin admin 403   200  ", "admin admin admin 403   200  ")
ALLOWED_TO_SEE = Kind("admin admin admin 403   200  ", "admin admin admin 403   403  ")
SECTION = Kind("admin admin admin 404   200  ", "admin admin admin 404   200  ")
OPENED = Kind("admin admin admin 403   200  ", "admin admin admin 405   405  ")
STAFFS_BUTTON = Kind("admin admin admin 405   405  ", "admin admin admin 403   ->   ")
OF_A_NAMED_ACTION = Kind("admin admin admin 405   405  ", "admin admin admin 403   403  ")
NOBODYS = Kind("admin admin admin 403   403  ", "admin admin admin 403   403  ")

CHECK = "checks/<uuid:uuid>/"
ANSWER = f"{CHECK}answers/<int:position>/<slug:provider>/<int:sample>/"
BRAND = "brands/<uuid:uuid>/"

OURS = {
    "favicon.ico": LEADS_ON,
    "healthz": FOR_ALL,
    "readyz": FOR_ALL,
    "metrics": NOBODYS_WITHOUT_ITS_TOKEN,
    "login/": LOG_IN,
    "logout/": LOG_OUT,
    "password/": FORM,
    "password/forgotten/": FORM_FOR_ALL,
    "password/mailed/": FOR_ALL,
    "password/set/<uidb64>/<token>/": LINK_OF_A_MAIL,
    "": PAGE,
    "brands/": PAGE,
    "figures/": PAGE,
    "checks/new/": NEW_CHECK,
    "checks/new/draft/": DRAFT,
    CHECK: THE_TEAMS_PAGE,
    f"{CHECK}status.json": THE_TEAMS_STATUS,
    f"{CHECK}answers.csv": THE_TEAMS_PAGE,
    f"{CHECK}answers.json": THE_TEAMS_PAGE,
    f"{CHECK}sources.csv": THE_TEAMS_PAGE,
    f"{CHECK}figures.csv": THE_TEAMS_PAGE,
    f"{CHECK}figures.json": THE_TEAMS_PAGE,
    f"{CHECK}sites.csv": THE_TEAMS_PAGE,
    f"{CHECK}ask-again/": THE_TEAMS_BUTTON,
    f"{CHECK}cancel/": THE_TEAMS_BUTTON,
    f"{CHECK}repeat/": THE_TEAMS_BUTTON,
    f"{CHECK}schedule/": THE_TEAMS_SWITCH,
    f"{CHECK}delete/": THE_TEAMS_CONFIRMATION,
    ANSWER: THE_TEAMS_PAGE,
    f"{ANSWER}answer.txt": THE_TEAMS_PAGE,
    BRAND: THE_TEAMS_PAGE,
    f"{BRAND}history.csv": THE_TEAMS_PAGE,
    f"{BRAND}history.json": THE_TEAMS_PAGE,
    f"{BRAND}competitors/": THE_TEAMS_PAGE,
    f"{BRAND}competitors.csv": THE_TEAMS_PAGE,
    f"{BRAND}sources/": THE_TEAMS_PAGE,
    f"{BRAND}sources.csv": THE_TEAMS_PAGE,
    f"{BRAND}names/": THE_TEAMS_FORM,
    f"{BRAND}names/preview/": THE_TEAMS_DRAFT,
}

STAFFS_OWN = {
    "admin/": STAFFS,
    "admin/login/": STAFFS_DOOR,
    "admin/logout/": STAFFS_EXIT,
    "admin/password_change/": STAFFS,
    "admin/password_change/done/": STAFFS_PAGE,
    "admin/jsi18n/": STAFFS_PAGE,
    "admin/autocomplete/": STAFFS_SEARCH,
    "admin/r/<path:content_type_id>/<path:object_id>/": NOT_THERE,
    "admin/^(?P<app_label>auth|capture|admin)/$": SECTION,
    "admin/(?P<url>.*)$": NOT_THERE,
    "admin/auth/user/invite/": ALLOWED,
    "admin/auth/user/<id>/password/": ALLOWED,
    "admin/capture/check/<uuid:uuid>/open/": OPENED,
    "admin/capture/check/<uuid:uuid>/open/answers/<int:position>/<slug:provider>/<int:sample>/": OPENED,
    "admin/capture/capturejob/<int:number>/act/": OF_A_NAMED_ACTION,
    "admin/capture/staffaction/<int:number>/confirm/": STAFFS_BUTTON,
    "admin/capture/staffaction/<int:number>/go-on/": STAFFS_BUTTON,
}

# What every table has in the admin, for those that people write and for those that the machine writes.
ROW = "<path:object_id>/"
PEOPLES = {
    "": ALLOWED,
    "add/": ALLOWED,
    ROW: STAFFS_OLD,
    f"{ROW}change/": ALLOWED,
    f"{ROW}delete/": ALLOWED,
    f"{ROW}history/": ALLOWED,
}
MACHINES = PEOPLES | {"add/": NOBODYS, f"{ROW}change/": ALLOWED_TO_SEE, f"{ROW}delete/": NOBODYS}

TABLES = {
    "auth/group": PEOPLES,
    "auth/user": PEOPLES,
    "capture/team": PEOPLES,
    "capture/membership": PEOPLES,
    "capture/brand": PEOPLES,
    "capture/competitor": PEOPLES | {f"{ROW}delete/": NOBODYS},
    "capture/lane": PEOPLES | {"add/": NOBODYS, f"{ROW}delete/": NOBODYS},
    "capture/check": MACHINES,
    "capture/capturejob": MACHINES,
    "capture/attempt": MACHINES,
    "capture/capture": MACHINES,
    "capture/charge": MACHINES,
    "capture/schedule": MACHINES,
    "capture/worker": MACHINES,
    "capture/staffaction": MACHINES,
    "admin/logentry": MACHINES,
}

ADMINS = STAFFS_OWN | {
    f"admin/{table}/{address}": kind for table, kinds in TABLES.items() for address, kind in kinds.items()
}

# Django shows whoever is logged in the door again, but for GET.
HEAD_DIFFERS = {"admin/login/": "200   200   200   200   200  "}


@pytest.fixture
def scene(simulated, db) -> Scene:
    return Scene.make()


def test_the_table_has_every_address_and_no_other():
    assert set(addresses()) == {*OURS, *ADMINS}


@pytest.mark.slow
@pytest.mark.parametrize("table", [OURS, ADMINS], ids=["pages", "admin"])
def test_everybody_is_answered_as_the_table_says(scene, table):
    browsers = {who: scene.browser(who) for who in scene.people}
    surprises = []

    for address, kind in table.items():
        head = HEAD_DIFFERS.get(address, kind.get)
        for method, expected in (("GET", kind.get), ("HEAD", head), ("POST", kind.post)):
            answers = [answer(browser, method, scene.path(address)) for browser in browsers.values()]
            if answers != expected.split():
                surprises.append(f"{method} {address}: {' '.join(answers)}")

    assert surprises == []


@pytest.mark.parametrize("who", [STRANGER, "boss"])
def test_other_methods_are_refused_everywhere(scene, who):
    browser = scene.browser(who)

    answers = {
        (address, method): browser.generic(method, scene.path(address))
        for address in (*OURS, *ADMINS)
        for method in WRONG_METHODS
    }

    assert [asked for asked, response in answers.items() if response.status_code != 405] == []
    assert {response.headers["Allow"] for response in answers.values()} == {"GET, HEAD, POST"}
    assert "Nothing was done" in answers["login/", "PUT"].content.decode()


@pytest.mark.parametrize("who", [STRANGER, "other", "clerk"])
def test_whatever_is_sent_by_others_changes_nothing(scene, who):
    tables = (Team, Brand, Competitor, Check, CaptureJob, Attempt, Capture, Schedule, Lane)
    browser = scene.browser(who)
    browser.get("/")  # makes a team of one for who has none
    before = [list(model.objects.order_by("pk").values()) for model in tables]

    for address in (*OURS, *ADMINS):
        browser.post(scene.path(address), {"confirmed": "yes", "post": "yes", "every": "daily", "hour": "6"})

    assert [list(model.objects.order_by("pk").values()) for model in tables] == before
    assert User.objects.get(username="member").check_password("secret")


def answer(browser: Client, method: str, path: str) -> str:
    """What somebody is answered, as the table has it; the database is afterwards as it was."""
    cookies = copy(browser.cookies)
    with transaction.atomic():
        response = browser.generic(method, path)
        if response.streaming:
            assert b"".join(response) or method == "HEAD"
        transaction.set_rollback(True)
    browser.cookies = cookies
    return _in_short(response.status_code, response.headers.get("Location", ""))


def _in_short(status: int, location: str) -> str:
    if status != 302:
        return str(status)
    return {"/login/": "login", "/admin/login/": "admin"}.get(location.partition("?")[0], "->")
