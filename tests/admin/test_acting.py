"""Staff act on many jobs: what they choose is asked about with its number and price, and then done in parts."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from capture import queue, staff_actions
from capture.admin import staff_actions as pages
from capture.models import Attempt, CaptureJob, Charge, StaffAction, Status
from tests.admin.staff import ATTEMPTS, JOBS, LOOK, choose, get, say_yes, staff
from tests.factories import (
    FOR_MONEY,
    claim_one,
    error,
    fresh,
    make_check,
    make_job,
    make_team,
    make_user,
    prompts,
    unknown_error,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]


def failed() -> CaptureJob:
    job = make_job()
    queue.fail(claim_one(job), error())
    return job


def unknown_job() -> CaptureJob:
    job = make_job()
    queue.fail(claim_one(job, FOR_MONEY), unknown_error())
    return job


class TestAsked:
    def test_the_page_says_how_many_and_for_how_much(self, admin_client, only_chatgpt):
        chosen = [failed() for _ in range(3)]

        html = choose(admin_client, "requeue", *chosen)

        assert "3 jobs," in html
        assert "Asking again costs about <strong>$0.06</strong>" in html
        assert 'value="Yes: ask again (3, about $0.06)"' in html
        assert all(fresh(job).status == Status.FAILED for job in chosen)

    def test_simulated_answers_cost_nothing(self, admin_client):
        assert "Asking again costs nothing: the answers are simulated." in choose(admin_client, "requeue", failed())

    def test_all_that_match_the_filters_can_be_chosen(self, admin_client):
        check = make_check(prompts=prompts(60))
        job = failed_beside(check)

        html = choose(admin_client, "cancel", job, path=f"{JOBS}?state=pending&provider=chatgpt", select_across="1")

        assert "60 jobs," in html
        assert "all that were found on" in html
        place = "the list of jobs (state: pending; provider: chatgpt)"
        assert f'<a href="{JOBS}?state=pending&amp;provider=chatgpt">{place}</a>' in html
        assert 'class="success">Cancel: 60 of 60.' in say_yes(admin_client, html)
        assert check.jobs.filter(status=Status.CANCELLED).count() == 60

    @pytest.mark.parametrize(
        ("action", "alone", "both"),
        [
            ("requeue", "Ask 1 job again", "Ask 2 jobs again"),
            ("cancel", "Cancel 1 job", "Cancel 2 jobs"),
            ("fail", "Fail 1 job by hand", "Fail 2 jobs by hand"),
            ("settle_charged", "Settle 1 attempt as charged", "Settle 2 attempts as charged"),
            ("settle_not_charged", "Settle 1 attempt as not charged", "Settle 2 attempts as not charged"),
        ],
    )
    def test_the_heading_says_what_would_be_done_and_the_link_where_it_was_chosen(
        self, admin_client, action, alone, both
    ):
        jobs = [make_job() if action in {"cancel", "fail"} else unknown_job() for _ in range(2)]

        pages = choose(admin_client, action, *jobs), press(admin_client, jobs[0], action)

        for page, heading in zip(pages, (both, alone), strict=True):
            assert re.findall(r"<h1>(.*?)</h1>", page) == [heading]
            assert f" | {heading} | " in page.partition("</title>")[0]
        assert f'<a href="{JOBS}">the list of jobs</a>' in pages[0]
        assert f'<a href="{JOBS}{jobs[0].pk}/change/">job {jobs[0].pk}</a>' in pages[1]

    def test_of_an_address_only_what_filters_it_is_kept(self, admin_client):
        job = make_job()
        typed = f"q={job.of_check.uuid}&state=zq&team={job.team_id}&state=pending&e=zq"

        choose(admin_client, "cancel", job, path=f"{JOBS}?{typed}", select_across="1")

        action = StaffAction.objects.get()
        assert action.origin == f"{JOBS}?state=pending&team={job.team_id}"
        staff_actions.confirm(action)
        assert str(job.of_check.uuid) not in LogEntry.objects.get().get_change_message()

    def test_those_with_which_nothing_would_be_done_are_left_out(self, admin_client):
        job, pending = failed(), make_job()

        html = choose(admin_client, "requeue", job, pending)

        assert "1 job," in html
        assert "1 of the 2 that were chosen is left as it is" in html

    def test_where_something_is_done_with_each_none_is_said_to_be_left(self, admin_client):
        assert "that were chosen" not in choose(admin_client, "cancel", make_job(), make_job())

    def test_with_none_of_them_nobody_is_asked(self, admin_client):
        html = choose(admin_client, "requeue", make_job())

        assert "With none of them anything would be done:" in html
        assert not StaffAction.objects.exists()

    def test_what_was_not_confirmed_is_not_done_by_opening_it_again(self, admin_client):
        job = make_job()
        choose(admin_client, "cancel", job)
        action = StaffAction.objects.get()

        html = get(admin_client, f"/admin/capture/staffaction/{action.pk}/change/")

        assert "Nothing has been done yet." in html
        assert fresh(job).status == Status.PENDING

    def test_failing_by_hand_says_what_it_may_cost(self, admin_client):
        assert "counts at its estimate" in choose(admin_client, "fail", make_job())


def failed_beside(check) -> CaptureJob:
    """A job of another system, in which the filters find nothing."""
    job = make_job(providers=("gemini",))
    queue.fail(claim_one(job), error())
    return job


def press(client: Client, job: CaptureJob, kind: str) -> str:
    return client.post(f"{JOBS}{job.pk}/act/", {"kind": kind}, follow=True).content.decode()


class TestSettled:
    @pytest.fixture
    def unknown(self):
        return unknown_job()

    @pytest.mark.parametrize(("action", "amount"), [("settle_charged", "0.02"), ("settle_not_charged", "0")])
    def test_from_the_list_of_jobs(self, admin_client, unknown, action, amount):
        html = choose(admin_client, action, unknown)
        assert "1 attempt whose outcome nobody knows" in html
        assert "They count at $0.02 now." in html

        say_yes(admin_client, html)

        assert Charge.objects.get().amount == Decimal(amount)
        assert "0 jobs" in get(admin_client, f"{JOBS}?unsettled=yes")

    @pytest.mark.parametrize(("action", "amount"), [("settle_charged", "0.02"), ("settle_not_charged", "0")])
    def test_a_call_of_a_job_that_was_failed_by_hand(self, admin_client, action, amount):
        job = make_job()
        queue.wait(claim_one(job, FOR_MONEY), "resp_1", 0)
        queue.fail_by_hand(CaptureJob.objects.filter(pk=job.pk))
        assert f'value="{action}"' in get(admin_client, f"{JOBS}{job.pk}/change/")
        assert "1 job" in get(admin_client, f"{JOBS}?unsettled=yes")

        say_yes(admin_client, choose(admin_client, action, job))

        assert Charge.objects.get().amount == Decimal(amount)
        assert "0 jobs" in get(admin_client, f"{JOBS}?unsettled=yes")

    def test_from_the_list_of_attempts_and_back_to_it(self, admin_client, unknown):
        attempt = Attempt.objects.get()

        html = choose(admin_client, "settle_as_charged", attempt, path=f"{ATTEMPTS}?unsettled=yes")

        assert f'<a href="{ATTEMPTS}?unsettled=yes">the list of attempts (unsettled: yes)</a>' in html
        assert "Settle as charged: 1 of 1." in say_yes(admin_client, html)
        told = LogEntry.objects.get(content_type__model="capturejob")
        assert (told.object_id, told.get_change_message()[:18]) == (str(unknown.pk), "Settled as charged")


class TestCarriedOut:
    @pytest.fixture
    def slow(self, monkeypatch):
        """A request does one batch of two."""
        monkeypatch.setattr(staff_actions, "BATCH", 2)
        monkeypatch.setattr(pages, "SECONDS_AT_ONCE", 0)

    def test_a_page_shows_how_far_it_is_and_goes_on(self, admin_client, slow):
        check = make_check(prompts=prompts(5))
        html = say_yes(admin_client, choose(admin_client, "cancel", *check.jobs.all()))
        assert "2 of 5 gone through, 2 changed." in html

        go_on = address(html, "go-on")
        part = admin_client.post(go_on, headers={"HX-Request": "true"}).content.decode()
        assert "4 of 5 gone through" in part
        assert "<html" not in part
        last = admin_client.post(go_on, follow=True).content.decode()

        assert "5 of 5 gone through, 5 changed." in last
        assert "Done," in last
        assert "go-on" not in last
        assert check.jobs.filter(status=Status.CANCELLED).count() == 5

    def test_what_moved_on_by_itself_is_told(self, admin_client, slow):
        check = make_check(prompts=prompts(3))
        asked = choose(admin_client, "cancel", *check.jobs.all())
        queue.cancel(CaptureJob.objects.filter(pk=check.jobs.order_by("pk")[0].pk))

        html = say_yes(admin_client, asked)

        assert "2 of 3 gone through, 1 changed." in html
        assert "1 had moved on by itself." in html

    def test_saying_yes_twice_does_it_once(self, admin_client):
        asked = choose(admin_client, "cancel", make_job())

        say_yes(admin_client, asked)
        say_yes(admin_client, asked)

        assert LogEntry.objects.filter(content_type__model="capturejob").count() == 1

    def test_one_that_is_broken_off_says_so(self, admin_client, monkeypatch):
        asked = choose(admin_client, "cancel", make_job())
        monkeypatch.setitem(staff_actions.MOVES, "cancel", lambda batch: 1 // 0)

        html = say_yes(admin_client, asked)

        assert "an error of AI Control itself (ZeroDivisionError)" in html

    def test_the_list_tells_all_of_them(self, admin_client):
        say_yes(admin_client, choose(admin_client, "cancel", make_job()))
        choose(admin_client, "cancel", make_job())

        html = get(admin_client, "/admin/capture/staffaction/")

        assert re.findall(r'class="field-state">([\w ]+)<', html) == ["not confirmed", "done"]

    def test_its_targets_are_not_read_for_the_list(self, admin_client, django_assert_max_num_queries):
        choose(admin_client, "cancel", make_job())

        with django_assert_max_num_queries(12) as captured:
            get(admin_client, "/admin/capture/staffaction/")

        assert not [query for query in captured if '"targets"' in query["sql"]]


def address(html: str, what: str) -> str:
    found = re.search(rf'action="(/admin/capture/staffaction/\d+/{what}/)"', html)
    assert found
    return found[1]


class TestWho:
    ACTIONS = ("requeue", "cancel", "fail", "settle_charged", "settle_not_charged")

    @pytest.mark.parametrize("action", ACTIONS)
    def test_looking_is_not_acting(self, client, action):
        job = make_job()
        client.force_login(staff(*LOOK, "change_capturejob", "change_attempt", "delete_capturejob"))

        html = get(client, JOBS)
        refused = client.post(JOBS, {"action": action, "_selected_action": [job.pk]})

        assert f'value="{action}"' not in html
        assert refused.status_code == 403
        assert fresh(job).status == Status.PENDING

    def test_nor_on_attempts(self, client):
        client.force_login(staff(*LOOK))

        refused = client.post(ATTEMPTS, {"action": "settle_as_charged", "_selected_action": ["x"]})

        assert refused.status_code == 403

    def test_acting_is_enough_to_say_yes(self, client):
        job = make_job()
        client.force_login(staff("view_capturejob", "act_on_jobs"))

        say_yes(client, choose(client, "cancel", job))

        assert fresh(job).status == Status.CANCELLED

    def test_nobody_acts_on_what_they_may_not_see(self, client, admin_client):
        job = make_job()
        choose(admin_client, "cancel", job)
        action = f"/admin/capture/staffaction/{StaffAction.objects.get().pk}"
        client.force_login(staff("act_on_jobs", "view_attempt"))

        sent: dict[str, dict[str, object]] = {
            f"{JOBS}{job.pk}/act/": {"kind": "cancel"},
            f"{action}/confirm/": {},
            f"{action}/go-on/": {},
        }
        for path in (JOBS, ATTEMPTS):
            sent[path] = {"action": "settle_as_charged", "_selected_action": [job.pk]}
        answers = {path: client.post(path, what).status_code for path, what in sent.items()}

        assert answers == dict.fromkeys(sent, 403)
        assert client.get(f"{action}/change/").status_code == 403
        assert StaffAction.objects.count() == 1
        assert fresh(job).status == Status.PENDING

    def test_nobody_says_yes_to_what_another_has_proposed(self, client, admin_client):
        job = make_job()
        asked = choose(admin_client, "cancel", job)
        client.force_login(staff("view_capturejob", "act_on_jobs"))
        action = StaffAction.objects.get()

        assert "/confirm/" not in get(client, f"/admin/capture/staffaction/{action.pk}/change/")
        assert client.post(address(asked, "confirm")).status_code == 403
        assert fresh(job).status == Status.PENDING

    @pytest.mark.parametrize("name", ["confirm", "go-on"])
    def test_who_may_only_look_is_refused(self, client, admin_client, name):
        choose(admin_client, "cancel", make_job())
        action = StaffAction.objects.get()
        client.force_login(staff(*LOOK, "view_staffaction"))

        assert client.post(f"/admin/capture/staffaction/{action.pk}/{name}/").status_code == 403
        assert client.get(f"/admin/capture/staffaction/{action.pk}/{name}/").status_code == 405
        assert "/confirm/" not in get(client, f"/admin/capture/staffaction/{action.pk}/change/")

    def test_members_are_sent_to_log_in(self, client, admin_client):
        choose(admin_client, "cancel", make_job())
        action = StaffAction.objects.get()
        member = make_user()
        make_team(member)
        client.force_login(member)

        response = client.post(f"/admin/capture/staffaction/{action.pk}/confirm/")

        assert response.status_code == 302
        assert response.url.startswith("/admin/login/")
        assert StaffAction.objects.get().confirmed_at is None

    def test_nobody_edits_or_deletes_what_was_decided(self, admin_client):
        choose(admin_client, "cancel", make_job())
        path = f"/admin/capture/staffaction/{StaffAction.objects.get().pk}"

        assert admin_client.post(f"{path}/change/", {}).status_code == 403
        assert admin_client.post(f"{path}/delete/", {"post": "yes"}).status_code == 403
        assert admin_client.get("/admin/capture/staffaction/add/").status_code == 403

    def test_an_action_that_there_is_not_is_refused(self, admin_client):
        job = make_job()

        assert admin_client.post(JOBS, {"action": "delete_selected", "_selected_action": [job.pk]}).status_code == 403
        assert CaptureJob.objects.exists()
