"""`manage.py queuestatus`: what it prints, and its exit code."""

from __future__ import annotations

import json
import socket
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection

from capture import lanes, queue
from capture.management.commands import queuestatus
from capture.models import Lane
from capture.models.clock import database_now
from tests.factories import claim_one, complete_one, make_job, unknown_error
from tests.lost_workers import claim, make_worker


@pytest.mark.django_db
@pytest.mark.usefixtures("simulated")
class TestWords:
    def shown(self, capsys) -> str:
        call_command("queuestatus")
        return str(capsys.readouterr().out)

    def test_a_quiet_queue(self, capsys):
        shown = self.shown(capsys)

        assert "Nothing needs a person." in shown
        assert "oldest waiting      none" in shown
        assert "orphans             none" in shown

    def test_columns_are_aligned_and_lines_have_no_spaces_at_their_ends(self, capsys):
        worker = make_worker()
        complete_one(make_job())
        claim(worker, make_job())

        lines = self.shown(capsys).splitlines()

        head = next(line for line in lines if line.startswith("jobs "))
        chatgpt = next(line for line in lines if line.startswith("ChatGPT "))
        assert chatgpt.split() == ["ChatGPT", "0", "0", "1", "0", "1", "0", "0"]
        ends = [head.index(word) + len(word) for word in head.split()[1:]]
        assert [chatgpt[:end].split()[-1] for end in ends] == chatgpt.split()[1:]
        assert all(chatgpt[end - 1] != " " for end in ends)
        assert [line for line in lines if line != line.rstrip()] == []

    def test_lanes_say_how_they_are(self, capsys):
        make_worker()
        claim_one(make_job(providers=("perplexity",)))
        lanes.change(["perplexity"], limit=1)
        lanes.change(["gemini"], paused=True)
        now = database_now()
        Lane.objects.filter(name="openai").update(
            cooling_since=now, cooling_until=now + timedelta(minutes=15), cooling_reason="invalid_api_key"
        )

        shown = self.shown(capsys)

        found = {line.split()[0]: line.split(maxsplit=3)[1:] for line in paragraph(shown, "lanes")[1:]}
        assert found["perplexity"] == ["1", "1", "full"]
        assert found["gemini"] == ["0", "20", "paused"]
        assert found["openai"][2].startswith("cooling until ")
        assert found["openai"][2].endswith(": the key was refused")

    def test_workers_orphans_unknown_outcomes_and_money(self, capsys):
        worker = make_worker()
        queue.fail(claim(worker, make_job()), unknown_error())
        claim(worker, make_job())
        claim_one(make_job())

        shown = self.shown(capsys)

        (line,) = paragraph(shown, "workers")[1:]
        state, seconds = line.split()[1:3]
        assert state == "alive"
        assert int(seconds) < 60
        assert line.endswith("ChatGPT, Perplexity")
        assert "orphans             1, silent for up to " in shown
        assert "unknown outcomes    1 not settled" in shown
        assert "spend today (UTC)   0.00 USD, simulated: 0.02 USD" in shown

    def test_what_needs_a_person_is_said_first_and_ends_with_1(self, capsys):
        make_job()

        with pytest.raises(SystemExit, match="1"):
            call_command("queuestatus")

        shown = capsys.readouterr().out
        assert shown.split("\n\n")[1] == "NEEDS A PERSON: no worker is alive; open jobs: 1"


def paragraph(shown: str, name: str) -> list[str]:
    return next(part for part in shown.split("\n\n") if part.startswith(name)).splitlines()


@pytest.mark.django_db
@pytest.mark.usefixtures("simulated")
class TestJson:
    def test_one_object_on_standard_output(self, capsys):
        call_command("queuestatus", json=True)

        told = capsys.readouterr()
        assert json.loads(told.out)["ok"] is True
        assert told.err == ""

    def test_the_exit_code_is_the_same(self, capsys):
        make_job()

        with pytest.raises(SystemExit, match="1"):
            call_command("queuestatus", json=True)

        assert [trouble["kind"] for trouble in json.loads(capsys.readouterr().out)["troubles"]] == ["no_worker"]


class TestWithoutADatabase:
    @pytest.mark.parametrize("arguments", [(), ("--json",)])
    def test_one_line_and_exit_code_2(self, run_python, arguments):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = f"postgres://nobody:secret@127.0.0.1:{free.getsockname()[1]}/nothing"

            ended = run_python("manage.py", "queuestatus", *arguments, DATABASE_URL=url, DEBUG="on")

        assert ended.returncode == 2
        assert ended.stdout == ""
        assert ended.stderr.startswith("CommandError: The database cannot be asked: ")
        assert len(ended.stderr.splitlines()) == 1
        assert "secret" not in ended.stderr

    @pytest.mark.django_db(transaction=True)
    def test_tables_that_are_not_there_are_told_alike(self, monkeypatch):
        def fail():
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1 FROM not_there")

        monkeypatch.setattr(queuestatus, "queue_status", fail)

        with pytest.raises(CommandError, match=r"cannot be asked: relation .* does not exist") as caught:
            call_command("queuestatus")

        assert caught.value.returncode == 2
        assert "\n" not in str(caught.value)

    @pytest.mark.django_db(transaction=True)
    def test_a_database_that_does_not_reply_is_not_waited_for(self, monkeypatch):
        def hang():
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_sleep(60)")

        monkeypatch.setattr(queuestatus, "queue_status", hang)
        monkeypatch.setattr(queuestatus, "PATIENCE", 0.2)

        with pytest.raises(CommandError) as caught:
            call_command("queuestatus")

        connection.close()
        end_sleepers()
        assert isinstance(caught.value.__cause__, OperationalError)
        assert caught.value.returncode == 2


def end_sleepers() -> None:
    """The server has not noticed that nobody waits for it any more."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%pg_sleep%'"
        )
