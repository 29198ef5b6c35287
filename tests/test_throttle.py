"""A team may start so many checks a minute; one too many is refused, and nothing that was typed is lost."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from capture import queue, systems
from capture.budgets import OverBudgetError
from capture.models import Brand, CaptureJob, Check, Schedule, Team
from capture.models.clock import database_now
from capture.throttle import TooManyChecksError
from tests.factories import make_order, make_user
from tests.test_new_check import typed
from tests.test_races import elsewhere, held_open
from tests.views.conftest import ada, browser, path_of, said

__all__ = ["ada", "browser", "elsewhere"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]

MOST = 2


@pytest.fixture(autouse=True)
def _two_a_minute(settings):
    settings.CAPTURE_CHECKS_A_MINUTE = MOST


def ask(user, **fields) -> Check:
    order = make_order(**fields)
    check, _ = queue.enqueue(order, Team.objects.of(user), user, systems.estimates(), most_a_minute=MOST)
    return check


def grow_older(user, *ages: float) -> None:
    """Let what the team has started be so many seconds old."""
    team = Team.objects.of(user)
    assert len(team.starts) == len(ages)
    team.starts = [database_now() - timedelta(seconds=age) for age in ages]
    team.save()


class TestOneTooMany:
    @pytest.fixture
    def busy(self, ada):
        """Somebody whose team has started as many as it may."""
        for _ in range(MOST):
            ask(ada)
        return ada

    def test_is_refused_and_nothing_of_it_is_written(self, busy):
        with pytest.raises(TooManyChecksError, match=r"^Your team may start 2 checks a minute\. There is room .* in"):
            ask(busy, brand="Fabrikam")

        assert Check.objects.count() == MOST
        assert not Brand.objects.filter(name="Fabrikam").exists()

    def test_says_when_there_is_room_again(self, busy):
        grow_older(busy, 49.5, 0)

        with pytest.raises(TooManyChecksError, match="in 11 seconds"):
            ask(busy)

    def test_is_taken_once_the_first_is_a_minute_old(self, busy):
        grow_older(busy, 60, 0)

        assert ask(busy)
        assert len(Team.objects.of(busy).starts) == MOST

    @pytest.mark.parametrize("left", [0, 1])
    def test_is_refused_whatever_was_deleted_meanwhile(self, busy, left):
        queue.cancel(CaptureJob.objects.all())
        for check in Check.objects.order_by("pk")[left:]:
            queue.delete_check(check)

        with pytest.raises(TooManyChecksError):
            ask(busy)

        assert Check.objects.count() == left

    def test_that_was_refused_does_not_count_itself(self, busy):
        for _ in range(3):
            with pytest.raises(TooManyChecksError):
                ask(busy)
        grow_older(busy, 60, 60)

        assert ask(busy)

    def test_does_not_count_what_the_budget_refused(self, ada, only_chatgpt):
        Team.objects.of(ada)
        Team.objects.update(monthly_budget=0)
        for _ in range(MOST + 1):
            with pytest.raises(OverBudgetError):
                ask(ada)

        assert Team.objects.of(ada).starts == []

    def test_is_told_beside_the_form_which_stays_as_it_was_typed(self, browser, busy):
        response = browser.post("/checks/new/", typed(prompts="Is this kept?", providers=["chatgpt"]))

        html = response.content.decode()
        assert 'role="alert">Nothing was asked yet. Your team may start 2 checks a minute.' in html
        assert "Is this kept?" in html
        assert Check.objects.count() == MOST

    def test_is_told_where_all_is_to_be_asked_again(self, browser, busy):
        check = Check.objects.earliest("pk")

        response = browser.post(path_of(check, "repeat"), {"confirmed": "yes", "nonce": "x"}, follow=True)

        assert "Your team may start 2 checks a minute." in said(response)
        assert Check.objects.count() == MOST

    def test_is_told_in_the_terminal(self, busy):
        with pytest.raises(CommandError, match="Your team may start 2 checks a minute") as refused:
            call_command("startcheck", "--user=ada", "--brand=A", "--prompt=Why?", "--provider=chatgpt", "--json")

        assert refused.value.returncode == 2

    def test_of_the_same_form_is_none(self, busy):
        order = make_order()
        grow_older(busy, 60, 0)
        queue.enqueue(order, Team.objects.of(busy), busy, systems.estimates(), most_a_minute=MOST)

        again = queue.enqueue(order, Team.objects.of(busy), busy, systems.estimates(), most_a_minute=MOST)

        assert again == (Check.objects.get(submit_token=order.submit_token), False)

    def test_of_another_team_is_none(self, busy):
        assert ask(make_user("bob"))


def test_what_is_repeated_by_itself_neither_counts_nor_waits(ada):
    first = ask(ada)
    queue.cancel(CaptureJob.objects.all())
    schedule = Schedule.objects.create(team=first.team, template=first, every="daily", next_due=database_now())
    Check.objects.update(schedule=schedule)
    for days in range(3):
        due = database_now() + timedelta(days=days)
        queue.enqueue(make_order(), first.team, ada, systems.estimates(), repeats=first, due=due)

    assert ask(ada)
    assert Check.objects.count() == 5


@pytest.mark.django_db(transaction=True)
def test_two_at_once_do_not_both_squeeze_in(elsewhere, ada):
    ask(ada)

    with held_open(elsewhere, lambda: ask(ada)):
        second = elsewhere(lambda: ask(ada))

    assert isinstance(second.exception(30), TooManyChecksError)
    assert Check.objects.count() == MOST
