"""Lanes: the limits and pauses of one account that providers share."""

from __future__ import annotations

from django.db import models
from django.db.models import Q


class Lane(models.Model):
    name = models.CharField(primary_key=True, max_length=20)
    enabled = models.BooleanField(default=True)
    paused = models.BooleanField(default=False, help_text="starts nothing new; calls in hand are still looked after")
    limit = models.PositiveSmallIntegerField(help_text="most calls in flight, over all machines")
    least_seconds_between_starts = models.FloatField(default=0)
    last_start_at = models.DateTimeField(null=True, blank=True)
    cooling_since = models.DateTimeField(null=True, blank=True)
    cooling_until = models.DateTimeField(null=True, blank=True)
    cooling_reason = models.CharField(max_length=200, blank=True, default="")
    cooling_repeats = models.PositiveSmallIntegerField(default=0, help_text="how often in a row it was told to wait")
    probe = models.UUIDField(null=True, blank=True, help_text="the claim that finds out whether it goes again")
    opened_at = models.DateTimeField(null=True, blank=True, help_text="when its account last answered again")
    turn = models.BigIntegerField(default=0, help_text="the turn that is being served")

    class Meta:
        constraints = (models.CheckConstraint(name="lane_limit", condition=Q(limit__gte=1)),)

    def __str__(self) -> str:
        return self.name
