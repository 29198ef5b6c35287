"""A person, and where the database holds something on them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from axes.helpers import get_client_username
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.admin.models import LogEntry
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.db.models import Model, Q, QuerySet

from capture.models import (
    Attempt,
    Brand,
    Capture,
    CaptureJob,
    Charge,
    Check,
    Competitor,
    Gist,
    HistoryMark,
    Membership,
    Mention,
    Prompt,
    Schedule,
    Source,
    StaffAction,
    Team,
)

# All that belongs to a team, and the way from there to it.
BY_TEAM: dict[type[Model], str] = {
    Team: "pk",
    Membership: "team",
    Brand: "team",
    Competitor: "brand__team",
    HistoryMark: "brand__team",
    Gist: "brand__team",
    Schedule: "team",
    Check: "team",
    Prompt: "of_check__team",
    CaptureJob: "team",
    Attempt: "job__team",
    Capture: "team",
    Source: "capture__team",
    Mention: "capture__team",
    Charge: "team",
}

# Of these the admin's log may tell: people edit them there, or look at them.
LOGGED = (Team, Membership, Brand, Competitor, Check)

LOGINS = (AccessAttempt, AccessLog, AccessFailureLog)


class Person:
    """A user, the teams that are theirs alone, and those that they share.

    What belongs to a shared team is not the person's: the others go on working with it.
    """

    def __init__(self, user: User) -> None:
        self.user = user

    @cached_property
    def own(self) -> Sequence[Team]:
        """The teams of which nobody else is a member, as they are when this is first asked for."""
        shared = Membership.objects.exclude(user=self.user).values("team")
        return list(self._teams.exclude(pk__in=shared))

    @cached_property
    def shared(self) -> Sequence[Team]:
        return list(self._teams.exclude(pk__in=[team.pk for team in self.own]))

    @property
    def _teams(self) -> QuerySet[Team]:
        return Team.objects.filter(memberships__user=self.user).order_by("pk")

    def of_own_teams(self, model: type[Model]) -> QuerySet[Any]:
        """The rows of a table that are the person's alone."""
        teams = [team.pk for team in self.own]
        return model._default_manager.filter(**{f"{BY_TEAM[model]}__in": teams}).order_by("pk")

    def memberships(self) -> QuerySet[Membership]:
        return Membership.objects.filter(user=self.user).order_by("pk")

    def staff_actions(self) -> QuerySet[StaffAction]:
        """What the person has decided about many jobs at once; it goes with the account."""
        return StaffAction.objects.filter(user=self.user).order_by("pk")

    def asked_for_others(self) -> QuerySet[Check]:
        """Checks that the person has asked for teams that they share, or have left."""
        teams = [team.pk for team in self.own]
        return Check.objects.filter(created_by=self.user).exclude(team__in=teams).order_by("pk")

    def sessions(self) -> list[Session]:
        """Each says only when it is opened whose it is."""
        wanted = str(self.user.pk)
        return [each for each in Session.objects.iterator() if each.get_decoded().get(SESSION_KEY) == wanted]

    def log_entries(self) -> QuerySet[LogEntry]:
        """What the person has done in the admin, and what was done there about them and what is theirs."""
        about = [(User, [self.user.pk]), (Membership, self.memberships().values_list("pk", flat=True))]
        about += [(model, self.of_own_teams(model).values_list("pk", flat=True)) for model in LOGGED]
        found = Q(user=self.user) | self._named_in_logs_of_teams()
        for model, numbers in about:
            found |= Q(content_type=ContentType.objects.get_for_model(model), object_id__in=_as_texts(numbers))
        return LogEntry.objects.filter(found).order_by("pk")

    def _named_in_logs_of_teams(self) -> Q:
        """Where a team is edited, its log names the members that came or went, as memberships call themselves."""
        name = json.dumps(f"{self.user} in ")[:-1]  # with the quote before it: others' names may end like this one
        return Q(content_type=ContentType.objects.get_for_model(Team), change_message__contains=name)

    def logins(self) -> Iterator[QuerySet[Any]]:
        """What is kept of attempts to log in by that username; failed ones alone, unless settings say otherwise."""
        name = self.user.get_username()
        counted_as = get_client_username(None, {"username": name})
        for model in LOGINS:
            yield model.objects.filter(Q(username__iexact=name) | Q(username=counted_as)).order_by("pk")


def _as_texts(numbers: Iterable[Any]) -> list[str]:
    return [str(number) for number in numbers]
