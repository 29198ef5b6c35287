"""What is held on a person can be given to them and can be erased; what was spent stays in every sum."""

from __future__ import annotations

import io
import json
import stat
from decimal import Decimal
from uuid import UUID

import pytest
from axes.models import AccessAttempt
from django.apps import apps
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import Sum
from django.test import Client

from capture import calls, names, queue, schedules, staff_actions
from capture.models import (
    Attempt,
    Brand,
    Capture,
    CaptureJob,
    Charge,
    Check,
    Lane,
    Membership,
    Mention,
    Schedule,
    StaffAction,
    Team,
    Worker,
)
from capture.names import Names
from capture.privacy import BY_TEAM, Person
from tests.factories import FOR_MONEY, answer, claim_one, complete_one, make_check, make_job, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("simulated")]

# What is hers stands in every text of hers, so that it is found wherever something of it is left.
HER = "zqada"
ACCOUNT = {"username": HER, "email": f"{HER}@mail.example", "first_name": f"{HER}-first", "last_name": f"{HER}-last"}


@pytest.fixture
def ada() -> User:
    """Somebody of whom something is held in every table there is."""
    user = make_user(is_staff=True, **{("name" if key == "username" else key): text for key, text in ACCOUNT.items()})
    _asks(user)
    _is_in_a_team_of_others(user)
    _uses_the_site(user)
    return user


def _asks(user: User) -> None:
    """An answer for money with a source, which has since been read by other names, and a check that was called off."""
    job = make_job(user=user, brand=f"{HER} brand", competitors=(f"{HER} rival",), prompts=(f"Is {HER} good?",))
    ticket = claim_one(job, FOR_MONEY)
    reply = answer(f"{HER} brand is better than {HER} rival.")
    queue.complete(ticket, reply, calls.reading_of(ticket, reply))
    brand = Brand.objects.get()
    names.change(brand, Names(f"{HER} brand", (f"{HER} alias",)), [], brand.edition)
    off = make_check(user, brand=f"{HER} brand", prompts=(f"And {HER}?",))
    assert staff_actions.propose(user, "cancel", staff_actions.targets_of("cancel", off.jobs.all()), "/admin/")
    queue.cancel(off.jobs.all())
    schedules.plan(off, Schedule.Every.DAILY, 6)


def _is_in_a_team_of_others(user: User) -> None:
    bob = make_user("bob")
    team = Team.objects.of(bob)
    membership = Membership.objects.create(team=team, user=user)
    check = make_check(bob, prompts=("Is bob good?",))
    complete_one(check.jobs.get(), "Northwind it is.")
    Check.objects.filter(pk=check.pk).update(created_by=user)
    message = json.dumps([{"added": {"name": "membership", "object": str(membership)}}])
    LogEntry.objects.log_actions(bob.pk, [team], CHANGE, message)


def _uses_the_site(user: User) -> None:
    client = Client()
    client.post("/login/", {"username": HER.upper(), "password": f"{HER} wrong"})
    client.force_login(user)
    Client().force_login(User.objects.get(username="bob"))
    client.post("/login/", {"username": HER.upper(), "password": "wrong"})
    Client().post("/login/", {"username": HER, "password": "wrong"})
    LogEntry.objects.log_actions(user.pk, [Team.objects.of(user)], CHANGE, "Changed by herself.")
    LogEntry.objects.log_actions(User.objects.get(username="bob").pk, [user], CHANGE, f"Invited {HER}.")


def where(text: str) -> set[str]:
    """The tables that have it anywhere."""
    found = set()
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT count(*) FROM "{table}" AS row WHERE row::text LIKE %s', [f"%{text}%"])
            if cursor.fetchone()[0]:
                found.add(table)
    return found


def exported() -> dict[str, list[dict[str, object]]]:
    out = io.StringIO()
    call_command("exportuser", HER, stdout=out)
    rows: dict[str, list[dict[str, object]]] = json.loads(out.getvalue())["rows"]
    return rows


def erase(*options: str, yes: bool = True) -> str:
    out = io.StringIO()
    call_command("eraseuser", HER, *options, *(["--yes"] if yes else []), stdout=out)
    return out.getvalue()


