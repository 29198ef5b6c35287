"""Everything that staff do is in Django's log, which nobody edits."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User

from tests.admin.staff import JOBS, choose, get, say_yes, staff
from tests.factories import make_job, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]

LOG = "/admin/admin/logentry/"


@pytest.fixture
def job(admin_client):
    job = make_job()
    say_yes(admin_client, choose(admin_client, "cancel", job))
    return job


def test_it_can_be_read_and_searched_by_job_and_by_user(admin_client, job):
    for query, found in ((f"q={job.pk}", 1), ("q=admin", 2), ("q=nobody", 0), ("q=999999", 0)):
        assert f"{found} log entr" in get(admin_client, f"{LOG}?{query}")
    assert f'<a href="{JOBS}{job.pk}/change/">job {job.pk}</a>' in get(admin_client, LOG)


def test_it_can_be_neither_changed_nor_deleted(admin_client, job):
    entry = LogEntry.objects.first()
    assert entry

    assert admin_client.post(f"{LOG}{entry.pk}/change/", {}).status_code == 403
    assert admin_client.post(f"{LOG}{entry.pk}/delete/", {"post": "yes"}).status_code == 403
    assert admin_client.get(f"{LOG}add/").status_code == 403
    assert get(admin_client, f"{LOG}{entry.pk}/change/")


def test_it_is_shown_to_those_only_who_may_see_it(client, job):
    client.force_login(staff("view_capturejob"))

    assert client.get(LOG).status_code == 403
    assert LOG not in get(client, "/admin/")


def test_whoever_is_in_it_cannot_be_deleted_and_the_log_with_them(admin_client, admin_user, job):
    other = make_user("grace")

    for user in (admin_user, other):
        admin_client.post(f"/admin/auth/user/{user.pk}/delete/", {"post": "yes"})

    assert set(User.objects.filter(pk__in=[admin_user.pk, other.pk])) == {admin_user}
