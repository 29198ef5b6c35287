"""Staff open a team's check to read it: a banner says so, the log says who, and nothing can be pressed."""

from __future__ import annotations

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User

from capture import queue
from capture.models import CaptureJob, Check, Status
from tests.admin.staff import LOOK, get, staff
from tests.factories import claim_one, complete_one, error, fresh, make_check, make_job, make_team

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]


def opened(check: Check) -> str:
    return f"/admin/capture/check/{check.uuid}/open/"


@pytest.fixture
def opener(client):
    user = staff("open_checks", "view_check")
    client.force_login(user)
    return user


@pytest.fixture
def done():
    job = make_job()
    complete_one(job)
    return job


def messages() -> list[str]:
    return [entry.get_change_message() for entry in LogEntry.objects.order_by("pk")]


def pressable(html: str) -> list[str]:
    return re.findall(r"<form|<button|<input|<script|hx-[a-z-]+=|href=\"/checks/", html)


def test_the_check_is_shown_as_its_team_sees_it(client, opener, done):
    html = get(client, opened(done.of_check))

    assert "Read only." in html
    assert f"this check of the team {done.team}" in html
    assert "Which espresso machine is best?" in html
    assert "Finished: 1 of 1 answered" in html


def test_its_answers_are_shown_and_lead_back(client, opener, done):
    path = f"{opened(done.of_check)}answers/1/chatgpt/1/"
    assert f'href="{path.removeprefix(opened(done.of_check))}"' in get(client, opened(done.of_check))

    html = get(client, path)

    assert "is liked by many." in html
    assert "Read only." in html
    assert f'href="{opened(done.of_check)}#cell-' in html


def test_answers_lead_to_each_other(client, opener):
    check = make_check(prompts=("One?", "Two?"))

    html = get(client, f"{opened(check)}answers/1/chatgpt/1/")

    assert f'href="{opened(check)}answers/2/chatgpt/1/" rel="next"' in html


@pytest.mark.parametrize("state", ["done", "failed", "pending", "running"])
def test_nothing_can_be_pressed(client, opener, state):
    job = make_job()
    if state == "done":
        complete_one(job)
    elif state != "pending":
        ticket = claim_one(job)
        if state == "failed":
            queue.fail(ticket, error())

    for path in (opened(job.of_check), f"{opened(job.of_check)}answers/1/chatgpt/1/"):
        assert pressable(get(client, path)) == []


def test_the_team_itself_has_what_it_can_press(client, done):
    client.force_login(done.of_check.created_by)

    html = get(client, f"/checks/{done.of_check.uuid}/")

    assert "<form" in html
    assert "hx-get" in html
    assert "Read only." not in html


def test_what_is_sent_is_refused(client, opener, done):
    check = done.of_check
    CaptureJob.objects.update(status=Status.FAILED)

    for path in (opened(check), f"{opened(check)}answers/1/chatgpt/1/"):
        for method in (client.post, client.put, client.delete, client.patch):
            assert method(path).status_code == 405
    for name in ("ask-again", "cancel", "repeat", "schedule", "delete"):
        assert client.post(f"/checks/{check.uuid}/{name}/", {"confirmed": "yes"}).status_code == 404
        assert client.post(f"{opened(check)}{name}/", {"confirmed": "yes"}).status_code != 200
    assert fresh(done).status == Status.FAILED
    assert Check.objects.count() == 1


def test_each_opening_is_logged_with_who_and_what(client, opener, done):
    get(client, opened(done.of_check))
    get(client, f"{opened(done.of_check)}answers/1/chatgpt/1/")
    client.head(opened(done.of_check))

    assert messages() == ["Opened, to read", "Opened, to read: question 1, chatgpt, sample 1"]
    entry = LogEntry.objects.first()
    assert entry
    assert (entry.user, entry.object_id) == (opener, str(done.of_check_id))


def test_whoever_may_not_open_checks_is_refused_and_sees_no_link(client, done):
    client.force_login(staff(*LOOK))

    assert client.get(opened(done.of_check)).status_code == 403
    assert client.get(f"{opened(done.of_check)}answers/1/chatgpt/1/").status_code == 403
    assert "/open/" not in get(client, f"/admin/capture/check/{done.of_check_id}/change/")
    assert messages() == []


def test_whoever_may_has_a_link(client, opener, done):
    assert f'href="{opened(done.of_check)}"' in get(client, f"/admin/capture/check/{done.of_check_id}/change/")


class TestWhoOpensATeamsAddress:
    """The page of what is not found says to staff where a check can be opened, and to nobody whether there is one."""

    MISSING = "00000000-0000-4000-8000-000000000000"

    def page(self, client, path: str) -> str:
        response = client.get(path)
        assert response.status_code == 404
        return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", response.content.decode())

    @pytest.mark.parametrize("rest", ["", "answers/1/chatgpt/1/", "answers.csv", "delete/"])
    def test_staff_who_may_open_checks_are_led_there(self, client, opener, done, rest):
        html = self.page(client, f"/checks/{done.of_check.uuid}/{rest}")

        assert f'href="{opened(done.of_check)}"' in html
        assert "Read only." in get(client, opened(done.of_check))

    def test_of_a_brand_to_the_admin(self, client, opener, done):
        assert "As staff you can open" in self.page(client, f"/brands/{done.of_check.brand.uuid}/")

    def test_what_is_not_there_reads_the_same(self, client, opener, done):
        uuid = str(done.of_check.uuid)

        there, missing = (self.page(client, f"/checks/{each}/") for each in (uuid, self.MISSING))

        assert there.replace(uuid, self.MISSING) == missing

    @pytest.mark.parametrize("who", ["a member", "staff who may only look", "one who was staff"])
    def test_others_read_what_they_read_at_any_wrong_address(self, client, done, who):
        somebody = staff(*(LOOK if who == "staff who may only look" else ("open_checks",)))
        if who != "staff who may only look":
            User.objects.filter(pk=somebody.pk).update(is_staff=False)
        if who == "a member":
            somebody.user_permissions.clear()
        client.force_login(User.objects.get(pk=somebody.pk))

        for path in (f"/checks/{done.of_check.uuid}/", f"/brands/{done.of_check.brand.uuid}/"):
            assert self.page(client, path) == self.page(client, "/nothing/here/")

    def test_elsewhere_nothing_is_said_of_it(self, client, opener):
        for path in ("/nothing/here/", "/admin/nothing/"):
            assert "As staff" not in self.page(client, path)


def test_members_are_sent_to_log_in(client, done):
    client.force_login(make_team().memberships.get().user)

    response = client.get(opened(done.of_check))

    assert response.status_code == 302
    assert response.url.startswith("/admin/login/")


def test_what_is_not_there_is_not_found(client, opener, done):
    missing = opened(done.of_check).replace(str(done.of_check.uuid), "00000000-0000-4000-8000-000000000000")

    assert client.get(missing).status_code == 404
    assert client.get(f"{opened(done.of_check)}answers/9/chatgpt/1/").status_code == 404
    assert client.get(f"{opened(done.of_check)}answers/1/nothing/1/").status_code == 404


def test_times_are_those_of_the_team(client, opener, done):
    done.team.time_zone = "Asia/Tokyo"
    done.team.save()

    assert " JST" in get(client, opened(done.of_check))
