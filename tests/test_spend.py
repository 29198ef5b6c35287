"""What was spent, read from charges: on a check, today, by team, AI system and day."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from itertools import count

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from capture import ledger, queue, reports
from capture.models import Attempt, AttemptOutcome, Charge
from capture.models.clock import database_today
from capture.reports import Spend, spend
from tests.factories import (
    ESTIMATES,
    FOR_MONEY,
    answer,
    claim_one,
    complete_one,
    error,
    make_check,
    make_job,
    make_team,
    stranger,
    unknown_error,
)

pytestmark = pytest.mark.django_db

ESTIMATE = ESTIMATES["chatgpt"]
PRICE = Decimal("0.013")  # of what tests answer
NOTHING = Spend(Decimal(0), Decimal(0), Decimal(0))

_cents = count(1)


def charge(amount: str = "1", **fields) -> Charge:
    usual = {
        "attempt": stranger(),
        "check_uuid": stranger(),
        "day": database_today(),
        "provider": "chatgpt",
        "amount": Decimal(amount),
        "basis": "reported",
        "simulated": False,
    }
    return Charge.objects.create(**usual | fields)


def amounts(lines) -> dict[str, Decimal]:
    return {line.label: line.spend.amount for line in lines}


def check_with_an_unknown_outcome():
    job = make_job()
    queue.ask_again(claim_one(job, FOR_MONEY), unknown_error(), 0)
    queue.promote_due()
    queue.complete(claim_one(job, FOR_MONEY), answer())
    return job.of_check


class TestOnACheck:
    def test_a_check_that_was_not_asked_yet_has_cost_nothing(self):
        assert reports.spent_on(make_check()) == NOTHING

    def test_every_attempt_counts_and_it_says_how_much_is_an_estimate(self):
        assert reports.spent_on(check_with_an_unknown_outcome()) == Spend(PRICE + ESTIMATE, ESTIMATE, Decimal(0))

    @pytest.mark.parametrize(("charged", "amount", "estimated"), [(True, "0.033", "0.02"), (False, "0.013", "0")])
    def test_settling_changes_it(self, charged, amount, estimated):
        check = check_with_an_unknown_outcome()

        ledger.settle(Attempt.objects.get(outcome=AttemptOutcome.UNKNOWN), charged=charged)

        assert reports.spent_on(check) == Spend(Decimal(amount), Decimal(estimated), Decimal(0))

    def test_what_the_simulator_would_have_cost_stands_apart(self):
        job = make_job()
        complete_one(job)

        assert reports.spent_on(job.of_check) == Spend(Decimal(0), Decimal(0), PRICE)

    def test_other_checks_money_is_theirs(self):
        check_with_an_unknown_outcome()

        assert reports.spent_on(make_check()) == NOTHING

    def test_it_outlives_the_jobs(self):
        check = check_with_an_unknown_outcome()
        before = reports.spent_on(check)

        check.jobs.all().delete()

        assert not Attempt.objects.exists()
        assert reports.spent_on(check) == before

    def test_no_sum_changes_when_a_check_is_deleted(self):
        check = check_with_an_unknown_outcome()
        charges = Charge.objects.of_check(check.uuid)
        before = [reports.spent_today(), spend.spent(charges), spend.summary(Charge.objects.all())]

        check.delete()

        assert spend.spent(charges).amount == PRICE + ESTIMATE
        assert [reports.spent_today(), spend.spent(charges), spend.summary(Charge.objects.all())] == before


class TestToday:
    def test_it_is_this_day_of_all_teams(self):
        charge("1", team=make_team())
        charge("2", team=make_team(), basis="estimated")
        charge("4", simulated=True)
        charge("8", day=database_today() - timedelta(days=1))

        assert reports.spent_today() == Spend(Decimal(3), Decimal(2), Decimal(4))

    def test_without_any_charge_it_is_nothing(self):
        assert reports.spent_today() == NOTHING


class TestBy:
    def test_teams_are_told_apart_even_by_the_same_name(self):
        first, second = make_team(), make_team()
        type(second).objects.filter(pk=second.pk).update(name=first.name)
        charge("1", team=first)
        charge("2", team=second)
        charge("4", team=second)

        lines = spend.by_team(Charge.objects.all())

        assert [(line.label, line.spend.amount) for line in lines] == [
            (first.name, Decimal(6)),
            (first.name, Decimal(1)),
        ]

    def test_the_money_of_a_deleted_team_stays_in_the_sum(self):
        team = make_team()
        charge("3", team=team)

        team.delete()

        assert amounts(spend.by_team(Charge.objects.all())) == {"(no team)": Decimal(3)}

    def test_systems_have_the_names_that_people_see(self):
        charge("1", provider="chatgpt")
        charge("2", provider="google_ai")
        charge("4", provider="taken_out")

        lines = spend.by_provider(Charge.objects.all())

        assert list(amounts(lines).items()) == [
            ("taken_out", Decimal(4)),
            ("Google AI", Decimal(2)),
            ("ChatGPT", Decimal(1)),
        ]

    def test_days_come_newest_first(self):
        charge("1", day=date(2024, 2, 28))
        charge("2", day=date(2024, 2, 29))
        charge("4", day=date(2024, 2, 29), simulated=True)

        lines = spend.by_day(Charge.objects.all())

        assert [(line.label, line.spend) for line in lines] == [
            ("2024-02-29", Spend(Decimal(2), Decimal(0), Decimal(4))),
            ("2024-02-28", Spend(Decimal(1), Decimal(0), Decimal(0))),
        ]

    def test_every_way_of_adding_comes_to_the_same(self):
        for number in range(40):
            charge(
                f"0.{next(_cents):06}",
                provider=("chatgpt", "gemini", "copilot")[number % 3],
                day=date(2024, 1, 1 + number % 7),
                basis=("reported", "estimated")[number % 2],
                simulated=number % 5 == 0,
            )

        found = spend.summary(Charge.objects.all())

        assert found.total.amount > found.total.estimated > 0
        for lines in (found.by_team, found.by_provider, found.by_day):
            assert sum(line.spend.amount for line in lines) == found.total.amount
            assert sum(line.spend.estimated for line in lines) == found.total.estimated
            assert sum(line.spend.simulated for line in lines) == found.total.simulated

    def test_a_month_is_from_its_first_day_to_its_last(self):
        for day in (date(2023, 12, 31), date(2024, 1, 1), date(2024, 1, 31), date(2024, 2, 1)):
            charge(day=day)

        found = Charge.objects.in_month(date(2024, 1, 15)).values_list("day", flat=True)

        assert sorted(found) == [date(2024, 1, 1), date(2024, 1, 31)]

    def test_free_errors_make_no_sum(self):
        queue.fail(claim_one(make_job(), FOR_MONEY), error())

        assert Charge.objects.count() == 1
        assert reports.spent_today() == NOTHING


@pytest.mark.slow
def test_sums_of_a_month_come_from_an_index_with_many_charges():
    _many_charges()
    some = Charge.objects.order_by("pk")[27_000]
    month = Charge.objects.in_month(some.day)

    with CaptureQueriesContext(connection) as asked:
        spend.summary(month)
        spend.summary(month.filter(provider="gemini", simulated=False))
        spend.summary(month.filter(team=some.team_id))
        spend.spent(Charge.objects.of_check(some.check_uuid))
        reports.spent_today()
        list(month.order_by("-day", "-pk")[:50])

    plans = [_plan(query["sql"]) for query in asked if "capture_charge" in query["sql"]]
    assert len(plans) == 4 + 4 + 4 + 1 + 1 + 1
    assert [plan for plan in plans if "Seq Scan on capture_charge" in plan] == []
    assert [plan for plan in plans if "charge_by_" not in plan] == []


def _many_charges() -> None:
    """A hundred thousand, of two years, 20 teams and five systems."""
    teams = [make_team().pk for _ in range(20)]
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO capture_charge (attempt, team_id, day, provider, amount, basis, check_uuid, simulated)
            SELECT gen_random_uuid(), (%s::bigint[])[1 + n %% 20], current_date - (n / 137)::int,
                ('{chatgpt,perplexity,copilot,gemini,google_ai}'::text[])[1 + n %% 5], 0.02,
                ('{reported,estimated}'::text[])[1 + n %% 2], gen_random_uuid(), n %% 7 = 0
            FROM generate_series(1, 100000) n
            """,
            [teams],
        )
        cursor.execute("ANALYZE capture_charge")


def _plan(sql: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {sql}")
        return "\n".join(line for (line,) in cursor.fetchall())