def test_every_table_belongs_to_a_team_or_to_the_machine():
    """A new table has to be put into BY_TEAM, or here."""
    assert set(apps.get_app_config("capture").get_models()) == {*BY_TEAM, StaffAction, Lane, Worker}


class TestExport:
    def test_it_has_a_row_of_every_table_that_holds_something_of_hers(self, ada):
        rows = exported()

        assert [name for name, found in rows.items() if not found and "axes_" not in name] == []
        assert set(rows) >= where(HER) - {"auth_user", "django_admin_log", "django_session", "axes_accessattempt"}
        assert len(rows["axes_accessattempt"]) == len(AccessAttempt.objects.all())

    def test_rows_are_whole(self, ada):
        rows = exported()

        (check, _) = rows["capture_check"]
        assert set(check) == {field.attname for field in Check._meta.concrete_fields}
        assert {row["text"] for row in rows["capture_prompt"]} == {f"Is {HER} good?", f"And {HER}?"}
        assert f"{HER} brand is better than {HER} rival." in [row["text"] for row in rows["capture_capture"]]
        (account,) = rows["account"]
        assert ACCOUNT.items() <= account.items()
        assert account["last_login"]

    def test_it_opens_no_door(self, ada):
        said = json.dumps(exported())

        assert User.objects.get(username=HER).password not in said
        assert not any(session.session_key in said for session in Session.objects.all())

    def test_it_has_nothing_that_is_others(self, ada):
        said = json.dumps(exported())

        assert "Northwind it is." not in said
        assert "Is bob good?" in said  # she has asked that

    def test_a_file_is_for_the_one_who_asked_and_is_never_written_over(self, ada, tmp_path):
        file = tmp_path / "ada.json"

        call_command("exportuser", HER, output=file)

        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert json.loads(file.read_text())["user"] == HER
        with pytest.raises(CommandError, match="File exists"):
            call_command("exportuser", HER, output=file)

    def test_a_user_that_there_is_not(self):
        with pytest.raises(CommandError, match="There is no user “nobody”"):
            call_command("exportuser", "nobody")


