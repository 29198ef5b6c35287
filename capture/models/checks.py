"""Checks, their prompts and their repetition. A check is frozen as it was asked, and stores no state."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from capture.analysis.mentions import Entity
from capture.models.brands import Brand, entity_as_asked
from capture.models.teams import Team
from capture.recurrence import next_time

# A worker that cannot ask all of a check leaves it for so long to one that can.
ELSEWHERE_FIRST = timedelta(minutes=10)


class ScheduleQuerySet(models.QuerySet["Schedule"]):
    def due(self, now: datetime) -> ScheduleQuerySet:
        """Those whose time has come, the longest due first."""
        return self.filter(next_due__lte=now).order_by("next_due", "pk")

    def asked_by(self, slugs: Collection[str], now: datetime) -> ScheduleQuerySet:
        """Those of which all systems can be asked here, or that have waited long enough for another machine."""
        return self.filter(Q(template__providers__contained_by=list(slugs)) | Q(next_due__lte=now - ELSEWHERE_FIRST))


class Schedule(models.Model):
    """A check that is to be repeated: how often, and at which hour of the team's day.

    Every check that it has made points to it, and so does the one that it repeats.
    """

    class Every(models.TextChoices):
        OFF = "off"
        DAILY = "daily"
        WEEKLY = "weekly"

    team = models.ForeignKey(Team, models.CASCADE, related_name="schedules")
    template = models.OneToOneField("capture.Check", models.CASCADE, related_name="repetition")
    every = models.CharField(max_length=6, choices=Every, default=Every.OFF)
    hour = models.PositiveSmallIntegerField(default=6, validators=[MaxValueValidator(23)])
    next_due = models.DateTimeField(null=True, blank=True)
    paused_because = models.CharField(
        max_length=200, blank=True, default="", help_text="why nothing was asked when it was due last"
    )

    objects = ScheduleQuerySet.as_manager()

    class Meta:
        constraints = (
            models.CheckConstraint(
                name="schedule_due_unless_off",
                condition=Q(every="off", next_due__isnull=True) | (~Q(every="off") & Q(next_due__isnull=False)),
            ),
            models.CheckConstraint(name="schedule_hour", condition=Q(hour__lte=23)),
            models.CheckConstraint(name="schedule_every", condition=Q(every__in=["off", "daily", "weekly"])),
        )
        indexes = (models.Index(fields=["next_due"], name="schedule_due", condition=Q(next_due__isnull=False)),)

    def __str__(self) -> str:
        return f"{self.every} of {self.template_id}"

    @property
    def weekday(self) -> int:
        """The day of the week on which it is due if it is weekly, 0 for Monday: that on which it was asked."""
        asked: datetime = self.template.due or self.template.created_at
        return asked.astimezone(self.team.zone).weekday()

    def due_after(self, moment: datetime) -> datetime | None:
        """When it is due next after a moment; None while it is off."""
        if self.every == self.Every.OFF:
            return None
        weekday = self.weekday if self.every == self.Every.WEEKLY else None
        return next_time(moment, self.hour, self.team.zone, weekday)


class CheckQuerySet(models.QuerySet["Check"]):
    def of_team(self, team: Team) -> CheckQuerySet:
        return self.filter(team=team)


class Check(models.Model):
    """One press of the button: prompts × AI systems × samples.

    It is finished when it has no open job. Nothing here says so, because two last jobs that finish at once would
    each miss the other.
    """

    uuid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="checks")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    brand = models.ForeignKey(Brand, models.PROTECT, related_name="checks")
    names = models.JSONField(help_text="the brand and its competitors as they were when this was asked")
    providers = ArrayField(models.CharField(max_length=20))
    samples = models.PositiveSmallIntegerField(default=1)
    country = models.CharField(max_length=2, blank=True, default="")
    language = models.CharField(max_length=2, blank=True, default="")
    submit_token = models.CharField(max_length=64)
    schedule = models.ForeignKey(Schedule, models.SET_NULL, null=True, blank=True, related_name="checks")
    due = models.DateTimeField(null=True, blank=True, help_text="which turn of its schedule this is")
    created_at = models.DateTimeField(db_default=Now())

    objects = CheckQuerySet.as_manager()

    class Meta:
        permissions = (("open_checks", "Can open the checks of all teams, to read"),)
        constraints = (
            models.UniqueConstraint(fields=["team", "submit_token"], name="check_once_per_submit"),
            models.UniqueConstraint(fields=["schedule", "due"], name="check_once_per_due"),
            models.CheckConstraint(name="check_samples", condition=Q(samples__gte=1)),
        )
        indexes = (models.Index(F("team"), F("created_at").desc(), name="check_by_team"),)

    def __str__(self) -> str:
        return str(self.uuid)

    def entities(self) -> tuple[Entity, ...]:
        """Whom it looks for by the names as they were."""
        return entities_as_asked(self.names)


def entities_as_asked(names: Mapping[str, Any]) -> tuple[Entity, ...]:
    """Whom a check looks for: `brand`, then `competitor:0` and so on.

    Arguments:
        names: of the check.
    """
    return (
        entity_as_asked("brand", names["brand"]),
        *(entity_as_asked(f"competitor:{index}", rival) for index, rival in enumerate(names["competitors"])),
    )


class Prompt(models.Model):
    of_check = models.ForeignKey(Check, models.CASCADE, related_name="prompts")
    position = models.PositiveSmallIntegerField()
    text = models.TextField()
    key = models.CharField(max_length=64, help_text="the same for the same question in every check")
    branded = models.BooleanField(help_text="the question itself names the brand")

    class Meta:
        constraints = (models.UniqueConstraint(fields=["of_check", "position"], name="prompt_position"),)
        indexes = (models.Index(fields=["key"], name="prompt_key"),)

    def __str__(self) -> str:
        return self.text

    @staticmethod
    def key_of(text: str, country: str, language: str) -> str:
        """The key under which one question is followed over checks.

        Arguments:
            text: as typed; case and spacing do not count.
            country: upper-case code or empty.
            language: lower-case code or empty.
        """
        normalised = " ".join(text.split()).casefold()
        return hashlib.sha256("\x1f".join([normalised, country, language]).encode()).hexdigest()
