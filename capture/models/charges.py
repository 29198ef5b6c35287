"""Charges: what attempts cost or may have cost, kept for good."""

from __future__ import annotations

from calendar import monthrange
from datetime import date
from uuid import UUID

from django.db import models
from django.db.models import Q

from capture.models.teams import Team
from capture.providers.replies import Basis


class ChargeQuerySet(models.QuerySet["Charge"]):
    """Sets that chain. Days are those of the database's clock in UTC."""

    def real(self) -> ChargeQuerySet:
        """Without what the simulator only pretends to charge."""
        return self.filter(simulated=False)

    def since(self, day: date) -> ChargeQuerySet:
        return self.filter(day__gte=day)

    def in_month(self, day: date) -> ChargeQuerySet:
        """Of the calendar month that a day is in."""
        last = day.replace(day=monthrange(day.year, day.month)[1])
        return self.filter(day__gte=day.replace(day=1), day__lte=last)

    def of_team(self, team: Team) -> ChargeQuerySet:
        return self.filter(team=team)

    def of_check(self, uuid: UUID) -> ChargeQuerySet:
        return self.filter(check_uuid=uuid)


class Charge(models.Model):
    """Money of one attempt. Points to nothing that may be deleted, so that no sum ever changes by a deletion."""

    attempt = models.UUIDField(unique=True)
    team = models.ForeignKey(Team, models.SET_NULL, null=True, related_name="charges", db_index=False)
    day = models.DateField()
    provider = models.CharField(max_length=20)
    amount = models.DecimalField(max_digits=14, decimal_places=6, help_text="US dollars")
    basis = models.CharField(max_length=9, choices=[(basis.value, basis.value) for basis in Basis])
    check_uuid = models.UUIDField()
    simulated = models.BooleanField()

    objects = ChargeQuerySet.as_manager()

    class Meta:
        constraints = (models.CheckConstraint(name="charge_not_negative", condition=Q(amount__gte=0)),)
        indexes = (
            models.Index(fields=["team", "day"], name="charge_by_team"),
            models.Index(fields=["check_uuid"], name="charge_by_check"),
            # With all that is added up by it, so that the sums of a month are read from the index alone.
            models.Index(
                fields=["day"],
                name="charge_by_day",
                include=["team", "provider", "amount", "basis", "simulated"],
            ),
        )

    def __str__(self) -> str:
        return f"{self.amount} USD, {self.provider}, {self.day}"
