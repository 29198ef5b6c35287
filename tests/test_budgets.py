"""What a team may spend in a month: what counts, what fits, and what is refused."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest
from django.db import connection, transaction
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext

from capture import budgets, ledger, queue, systems
from capture.budgets import OverBudgetError, Room
from capture.models import (
    Attempt,
    AttemptOutcome,
    Brand,
    CaptureJob,
    Charge,
    Check,
    Competitor,
    Prompt,
    Status,
    Team,
)
from capture.models.clock import database_today
from tests.factories import (
    ESTIMATES,
    FOR_MONEY,
    answer,
    claim_one,
    error,
    fresh,
    make_check,
    make_job,
    make_order,
    make_team,
    make_user,
    stranger,
    unknown_error,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("only_chatgpt")]

ESTIMATE = ESTIMATES["chatgpt"]
ZERO = Decimal(0)
PRICE = Decimal("0.013")  # of what tests answer


@pytest.fixture
def free(only_chatgpt, settings):
    """Every system is simulated."""
    settings.CAPTURE_PROVIDER_KEYS, settings.SIMULATOR_URL = {}, "http://127.0.0.1:9"


@pytest.fixture
def ada():
    return make_user("ada")


@pytest.fixture
def team(ada):
    return make_team(ada)


def give(team: Team, budget: str) -> None:
    Team.objects.filter(pk=team.pk).update(monthly_budget=Decimal(budget))


def charge(team: Team, amount: str, day: date | None = None, **fields) -> Charge:
    usual = {"provider": "chatgpt", "basis": "reported", "simulated": False}
    return Charge.objects.create(
        attempt=stranger(),
        team=team,
        day=day or database_today(),
        amount=Decimal(amount),
        check_uuid=stranger(),
        **usual | fields,
    )


def one(job):
    return CaptureJob.objects.filter(pk=job.pk)


def counted(team: Team) -> tuple[Decimal, Decimal]:
    room = budgets.room(team)
    return room.charged, room.expected


def prompts(count: int) -> tuple[str, ...]:
    return tuple(f"Question {number}?" for number in range(count))


class TestRoom:
    def test_a_team_has_the_usual_budget_until_it_has_one_of_its_own(self, team, settings):
        settings.CAPTURE_MONTHLY_BUDGET = Decimal(70)
        usual = budgets.room(team)
        give(team, "0")
        own = budgets.room(team)

        assert usual == Room(Decimal(70), Decimal(0), Decimal(0))
        assert own == Room(Decimal(0), Decimal(0), Decimal(0))

    def test_an_open_job_counts_at_its_estimate_and_then_at_what_it_was_charged(self, team, ada):
        job = make_job(user=ada)
        assert counted(team) == (ZERO, ESTIMATE)
        ticket = claim_one(job, FOR_MONEY)
        assert counted(team) == (ZERO, ESTIMATE)
        queue.wait(ticket, "resp_1", 0)
        assert counted(team) == (ZERO, ESTIMATE)

        queue.complete(claim_one(job), answer())

        assert counted(team) == (PRICE, ZERO)

    def test_an_unknown_outcome_counts_beside_the_call_that_is_still_to_come(self, team, ada):
        job = make_job(user=ada)

        queue.ask_again(claim_one(job, FOR_MONEY), unknown_error(), 0)

        assert counted(team) == (ESTIMATE, ESTIMATE)

    def test_a_failed_job_counts_at_what_it_may_have_been_charged(self, team, ada):
        queue.fail(claim_one(make_job(user=ada), FOR_MONEY), unknown_error())

        assert counted(team) == (ESTIMATE, ZERO)

    def test_a_plain_error_and_a_cancellation_cost_nothing(self, team, ada):
        queue.fail(claim_one(make_job(user=ada), FOR_MONEY), error())
        queue.cancel(one(make_job(user=ada)))

        assert counted(team) == (ZERO, ZERO)

    def test_a_call_taken_up_again_counts_twice_until_it_ends(self, team, ada):
        job = make_job(user=ada)
        late = claim_one(job, FOR_MONEY)
        queue.ask_again(late, unknown_error(), 60)

        queue.wait(late, "resp_1", 0)
        assert fresh(job).status == Status.WAITING
        assert counted(team) == (ESTIMATE, ESTIMATE)

        queue.complete(claim_one(job), answer())
        assert counted(team) == (PRICE, ZERO)

    @pytest.mark.parametrize(("charged", "left"), [(True, "0.98"), (False, "1")])
    def test_settling_an_unknown_outcome_changes_what_is_left(self, team, ada, charged, left):
        give(team, "1")
        queue.fail(claim_one(make_job(user=ada), FOR_MONEY), unknown_error())

        ledger.settle(Attempt.objects.get(outcome=AttemptOutcome.UNKNOWN), charged=charged)

        assert budgets.room(team).left == Decimal(left)

    def test_other_teams_money_counts_for_them(self, team):
        make_check()
        charge(make_team(), "5")

        assert counted(team) == (ZERO, ZERO)

    def test_money_is_decimal_to_the_last_place(self, team):
        for _ in range(10):
            charge(team, "0.100001")

        room = budgets.room(team)

        assert isinstance(room.charged, Decimal)
        assert str(room.charged) == "1.000010"

    def test_more_may_be_spent_than_the_budget_and_then_nothing_is_left(self, team):
        give(team, "1")
        charge(team, "3")

        assert budgets.room(team).left == 0

    def test_a_job_is_in_one_of_the_sums_at_any_moment(self, team, ada):
        """Two statements would miss a job that ends between them."""
        make_check(ada)

        with CaptureQueriesContext(connection) as asked:
            budgets.room(team)

        sums = [query["sql"] for query in asked if "SUM(" in query["sql"]]
        assert len(sums) == 1
        assert "capture_charge" in sums[0]
        assert "capture_capturejob" in sums[0]


class TestMonth:
    def test_a_month_begins_with_its_first_day(self, team, monkeypatch):
        for day in (date(2024, 1, 31), date(2024, 2, 1), date(2024, 2, 29), date(2024, 3, 1)):
            charge(team, str(10**day.month), day)

        spent = {}
        for today in (date(2024, 3, 1), date(2024, 3, 31), date(2024, 4, 1)):
            monkeypatch.setattr(budgets, "database_today", lambda today=today: today)
            spent[today] = budgets.room(team).charged

        assert list(spent.values()) == [1000, 1000, 0]

    def test_its_last_day_counts_as_the_first(self, team, monkeypatch):
        charge(team, "1", date(2024, 2, 1))
        charge(team, "2", date(2024, 2, 29))
        charge(team, "4", date(2024, 1, 31))
        monkeypatch.setattr(budgets, "database_today", lambda: date(2024, 2, 29))

        assert budgets.room(team).charged == 3

    def test_a_new_month_has_its_budget_afresh_but_for_open_jobs(self, team, ada, monkeypatch):
        charge(team, "5")
        make_job(user=ada)
        next_month = (database_today().replace(day=1) + timedelta(days=31)).replace(day=1)
        monkeypatch.setattr(budgets, "database_today", lambda: next_month)

        assert counted(team) == (ZERO, ESTIMATE)

    def test_a_charge_has_the_day_of_the_clock_in_utc(self, team, ada):
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL TIME ZONE 'Pacific/Kiritimati'")  # 14 hours ahead
            cursor.execute("SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date")
            (today,) = cursor.fetchone()

        queue.complete(claim_one(make_job(user=ada), FOR_MONEY), answer())

        assert Charge.objects.get().day == today == database_today()


class TestSimulated:
    def test_what_the_simulator_answers_costs_nothing(self, team, ada, free):
        job = make_job(user=ada)
        assert counted(team) == (ZERO, ZERO)

        queue.complete(claim_one(job), answer())

        assert Charge.objects.get().amount == PRICE
        assert counted(team) == (ZERO, ZERO)

    def test_a_call_that_is_out_goes_by_where_it_is(self, team, ada, settings):
        settings.CAPTURE_PROVIDER_KEYS |= {"PERPLEXITY_API_KEY": "pplx-test"}
        claim_one(make_job(user=ada))
        claim_one(make_job(user=ada, providers=("perplexity",)), FOR_MONEY)
        asked_for_money_here = counted(team)
        settings.CAPTURE_PROVIDER_KEYS, settings.SIMULATOR_URL = {}, "http://127.0.0.1:9"
        simulated_here = counted(team)

        assert asked_for_money_here == simulated_here == (ZERO, ESTIMATE)

    def test_a_job_that_was_not_asked_goes_by_where_it_would_be_asked_now(self, team, ada, free, settings):
        make_job(user=ada)
        before = counted(team)
        settings.CAPTURE_PROVIDER_KEYS = {"OPENAI_API_KEY": "sk-test"}

        assert (before, counted(team)) == ((ZERO, ZERO), (ZERO, ESTIMATE))

    def test_a_system_that_cannot_be_asked_here_is_taken_for_real(self, team, ada):
        assert "perplexity" not in systems.configured()

        make_job(user=ada, providers=("perplexity",))

        assert counted(team) == (ZERO, ESTIMATE)

    def test_a_simulated_check_is_never_refused(self, team, ada, free):
        give(team, "0")
        charge(team, "5")

        make_check(ada, prompts=prompts(100))

        assert CaptureJob.objects.count() == 100


class TestRequire:
    @pytest.mark.parametrize(
        ("budget", "charged", "cost", "sentence"),
        [
            ("50", "48.90", "3.20", "This check would cost about $3.20; $1.10 of this month's $50.00 is left."),
            ("0.05", "0.0451", "0.0049001", "This check would cost about $0.01; $0.00 of this month's $0.05 is left."),
            ("50", "50", "0.001", "This check would cost about $0.01; nothing of this month's $50.00 is left."),
            ("50", "70", "1", "This check would cost about $1.00; nothing of this month's $50.00 is left."),
            ("5e3", "1", "6e3", "This check would cost about $6,000.00; $4,999.00 of this month's $5,000.00 is left."),
        ],
    )
    def test_what_does_not_fit_is_refused_with_the_sum(self, team, budget, charged, cost, sentence):
        give(team, budget)
        charge(team, charged)

        with pytest.raises(OverBudgetError) as refused:
            budgets.require(team, Decimal(cost))

        assert str(refused.value) == sentence

    @pytest.mark.parametrize("cost", ["1.10", "0"])
    def test_what_fits_exactly_fits_and_what_is_free_always_does(self, team, cost):
        give(team, "50")
        charge(team, "48.90")

        budgets.require(team, Decimal(cost))

    def test_it_reads_the_budget_as_it_is_now(self, team):
        known = Team.objects.get(pk=team.pk)
        give(team, "1")

        with pytest.raises(OverBudgetError):
            budgets.require(known, Decimal(2))

    @pytest.mark.django_db(transaction=True)
    def test_it_holds_good_only_within_a_transaction(self, team):
        with pytest.raises(TransactionManagementError):
            budgets.require(team, Decimal(1))

    def test_jobs_that_are_asked_again_need_room_as_new_ones_do(self, team, ada):
        give(team, "0.05")
        for _ in range(2):
            queue.fail(claim_one(make_job(user=ada), FOR_MONEY), error())
        failed = CaptureJob.objects.filter(team=team)
        charge(team, "0.02")

        with pytest.raises(OverBudgetError, match=r"^Asking again would cost about \$0\.04; \$0\.03 of"):
            budgets.require(team, budgets.expected(failed), "Asking again")

        queue.requeue(failed)  # as staff may
        assert counted(team) == (Decimal("0.02"), 2 * ESTIMATE)

    @pytest.mark.usefixtures("free")
    def test_asking_the_simulator_again_costs_nothing(self, ada):
        queue.fail(claim_one(make_job(user=ada)), error())

        assert budgets.expected(CaptureJob.objects.all()) == 0


class TestEnqueue:
    def test_a_refused_check_leaves_nothing(self, team, ada):
        give(team, "0.05")

        with pytest.raises(OverBudgetError, match=r"about \$0\.06; \$0\.05 of"):
            make_check(ada, prompts=prompts(3))

        assert not any(model.objects.exists() for model in (Brand, Competitor, Check, Prompt, CaptureJob, Charge))

    def test_the_cost_that_is_refused_or_not_is_what_the_jobs_count_at(self, team, ada):
        asked = {"prompts": prompts(7), "providers": ("chatgpt", "copilot"), "samples": 3}
        check = make_check(ada, **asked)
        expected = sum((job.estimate for job in check.jobs.all()), ZERO)

        assert expected == (7 * 3 + 7) * ESTIMATE  # Copilot takes one sample
        assert systems.cost(7, ("chatgpt", "copilot"), 3, ESTIMATES) == expected
        assert counted(team) == (ZERO, expected)

    def test_checks_that_fit_are_taken_until_one_does_not(self, team, ada):
        give(team, "0.05")
        make_check(ada)
        make_check(ada)

        with pytest.raises(OverBudgetError):
            make_check(ada)

        assert Check.objects.count() == 2

    def test_the_same_order_again_is_the_same_check_though_nothing_is_left(self, team, ada):
        give(team, "0.02")
        order = make_order()
        check, _ = queue.enqueue(order, team, ada, ESTIMATES)

        again, created = queue.enqueue(order, team, ada, ESTIMATES)

        assert (again, created) == (check, False)


@pytest.mark.slow
def test_the_room_is_read_from_indexes_whatever_else_there_is(team, ada):
    check = make_check(ada)
    _other_charges(40_000)
    _finished_jobs(20_000, check)

    with CaptureQueriesContext(connection) as asked:
        budgets.room(team)
    (sums,) = [query["sql"] for query in asked if "SUM(" in query["sql"]]

    plan = _plan(sums)
    assert "charge_by_team" in plan
    assert "job_open_by_team" in plan
    assert "Seq Scan on capture_charge" not in plan
    assert "Seq Scan on capture_capturejob" not in plan


def _other_charges(count: int) -> None:
    others = [make_team().pk for _ in range(20)]
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO capture_charge (attempt, team_id, day, provider, amount, basis, check_uuid, simulated)
            SELECT gen_random_uuid(), (%s::bigint[])[1 + n %% 20], current_date - n %% 700, 'chatgpt', 0.02, 'computed',
                gen_random_uuid(), false FROM generate_series(1, %s) n
            """,
            [others, count],
        )
        cursor.execute("ANALYZE capture_charge")


def _finished_jobs(count: int, check: Check) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO capture_capturejob (team_id, of_check_id, prompt_id, provider, lane, sample, polls, attempts,
                unknowns, crashes, reason, estimate, status, turn, finished_at)
            SELECT team_id, of_check_id, prompt_id, 'done' || n / 30000, lane, 1 + n %% 30000, 0, 0, 0, 0, '', 0.02,
                'done', 0, clock_timestamp()
            FROM capture_capturejob, generate_series(1, %s) n WHERE of_check_id = %s
            """,
            [count, check.pk],
        )
        cursor.execute("ANALYZE capture_capturejob")


def _plan(sql: str) -> str:
    with connection.cursor() as cursor, transaction.atomic():
        cursor.execute(f"EXPLAIN {sql}")
        return "\n".join(line for (line,) in cursor.fetchall())
