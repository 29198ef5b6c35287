"""Schedules in the admin: they can be read, and nobody writes them there."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from capture import schedules
from capture.models import Schedule
from tests.factories import make_check

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]

LIST = "/admin/capture/schedule/"


@pytest.fixture
def schedule() -> Schedule:
    planned = schedules.plan(make_check(), Schedule.Every.WEEKLY, 23)
    assert planned
    Schedule.objects.filter(pk=planned.pk).update(paused_because="The brand is archived.")
    return planned


def get(client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200
    html: str = response.content.decode()
    return html


def test_the_list_says_when_each_is_due_and_why_one_is_paused(admin_client, schedule):
    html = get(admin_client, LIST)

    assert "Northwind" in html
    assert "The brand is archived." in html
    assert 'class="field-hour">23' in html
    assert f'<a href="/admin/capture/check/{schedule.template_id}/change/">' in html


def test_those_that_are_paused_can_be_picked_out(admin_client, schedule):
    schedules.plan(make_check(brand="Tailspin"), Schedule.Every.DAILY, 6)

    assert "Tailspin" in get(admin_client, LIST)
    assert "Tailspin" not in get(admin_client, f"{LIST}?paused_because__isempty=0")
    assert "Tailspin" not in get(admin_client, f"{LIST}?q=northwind")


def test_the_checks_of_one_are_a_click_away(admin_client, schedule):
    assert "1 check" in get(admin_client, f"/admin/capture/check/?schedule__id__exact={schedule.pk}")
    assert f"?schedule__id__exact={schedule.pk}" in get(admin_client, f"{LIST}{schedule.pk}/change/")


def test_nobody_writes_there(admin_client, schedule):
    page = f"{LIST}{schedule.pk}/"

    assert 'name="_save"' not in get(admin_client, f"{page}change/")
    assert admin_client.post(f"{page}change/", {"every": "off"}).status_code == 403
    assert admin_client.post(f"{page}delete/", {"post": "yes"}).status_code == 403
    assert admin_client.get(reverse("admin:capture_schedule_add")).status_code == 403
    assert Schedule.objects.get().every == Schedule.Every.WEEKLY


def test_the_list_asks_as_often_for_many_as_for_one(admin_client, schedule):
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            get(admin_client, LIST)
        return len(captured)

    queries()  # the first time some things are looked up that are kept
    few = queries()
    for number in range(3):
        schedules.plan(make_check(brand=f"B{number}"), Schedule.Every.DAILY, 6)

    assert queries() == few
