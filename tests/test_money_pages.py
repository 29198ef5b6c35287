"""Money on the pages: the budget when something is asked, and what a check came to."""

from __future__ import annotations

from decimal import Decimal
from html.parser import HTMLParser

import pytest
from django.test import Client

from capture import budgets, queue, reports, systems
from capture.models import CaptureJob, Check, Team
from capture.providers.replies import Basis, Cost
from tests.factories import FOR_MONEY, answer, claim_one, complete_one, make_check, make_job, make_user, unknown_error

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]

SUM = {"HX-Request": "true", "HX-Target": "sum"}


@pytest.fixture
def user():
    return make_user("ada")


@pytest.fixture
def page(client: Client, user):
    client.force_login(user)
    return lambda path: client.get(path).content.decode()


def path_of(check: Check) -> str:
    return reports.check_url(check)


def typed(**fields):
    usual = {
        "brand": "Northwind",
        "competitors": "Contoso",
        "prompts": "Which espresso machine is best?\nWhich is cheapest?",
        "providers": ["chatgpt", "perplexity"],
        "country": "",
        "language": "",
        "nonce": "abc",
    }
    return usual | fields


class Tags(HTMLParser):
    """The start tags of a page with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def of(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.found if tag == name]


@pytest.mark.usefixtures("only_chatgpt")
class TestMoney:
    @pytest.fixture
    def poor(self, client, user):
        """Ada, whose team has a dollar a month, of which one question is spent."""
        job = make_job(user=user)
        queue.complete(claim_one(job, FOR_MONEY), answer(cost=Cost(Decimal("0.9876"), Basis.REPORTED)))
        Team.objects.update(monthly_budget=1)
        client.force_login(user)
        return client

    def sent(self, **fields):
        return typed(providers=["chatgpt"], **fields)

    def test_a_check_over_the_budget_is_refused_with_the_sum_and_loses_nothing(self, poor):
        form = self.sent(prompts="Is <b>this</b> kept?\nAnd this?", samples="5", country="DE")

        response = poor.post("/checks/new/", form)

        html = response.content.decode()
        assert response.status_code == 200
        assert Check.objects.count() == 1
        refusal = f"This check would cost about {cost_of(10)}; $0.01 of this month&#x27;s $1.00 is left."
        assert f'role="alert">Nothing was asked yet. {refusal}</p>' in html
        inputs = {(attributes["name"], attributes.get("value")): attributes for attributes in Tags(html).of("input")}
        assert {("brand", "Northwind"), ("samples", "5"), ("nonce", "abc")} <= inputs.keys()
        assert "checked" in inputs["providers", "chatgpt"]
        assert "Is &lt;b&gt;this&lt;/b&gt; kept?\nAnd this?" in html
        assert "Contoso" in html

    def test_with_more_room_the_refused_form_is_taken_as_it_is(self, poor):
        poor.post("/checks/new/", self.sent())
        Team.objects.update(monthly_budget=2)

        assert poor.post("/checks/new/", self.sent()).status_code == 302

    def test_the_form_says_what_is_spent_and_what_is_still_open(self, poor, user):
        assert "$0.9876 of this month’s $1.00 is spent." in shown(poor.get("/checks/new/?form=x"))
        Team.objects.update(monthly_budget=5000)
        make_check(user, prompts=("One?", "Two?"))

        html = shown(poor.get("/checks/new/?form=x"))

        more = "and about $0.04 more goes to questions that are still open."
        assert f"$0.9876 of this month’s $5,000.00 is spent, {more}" in html

    def test_what_is_typed_so_far_is_held_against_what_is_left(self, poor):
        dear = shown(poor.post("/checks/new/draft/", self.sent(samples="3"), headers=SUM))
        cheap = shown(poor.post("/checks/new/draft/", self.sent(prompts=""), headers=SUM))

        assert "That is more than is left." in dear
        assert "$0.9876 of this month’s $1.00 is spent." in dear
        assert "That is more" not in cheap

    def test_asking_again_over_the_budget_is_refused_with_the_sum(self, poor, user):
        Team.objects.update(monthly_budget=5)
        job = make_check(user).jobs.get()
        queue.cancel(CaptureJob.objects.filter(pk=job.pk))
        Team.objects.update(monthly_budget=1)

        for action, cost in (("ask-again", budgets.rounded_up(job.estimate)), ("repeat", cost_of(1))):
            html = shown(
                poor.post(f"{path_of(job.of_check)}{action}/", {"nonce": "n", "confirmed": "yes"}, follow=True)
            )

            assert f"would cost about {cost}; $0.01 of this month&#x27;s $1.00 is left." in html
        assert not CaptureJob.objects.open().exists()
        assert Check.objects.count() == 2

    def test_a_check_says_what_it_cost_and_how_much_of_it_is_an_estimate(self, page, user):
        job = make_job(user=user)
        path = path_of(job.of_check)
        assert "$0.00 spent so far." in spaced(page(path))
        queue.ask_again(claim_one(job, FOR_MONEY), unknown_error(), 0)
        queue.promote_due()
        queue.complete(claim_one(job, FOR_MONEY), answer())
        job.delete()

        html = spaced(page(path))

        assert "$0.033 spent, of which $0.02 is an estimate: nobody knows exactly what it came to." in html
        assert "Simulated" not in html

    def test_a_simulated_answer_cost_nothing_and_the_page_says_what_it_would_have(self, page, user):
        job = make_job(user=user)
        complete_one(job)

        html = spaced(page(path_of(job.of_check)))

        assert "$0.00 spent. Simulated answers cost nothing; real ones would have cost about $0.013." in html


def cost_of(questions: int) -> str:
    return budgets.rounded_up(questions * systems.estimates()["chatgpt"])


def shown(response) -> str:
    return spaced(response.content.decode())


def spaced(html: str) -> str:
    return " ".join(html.split())
