"""A person is erased: the account, and with it whatever is theirs alone. What was spent stays in every sum.

Checks go one at a time, each in a transaction of its own, since a team may have a hundred thousand answers. What is
broken off is gone on with by starting it again; until then nobody can log in by that account.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Sum

from capture import queue
from capture.formatting.counts import counted
from capture.models import Brand, Capture, CaptureJob, Charge, Check, Membership, Schedule, Team
from capture.models.jobs import JobQuerySet
from capture.privacy.person import Person

log = logging.getLogger(__name__)

NO_CHECK = UUID(int=0)  # in charges, where that of a check stood


class RefusedToEraseError(Exception):
    """Nothing more is erased; its text says why."""


class Erasure:
    """Erases one person, or says what that would be."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self.user = person.user

    # ------------------------------------------------------------------------------------------------- what it would do

    def in_words(self) -> Sequence[str]:
        """What would be erased and what would stay, a line each."""
        logins = sum(attempts.count() for attempts in self.person.logins())
        return [
            f"Would go: account “{self.user}”: {counted(self.person.memberships().count(), 'membership')}, "
            f"{counted(len(self.person.sessions()), 'session')}, "
            f"{counted(self.person.log_entries().count(), 'log entry', 'log entries')} of the admin, "
            f"{counted(logins, 'attempt')} to log in",
            *(self._of_own(team) for team in self.person.own),
            *(self._of_shared(team) for team in self.person.shared),
            self._of_charges(),
        ]

    def _of_own(self, team: Team) -> str:
        counts = {
            noun: model._default_manager.filter(team=team).count()
            for noun, model in {"check": Check, "answer": Capture, "brand": Brand, "schedule": Schedule}.items()
        }
        told = ", ".join(counted(count, noun) for noun, count in counts.items())
        return f"Would go: team “{team}”, of which nobody else is a member: {told}"

    def _of_shared(self, team: Team) -> str:
        asked = self.person.asked_for_others().filter(team=team).count()
        named = "; its name is the user's, and stays" if team.name == str(self.user) else ""
        lose = counted(asked, "check there would lose", "checks there would lose")
        return f"Would stay: team “{team}” of others; {lose} the name of who asked{named}"

    def _of_charges(self) -> str:
        charges = self.person.of_own_teams(Charge)
        spent = charges.aggregate(sum=Sum("amount"))["sum"] or Decimal(0)
        return f"Would stay: {counted(charges.count(), 'charge')} of ${spent:.2f}, of no team and no check any more"

    def obstacles(self) -> Sequence[str]:
        """Why it would be refused."""
        found = []
        others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=self.user.pk)
        if self.user.is_superuser and not others.exists():
            found.append(f"“{self.user}” is the only superuser; make another one first.")
        if count := self._open_jobs().count():
            one = "question is open; its answer would have no place. --cancel calls it off."
            many = "questions are open; their answers would have no place. --cancel calls them off."
            found.append(counted(count, one, many))
        return found

    def _open_jobs(self) -> JobQuerySet:
        return CaptureJob.objects.open().filter(team__in=[team.pk for team in self.person.own])

    # -------------------------------------------------------------------------------------------------------- doing it

    def cancel(self) -> None:
        """Call off what was not asked yet, and have nothing asked by itself any more.

        Raises:
            RefusedToEraseError: some questions are out already, and what is paid for is waited for.
        """
        self._stop_schedules()
        queue.cancel(self._open_jobs())
        if under_way := self._open_jobs().count():
            out = counted(under_way, "question is out", "questions are out")
            raise RefusedToEraseError(f"{out}. Answers come within minutes; try then.")

    def run(self) -> None:
        """Erase everything.

        Raises:
            RefusedToEraseError: there is an obstacle, or there was one meanwhile; start it again once it is gone.
        """
        self._shut()
        for check in self.person.of_own_teams(Check):
            self._delete(check)
        self._finish()
        log.info("user %s: erased", self.user.pk)

    @transaction.atomic
    def _shut(self) -> None:
        """Refuse while there is an obstacle; else nobody logs in or starts anything from now on."""
        Team.objects.lock_all([team.pk for team in self.person.own])
        if found := self.obstacles():
            raise RefusedToEraseError(" ".join(found))
        self._stop_schedules()
        User.objects.filter(pk=self.user.pk).update(is_active=False)

    def _stop_schedules(self) -> None:
        self.person.of_own_teams(Schedule).update(every=Schedule.Every.OFF, next_due=None)

    def _delete(self, check: Check) -> None:
        try:
            queue.delete_check(check)
        except queue.StillOpenError:
            raise RefusedToEraseError(f"A question of check {check.uuid} was asked again meanwhile.") from None
        except Check.DoesNotExist:
            pass  # somebody else has deleted it

    @transaction.atomic
    def _finish(self) -> None:
        """The rest, in the order in which rows point to each other."""
        Team.objects.lock_all([team.pk for team in self.person.own])
        if self.person.of_own_teams(Check).exists() or self.person.of_own_teams(Membership).exclude(user=self.user):
            raise RefusedToEraseError("A check was started, or somebody has joined a team of theirs meanwhile.")
        for session in self.person.sessions():
            session.delete()
        for rows in (self.person.log_entries(), *self.person.logins()):
            rows.delete()
        self.person.of_own_teams(Charge).update(team=None, check_uuid=NO_CHECK)
        self.person.of_own_teams(Team).delete()
        self.user.delete()
