"""Teams: whose brands, checks and money these are."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator
from django.db import models, transaction
from django.db.models.functions import Now

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser


class TeamQuerySet(models.QuerySet["Team"]):
    def of(self, user: AbstractBaseUser | AnonymousUser) -> Team:
        """The team that a user works in; a user who has none yet gets a team of one.

        Arguments:
            user: somebody who is logged in.
        """
        number = cast("int", user.pk)
        return self._first_of(number) or self._make_for(number)

    def lock(self, team: Team) -> Team:
        """The team as it is now, locked until the end of the transaction; rows that point to it can still be made."""
        return self.select_for_update(no_key=True).get(pk=team.pk)

    def lock_all(self, teams: Collection[int], *, skip_locked: bool = False) -> list[int]:
        """Lock teams by their numbers; says which are locked now.

        Arguments:
            skip_locked: leave out those that somebody else has locked, instead of waiting.
        """
        rows = self.select_for_update(no_key=True, skip_locked=skip_locked)
        return list(rows.filter(pk__in=teams).order_by("pk").values_list("pk", flat=True))

    def _first_of(self, user: int) -> Team | None:
        return self.filter(memberships__user_id=user).order_by("memberships__id").first()

    def _make_for(self, user: int) -> Team:
        with transaction.atomic():
            # Two first requests of one user must not make two teams: the second waits here and finds the first's.
            owner = get_user_model().objects.select_for_update().get(pk=user)
            if team := self._first_of(user):
                return team
            team = self.create(name=str(owner))
            Membership.objects.create(team=team, user=owner)
            return team


class Team(models.Model):
    name = models.CharField(max_length=150)
    time_zone = models.CharField(max_length=64, default="UTC", help_text="IANA name, such as Europe/Berlin")
    monthly_budget = models.DecimalField(
        max_digits=10,
        decimal_places=2,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="US dollars; empty for the usual one",
    )
    starts = ArrayField(
        models.DateTimeField(),
        db_default=[],
        editable=False,
        help_text="when people started its newest checks, deleted or not: what the throttle counts",
    )
    created_at = models.DateTimeField(db_default=Now())

    objects = TeamQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name

    @property
    def zone(self) -> tzinfo:
        """The zone in which the team reads times; UTC where its name is none that this machine knows."""
        try:
            return ZoneInfo(self.time_zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            return UTC


class Membership(models.Model):
    team = models.ForeignKey(Team, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = (models.UniqueConstraint(fields=["team", "user"], name="membership_once"),)

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"
