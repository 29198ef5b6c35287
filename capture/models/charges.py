"""Charges: what attempts cost or may have cost, kept for good."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from capture.models.teams import Team
from capture.providers.replies import Basis


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

    class Meta:
        constraints = (models.CheckConstraint(name="charge_not_negative", condition=Q(amount__gte=0)),)
        indexes = (
            models.Index(fields=["team", "day"], name="charge_by_team"),
            models.Index(fields=["check_uuid"], name="charge_by_check"),
        )

    def __str__(self) -> str:
        return f"{self.amount} USD, {self.provider}, {self.day}"
