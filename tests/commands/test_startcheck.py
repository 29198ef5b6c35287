"""`manage.py startcheck`, as a person in a terminal and a script see it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError
from django.utils import timezone

from capture import budgets, queue, reports, systems
from capture.models import Brand, CaptureJob, Check, Team, Worker
from capture.providers import registry
from capture.providers.replies import Refused
from tests.factories import WORKER, answer, claim, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]

ASKED = ("--user", "ada", "--brand", "Northwind", "--prompt", "Which is best?")
CHATGPT = (*ASKED, "--provider", "chatgpt")


@pytest.fixture(autouse=True)
def ada():
    return make_user("ada")


@pytest.fixture(autouse=True)
def work(monkeypatch):
    """What happens while the command sleeps between two looks; each turn takes one thing from the list."""
    turns: list[Callable[[], object]] = []
    monkeypatch.setattr("time.sleep", lambda _: turns.pop(0)())
    return turns


def run(*arguments: str) -> tuple[int | str | None, str, str]:
    """The exit code, standard output and standard error."""
    out, err = StringIO(), StringIO()
    try:
        call_command("startcheck", *arguments, stdout=out, stderr=err)
    except SystemExit as end:
        return end.code, out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


def refusal(*arguments: str) -> str:
    with pytest.raises(CommandError) as refused:
        call_command("startcheck", *arguments)
    assert refused.value.returncode == 2
    assert not Check.objects.exists()
    return str(refused.value)


def complete(reply=None, seats: int = 8) -> None:
    for ticket in claim(seats=seats):
        queue.complete(ticket, reply or answer())


def worker_starts() -> None:
    now = timezone.now()
    Worker.objects.create(
        pk=WORKER,
        host="here",
        pid=1,
        seats=8,
        providers=["chatgpt"],
        started_at=now,
        steady_since=now,
        beat_at=now + timedelta(hours=1),
    )


class TestStarting:
    def test_it_starts_a_check_and_says_where_it_is(self, ada):
        code, out, _ = run(*CHATGPT, "--competitor", "Contoso", "--competitor", "Fabrikam", "--country", "DE")

        check = Check.objects.get()
        assert code == 0
        assert out == f"Check started: /checks/{check.uuid}/\n"
        assert check.created_by == ada
        assert [competitor["name"] for competitor in check.names["competitors"]] == ["Contoso", "Fabrikam"]
        assert check.country == "DE"
        assert check.jobs.pending().count() == 1

    def test_every_run_is_a_check_of_its_own(self):
        run(*CHATGPT)
        run(*CHATGPT)

        assert Check.objects.count() == 2

    def test_several_questions_systems_and_samples(self):
        run(*CHATGPT, "--provider", "perplexity", "--prompt", "And which\nis cheapest?", "--samples", "2")

        assert CaptureJob.objects.count() == 8
        assert [prompt.text for prompt in Check.objects.get().prompts.order_by("position")] == [
            "Which is best?",
            "And which is cheapest?",
        ]

    def test_json_is_one_object_and_the_rest_goes_to_standard_error(self):
        code, out, err = run(*CHATGPT, "--json")

        check = Check.objects.get()
        assert code == 0
        assert json.loads(out) == reports.check_status(check)
        assert f"/checks/{check.uuid}/" in err


class TestRefusing:
    def test_an_unknown_user(self):
        assert refusal("--user", "bob", *CHATGPT[2:]) == "There is no user “bob”."

    def test_an_unknown_system_and_which_there_are(self):
        message = f"--provider: There is no AI system “altavista”. Available: {', '.join(registry.by_slug)}."
        assert refusal(*ASKED, "--provider", "altavista") == message

    @pytest.mark.usefixtures("only_chatgpt")
    def test_a_system_without_a_key_and_which_have_one(self):
        message = "--provider: Perplexity cannot be asked here: PERPLEXITY_API_KEY is not set. Available: chatgpt."
        assert refusal(*ASKED, "--provider", "perplexity") == message

    def test_every_bad_option_has_its_own_line(self):
        lines = refusal("--user", "ada", "--brand", "123", "--prompt", "x" * 20_000, "--country", "DEU").splitlines()

        assert [line.partition(":")[0] for line in lines] == ["--brand", "--prompt", "--provider", "--country"]

    @pytest.mark.usefixtures("only_chatgpt")
    def test_a_check_over_the_budget_with_the_sum(self, ada):
        Team.objects.filter(pk=Team.objects.of(ada).pk).update(monthly_budget=Decimal("0.05"))

        message = refusal(*CHATGPT, "--samples", "5")

        cost = budgets.rounded_up(5 * systems.estimates()["chatgpt"])
        assert message == f"This check would cost about {cost}; $0.05 of this month's $0.05 is left."
        assert not Brand.objects.exists()

    def test_a_missing_option(self):
        assert "--user" in refusal_by_argparse("--brand", "Northwind")

    def test_text_that_is_not_utf8(self):
        assert "is not UTF-8" in refusal_by_argparse("--user", "\udcff", *CHATGPT[2:])


def refusal_by_argparse(*arguments: str) -> str:
    with pytest.raises(CommandError) as refused:
        call_command("startcheck", *arguments)
    return str(refused.value)


class TestWaiting:
    def test_it_ends_well_when_every_job_has_an_answer(self, work):
        work.append(complete)

        code, out, err = run(*CHATGPT, "--wait")

        assert code == 0
        assert out.endswith("1 of 1 answered\n")
        assert "0 of 1 finished: 1 waiting" in err
        assert "1 of 1 finished: 1 answered" in err

    def test_it_says_what_has_no_answer_and_why(self, work):
        work += [lambda: complete(Refused("No."), seats=1), complete]

        code, out, _ = run(*CHATGPT, "--prompt", "And cheapest?", "--wait")

        assert code == 1
        assert "refused: ChatGPT, “Which is best?”\n1 of 2 answered\n" in out

    def test_json_is_printed_at_the_end(self, work):
        work.append(complete)

        code, out, err = run(*CHATGPT, "--wait", "--json")

        assert code == 0
        assert json.loads(out)["counts"]["answered"] == 1
        assert "1 of 1 answered" in err

    def test_json_is_printed_as_well_when_some_have_no_answer(self, work):
        work.append(lambda: complete(Refused("No.")))

        code, out, _ = run(*CHATGPT, "--wait", "--json")

        assert code == 1
        assert json.loads(out)["jobs"][0]["outcome"] == "refused"

    def test_it_says_once_that_no_worker_is_running_and_when_one_is(self, work):
        work += [lambda: None, lambda: None, worker_starts, lambda: None, complete]

        _, _, err = run(*CHATGPT, "--wait")

        assert err.count("No worker is running that asks ChatGPT.") == 1
        assert err.count("It goes on.") == 1

    def test_ctrl_c_ends_the_waiting_and_not_the_check(self, work):
        def interrupt():
            raise KeyboardInterrupt

        work.append(interrupt)

        code, out, err = run(*CHATGPT, "--wait", "--json")

        check = Check.objects.get()
        assert code == 130
        assert out == ""
        assert f"The check goes on: /checks/{check.uuid}/" in err
        assert check.jobs.open().count() == 1

    def test_a_database_that_goes_away_for_a_moment_is_waited_for(self, work, monkeypatch):
        monkeypatch.setattr("django.db.connection.close", lambda: None)  # the test's transaction lives in it
        sound = reports.board_of

        def away(check):
            raise OperationalError("server closed the connection")

        work += [
            lambda: monkeypatch.setattr(reports, "board_of", away),
            lambda: monkeypatch.setattr(reports, "board_of", sound),
            complete,
        ]

        code, _, err = run(*CHATGPT, "--wait")

        assert code == 0
        assert "The database cannot be reached; trying again." in err

    def test_on_a_terminal_there_is_a_bar(self, work, monkeypatch):
        class Terminal(StringIO):
            def isatty(self):
                return True

        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        work.append(complete)

        call_command("startcheck", *CHATGPT, "--wait", stdout=StringIO(), stderr=terminal)

        assert "1/1" in terminal.getvalue()
        assert "finished:" not in terminal.getvalue()
