"""Every address of a check is its team's alone; a new one is looked at here by itself."""

from __future__ import annotations

import pytest
from django.urls import reverse

from capture import queue
from capture.models import Check
from capture.urls import urlpatterns
from tests.factories import complete_one, make_job, make_user

ARGUMENTS = {"position": 1, "provider": "chatgpt", "sample": 1}
OF_A_CHECK = [pattern for pattern in urlpatterns if "uuid" in pattern.pattern.converters]


def path_of(pattern, check) -> str:
    wanted = {name: ARGUMENTS.get(name, check.uuid) for name in pattern.pattern.converters}
    return reverse(f"capture:{pattern.name}", kwargs=wanted)


@pytest.fixture
def check(simulated, db):
    """Somebody's check, that is over and answered."""
    job = make_job(user=make_user("ada"))
    complete_one(job)
    return job.of_check


@pytest.mark.parametrize("pattern", OF_A_CHECK, ids=lambda pattern: pattern.name)
class TestEveryAddressOfACheck:
    def test_is_not_there_for_another_team(self, client, check, pattern):
        client.force_login(make_user())

        for method in (client.get, client.head, client.post):
            assert method(path_of(pattern, check)).status_code in {404, 405}
        assert {client.get(path_of(pattern, check)).status_code, client.post(path_of(pattern, check)).status_code} & {
            404
        }
        assert Check.objects.count() == 1

    def test_is_not_there_for_a_stranger(self, client, check, pattern):
        for method in (client.get, client.post):
            response = method(path_of(pattern, check))
            assert response.status_code in {302, 401, 405}
            assert response.status_code != 302 or response.url.startswith("/login/")
        assert Check.objects.count() == 1

    def test_is_there_for_its_own_team(self, client, check, pattern):
        client.force_login(check.created_by)

        answers = {client.get(path_of(pattern, check)).status_code}
        answers.add(client.post(path_of(pattern, check)).status_code)

        assert answers & {200, 302}
        assert 404 not in answers


def test_nothing_that_is_asked_for_by_another_team_is_done(client, check):
    queue.requeue(check.jobs.all())
    client.force_login(make_user())

    for pattern in OF_A_CHECK:
        client.post(path_of(pattern, check))

    assert Check.objects.count() == 1
    assert list(check.jobs.values_list("status", flat=True)) == ["done"]