class TestErase:
    def test_nothing_of_her_is_left_in_any_table(self, ada):
        assert where(HER) >= {"auth_user", "capture_team", "capture_brand", "capture_prompt", "capture_capture"}

        assert erase().endswith("Erased.\n")

        assert where(HER) == set()
        assert Session.objects.count() == 1

    def test_nor_of_what_staff_have_searched_for_when_they_acted(self, ada):
        bob = User.objects.get(username="bob")
        User.objects.filter(pk=bob.pk).update(is_staff=True, is_superuser=True)
        job = make_job(user=ada)
        staffs, uuid = Client(), str(job.of_check.uuid)
        staffs.force_login(User.objects.get(pk=bob.pk))
        sent = {"action": "cancel", "_selected_action": [job.pk], "select_across": "1"}
        assert staffs.post(f"/admin/capture/capturejob/?q={uuid}&state=pending", sent).status_code == 302
        action = StaffAction.objects.get(user=bob)
        assert staff_actions.confirm(action)
        staff_actions.carry_on(60)

        erase()

        assert where(uuid) == set()
        assert StaffAction.objects.get().origin == "/admin/capture/capturejob/?state=pending"

    def test_what_was_spent_stays_and_is_nobodys(self, ada):
        team = Person(ada).own[0]
        spent = Charge.objects.aggregate(sum=Sum("amount"))
        theirs = list(Charge.objects.exclude(team=team).values())
        checks = list(Check.objects.filter(team=team).values_list("uuid", flat=True))
        assert Charge.objects.filter(team=team).aggregate(sum=Sum("amount"))["sum"] == Decimal("0.013")

        erase()

        assert Charge.objects.aggregate(sum=Sum("amount")) == spent
        assert Charge.objects.get(team=None).check_uuid == UUID(int=0)
        assert not Charge.objects.filter(check_uuid__in=checks).exists()
        assert list(Charge.objects.exclude(team=None).values()) == theirs

    def test_what_belongs_to_others_stays_without_her_name(self, ada):
        bobs = Team.objects.of(User.objects.get(username="bob"))

        erase()

        check = Check.objects.get()
        assert (check.team, check.created_by) == (bobs, None)
        assert Capture.objects.get().text == "Northwind it is."
        assert [membership.user.username for membership in bobs.memberships.all()] == ["bob"]

    def test_a_dry_run_says_what_and_erases_nothing(self, ada):
        before = where(HER)

        told = erase("--dry-run", yes=False)

        assert told.splitlines() == [
            f"Would go: account “{HER}”: 2 memberships, 1 session, 3 log entries of the admin, 1 attempt to log in",
            f"Would go: team “{HER}”, of which nobody else is a member: 2 checks, 2 answers, 1 brand, 1 schedule",
            "Would stay: team “bob” of others; 1 check there would lose the name of who asked",
            "Would stay: 1 charge of $0.01, of no team and no check any more",
        ]
        assert where(HER) == before
        assert User.objects.get(username=HER).is_active

    def test_open_questions_are_in_the_way_until_they_are_called_off(self, ada):
        make_check(ada, prompts=("One?", "Two?"))

        assert "In the way: 2 questions are open" in erase("--dry-run", yes=False)
        with pytest.raises(CommandError, match=r"Not erased: 2 questions are open; .* --cancel calls them off"):
            erase()
        assert User.objects.get(username=HER).is_active
        assert Check.objects.count() == 4

        erase("--cancel")
        assert where(HER) == set()
        assert not CaptureJob.objects.exclude(of_check__team__name="bob").exists()

    def test_a_question_that_is_out_is_waited_for_and_nothing_is_asked_meanwhile(self, ada):
        ticket = claim_one(make_job(user=ada))

        with pytest.raises(CommandError, match="Not erased: 1 question is out"):
            erase("--cancel")
        assert not Schedule.objects.filter(next_due__isnull=False).exists()
        queue.complete(ticket, answer())

        erase()
        assert not Attempt.objects.exclude(job__team__name="bob").exists()

    def test_the_only_superuser_stays(self, ada):
        User.objects.filter(pk=ada.pk).update(is_superuser=True)

        with pytest.raises(CommandError, match="is the only superuser"):
            erase()
        make_user("root", is_superuser=True)

        assert erase().endswith("Erased.\n")

    def test_who_is_broken_off_halfway_cannot_log_in_and_is_gone_after_another_try(self, ada, monkeypatch):
        delete = queue.delete_check
        monkeypatch.setattr(queue, "delete_check", lambda check: 1 / 0 if Brand.objects.exists() else delete(check))
        with pytest.raises(ZeroDivisionError):
            erase()
        assert not User.objects.get(username=HER).is_active
        monkeypatch.undo()

        erase()

        assert where(HER) == set()

    def test_a_team_that_somebody_joins_meanwhile_is_not_erased(self, ada, monkeypatch):
        delete = queue.delete_check

        def joined(check):
            Membership.objects.get_or_create(team=check.team, user=User.objects.get(username="bob"))
            delete(check)

        monkeypatch.setattr(queue, "delete_check", joined)

        with pytest.raises(CommandError, match="somebody has joined a team of theirs meanwhile"):
            erase()
        assert User.objects.filter(username=HER).exists()

    def test_without_a_yes_nothing_is_erased(self, ada, monkeypatch):
        with pytest.raises(CommandError, match="--yes has to say that it is meant"):
            erase(yes=False)
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        monkeypatch.setattr("builtins.input", lambda _: "ada")
        with pytest.raises(CommandError, match=r"Nothing was erased\."):
            erase(yes=False)
        assert User.objects.filter(username=HER).exists()

        monkeypatch.setattr("builtins.input", lambda _: HER)
        erase(yes=False)
        assert not User.objects.filter(username=HER).exists()

    def test_mentions_go_with_their_answers(self, ada):
        assert Mention.objects.exclude(capture__team__name="bob").exists()

        erase()

        assert not Mention.objects.exclude(capture__team__name="bob").exists()
