"""Checks that are repeated: planned by people, made by whichever worker finds them due."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction
from django.utils import timezone

from capture import queue, reports, schedules
from capture.models import Brand, Check, Membership, Schedule, Team
from capture.models.clock import database_now
from tests.factories import make_check, make_user
from tests.process.running import until
from tests.test_races import elsewhere, held_open, waiting_sessions

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]

__all__ = ["elsewhere"]

DAY = timedelta(days=1)
MOMENT = timedelta(seconds=1)


@pytest.fixture
def ada():
    return make_user("ada")


def planned(check: Check, every: str = "daily", hour: int = 6) -> Schedule:
    schedule = schedules.plan(check, every, hour)
    assert schedule
    return schedule


def due_of(schedule: Schedule) -> datetime:
    """When it was due next, as this row was read."""
    assert schedule.next_due
    return schedule.next_due


def due_at(schedule: Schedule, time: datetime) -> datetime:
    Schedule.objects.filter(pk=schedule.pk).update(next_due=time)
    return time


def repetitions(schedule: Schedule) -> list[Check]:
    return list(schedule.checks.filter(due__isnull=False).order_by("due"))


def as_asked(check: Check):
    return (
        check.names,
        check.brand_id,
        check.providers,
        check.samples,
        check.country,
        list(check.prompts.order_by("position").values_list("text", "key", "branded")),
    )


class TestPlan:
    def test_the_first_is_due_at_the_next_such_hour_of_the_teams_day(self, ada):
        check = make_check(ada)
        Team.objects.update(time_zone="Asia/Kolkata")

        schedule = planned(Check.objects.get(), hour=7)

        due = due_of(schedule).astimezone(schedule.team.zone)
        assert (due.hour, due.minute) == (7, 0)
        assert timedelta() < due_of(schedule) - database_now() <= DAY
        assert Check.objects.get(pk=check.pk).schedule == schedule

    def test_weekly_is_on_the_day_on_which_it_was_asked(self, ada):
        Check.objects.filter(pk=make_check(ada).pk).update(created_at=datetime(2026, 1, 7, 23, 30, tzinfo=UTC))
        Team.objects.update(time_zone="Europe/Berlin")  # there it is Thursday by then

        schedule = planned(Check.objects.get(), "weekly")

        assert due_of(schedule).astimezone(schedule.team.zone).weekday() == 3

    def test_a_check_has_one_schedule_which_all_its_repetitions_share(self, ada):
        schedule = planned(make_check(ada))
        schedules.ask_due(due_at(schedule, database_now()))
        (repetition,) = repetitions(schedule)

        changed = planned(repetition, "weekly", 9)

        assert changed == Schedule.objects.get()
        assert (changed.every, changed.hour, changed.template_id) == ("weekly", 9, schedule.template_id)

    def test_saved_again_unchanged_it_keeps_what_is_due(self, ada):
        schedule = planned(make_check(ada))
        due = due_at(schedule, database_now() - MOMENT)

        planned(Check.objects.get())

        assert due_of(Schedule.objects.get()) == due

    def test_off_it_is_due_no_more_and_goes_on_as_the_same(self, ada):
        schedule = planned(make_check(ada))

        assert planned(Check.objects.get(), "off").next_due is None
        assert schedules.ask_due(due_of(schedule)) == 0
        assert planned(Check.objects.get(), "daily") == schedule

    def test_what_was_never_on_is_not_written(self, ada):
        assert schedules.plan(make_check(ada), "off", 8) is None
        assert not Schedule.objects.exists()

    def test_the_database_holds_that_it_is_due_unless_it_is_off(self, ada):
        schedule = planned(make_check(ada))

        for wrong in ({"next_due": None}, {"every": "off"}):
            with pytest.raises(IntegrityError), transaction.atomic():
                Schedule.objects.filter(pk=schedule.pk).update(**wrong)

    def test_it_follows_the_time_zone_of_its_team(self, ada):
        schedule = planned(make_check(ada))
        Team.objects.update(time_zone="Asia/Tokyo")

        schedules.move_to_zone(Team.objects.get())

        assert due_of(Schedule.objects.get(pk=schedule.pk)).astimezone(UTC).hour == 21


class TestAskDue:
    def test_before_its_time_nothing_is_asked(self, ada):
        schedule = planned(make_check(ada))

        assert schedules.ask_due(due_of(schedule) - MOMENT) == 0
        assert Check.objects.count() == 1

    def test_at_its_time_a_check_is_asked_as_the_first_was(self, ada):
        first = make_check(ada, prompts=("One?", "Is Northwind two?"), providers=("chatgpt", "gemini"), samples=2)
        schedule = planned(first)

        assert schedules.ask_due(due_of(schedule)) == 1

        (new,) = repetitions(schedule)
        assert as_asked(new) == as_asked(first)
        assert new.due == due_of(schedule)
        assert new.created_by == ada
        assert new.jobs.pending().count() == first.jobs.count()

    def test_it_looks_for_the_names_that_the_first_looked_for(self, ada):
        first = make_check(ada)
        schedule = planned(first)
        Brand.objects.update(name="Southwind", aliases=["SW"])

        schedules.ask_due(due_of(schedule))

        assert as_asked(repetitions(schedule)[0]) == as_asked(first)
        assert Brand.objects.count() == 1

    def test_asked_for_again_there_is_no_second_one(self, ada):
        schedule = planned(make_check(ada))

        assert [schedules.ask_due(due_of(schedule)) for _ in range(3)] == [1, 0, 0]
        assert due_of(Schedule.objects.get()) - due_of(schedule) == DAY

    def test_the_database_holds_that_a_due_time_has_one_check(self, ada):
        schedule = planned(make_check(ada))
        schedules.ask_due(due_of(schedule))
        (new,) = repetitions(schedule)
        other = make_check(ada)

        with pytest.raises(IntegrityError):
            Check.objects.filter(pk=other.pk).update(schedule=schedule, due=new.due)

    def test_what_is_a_little_late_is_asked_for_the_time_at_which_it_was_due(self, ada):
        schedule = planned(make_check(ada))

        assert schedules.ask_due(due_of(schedule) + schedules.LATE) == 1
        assert repetitions(schedule)[0].due == due_of(schedule)

    def test_missed_days_are_not_caught_up(self, ada):
        schedule = planned(make_check(ada))
        back = due_of(schedule) + 5 * DAY + timedelta(hours=1)

        assert [schedules.ask_due(back), schedules.ask_due(back)] == [1, 0]
        assert [check.due for check in repetitions(schedule)] == [due_of(schedule) + 5 * DAY]
        assert due_of(Schedule.objects.get()) == due_of(schedule) + 6 * DAY

    def test_a_day_that_is_as_good_as_over_is_missed_too(self, ada):
        schedule = planned(make_check(ada))

        assert schedules.ask_due(due_of(schedule) + timedelta(hours=20)) == 0
        assert due_of(Schedule.objects.get()) == due_of(schedule) + DAY
        assert schedules.ask_due(due_of(schedule) + DAY) == 1

    def test_many_that_are_due_at_once_are_made_in_bounded_turns(self, ada, monkeypatch):
        monkeypatch.setattr(schedules, "MOST_AT_ONCE", 2)
        now = max(due_of(planned(make_check(ada))) for _ in range(5))

        assert [schedules.ask_due(now) for _ in range(4)] == [2, 2, 1, 0]

    def test_a_turn_begins_no_more_when_its_time_is_over(self, ada, monkeypatch):
        monkeypatch.setattr(schedules, "SECONDS_AT_ONCE", 0)
        schedule = planned(make_check(ada))

        assert schedules.ask_due(due_of(schedule)) == 0

    def test_what_is_due_is_found_by_its_index(self, ada):
        planned(make_check(ada))
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")

        assert "schedule_due" in str(Schedule.objects.due(database_now()).explain())


class TestPaused:
    @pytest.fixture
    def schedule(self, ada):
        return planned(make_check(ada))

    def paused(self, schedule: Schedule) -> str:
        """Why it was not asked at its due time; it is not tried again before the next."""
        assert schedules.ask_due(due_of(schedule)) == 0
        assert schedules.ask_due(due_of(schedule) + timedelta(hours=1)) == 0
        found = Schedule.objects.get()
        assert due_of(found) == due_of(schedule) + DAY
        return str(found.paused_because)

    def goes_on(self, schedule: Schedule) -> bool:
        asked = schedules.ask_due(due_of(schedule) + DAY)
        return asked == 1 and Schedule.objects.get().paused_because == ""

    def test_over_the_budget_and_then_with_room(self, only_chatgpt, schedule):
        Team.objects.update(monthly_budget=Decimal("0.001"))

        assert "left" in self.paused(schedule)
        assert Check.objects.count() == 1
        Team.objects.update(monthly_budget=None)
        assert self.goes_on(schedule)

    def test_its_brand_is_archived(self, schedule):
        Brand.objects.update(archived_at=timezone.now())

        assert self.paused(schedule) == "The brand is archived."
        Brand.objects.update(archived_at=None)
        assert self.goes_on(schedule)

    def test_its_team_has_no_members(self, schedule):
        Membership.objects.all().delete()

        assert self.paused(schedule) == "The team has no members."

    def test_it_asks_more_than_is_allowed_by_now(self, schedule, settings):
        settings.CAPTURE_MAX_PROMPT_LENGTH = 5

        assert "at most 5 are allowed" in self.paused(schedule)

    def test_by_an_error_of_our_own_which_ends_no_worker(self, schedule, monkeypatch, caplog):
        monkeypatch.setattr(queue, "enqueue", lambda *args, **named: 1 / 0)

        assert self.paused(schedule) == "An error of AI Control itself has prevented it."
        assert "ZeroDivisionError" in caplog.text

    def test_not_while_the_database_is_away(self, schedule, monkeypatch):
        def fail(*args, **named):
            raise OperationalError("the connection is lost")

        monkeypatch.setattr(queue, "enqueue", fail)

        with pytest.raises(OperationalError):
            schedules.ask_due(due_of(schedule))
        monkeypatch.undo()
        assert schedules.ask_due(due_of(schedule)) == 1

    def test_who_asked_first_may_have_gone(self, ada, schedule):
        Membership.objects.create(team=schedule.team, user=make_user())
        ada.delete()

        assert schedules.ask_due(due_of(schedule)) == 1
        assert repetitions(schedule)[0].created_by is None


class TestSystemsThatCannotBeAskedHere:
    def test_without_any_it_is_paused_once_no_other_machine_has_taken_it(self, ada, settings):
        schedule = planned(make_check(ada))
        settings.SIMULATOR_URL = ""

        assert schedules.ask_due(due_of(schedule) + MOMENT) == 0
        assert due_of(Schedule.objects.get()) == due_of(schedule)
        assert schedules.ask_due(due_of(schedule) + timedelta(minutes=10)) == 0
        assert Schedule.objects.get().paused_because == "None of its AI systems can be asked here now."

    def test_some_are_left_to_a_machine_that_can_ask_all_and_then_left_out(self, ada, only_chatgpt):
        schedule = planned(make_check(ada, providers=("chatgpt", "perplexity")))

        assert schedules.ask_due(due_of(schedule) + MOMENT) == 0
        assert schedules.ask_due(due_of(schedule) + timedelta(minutes=10)) == 1
        (new,) = repetitions(schedule)
        assert new.providers == ["chatgpt"]
        assert reports.series_of(new).left_out == ["Perplexity"]


class TestDeletion:
    def over(self, check: Check) -> Check:
        queue.cancel(check.jobs.all())
        return check

    def test_the_last_repetition_is_repeated_instead_of_a_check_that_is_deleted(self, ada):
        first = self.over(make_check(ada))
        schedule = planned(first)
        for day in range(2):
            schedules.ask_due(due_of(schedule) + day * DAY)

        queue.delete_check(first)

        assert Schedule.objects.get().template == repetitions(schedule)[-1]
        assert schedules.ask_due(due_of(schedule) + 2 * DAY) == 1

    def test_the_only_check_of_a_schedule_takes_it_along(self, ada):
        schedule = planned(self.over(make_check(ada)))

        queue.delete_check(schedule.template)

        assert not Schedule.objects.exists()
        assert schedules.ask_due(due_of(schedule)) == 0

    def test_a_repetition_that_is_deleted_is_not_asked_again(self, ada):
        schedule = planned(make_check(ada))
        schedules.ask_due(due_of(schedule))

        queue.delete_check(self.over(repetitions(schedule)[0]))

        assert schedules.ask_due(due_of(schedule)) == 0
        assert Schedule.objects.get() == schedule


class TestSeries:
    def test_each_run_leads_to_the_one_before_and_the_one_after(self, ada):
        first = make_check(ada)
        schedule = planned(first)
        for day in range(3):
            schedules.ask_due(due_of(schedule) + day * DAY)
        first.refresh_from_db()
        runs = [first, *repetitions(schedule)]
        urls = [reports.check_url(run) for run in runs]

        series = [reports.series_of(run) for run in runs]

        assert [each.earlier and each.earlier.url for each in series] == [None, *urls[:-1]]
        assert [each.later and each.later.url for each in series] == [*urls[1:], None]
        assert [run.url for run in series[0].newest] == urls[::-1]

    def test_a_check_that_is_in_none_costs_no_query(self, ada, django_assert_num_queries):
        check = make_check(ada)

        with django_assert_num_queries(0):
            assert not reports.series_of(check).is_on


@pytest.mark.django_db(transaction=True)
class TestAtOnce:
    def test_a_second_worker_passes_by_while_the_first_is_at_it(self, ada, elsewhere):
        schedule = planned(make_check(ada))

        with held_open(elsewhere, lambda: schedules.ask_due(due_of(schedule))) as first:
            assert schedules.ask_due(due_of(schedule)) == 0

        assert first.result(30) == 1
        assert schedules.ask_due(due_of(schedule)) == 0
        assert len(repetitions(schedule)) == 1

    def test_a_double_click_on_save_makes_one_schedule(self, ada, elsewhere):
        check = make_check(ada)

        with held_open(elsewhere, lambda: schedules.plan(check, "daily", 6)) as first:
            second = elsewhere(lambda: schedules.plan(check, "daily", 6))
            until(waiting_sessions)

        assert first.result(30) == second.result(30) == Schedule.objects.get()

    def test_a_check_is_deleted_while_it_is_repeated(self, ada, elsewhere):
        check = make_check(ada)
        queue.cancel(check.jobs.all())
        schedule = planned(check)

        with held_open(elsewhere, lambda: schedules.ask_due(due_of(schedule))):
            deletion = elsewhere(lambda: queue.delete_check(check))
            until(waiting_sessions)

        deletion.result(30)
        assert Schedule.objects.get().template == Check.objects.get()
