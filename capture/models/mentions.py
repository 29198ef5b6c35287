"""Mentions: whom answers name by the names of today, for history."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from capture.models.brands import Brand, Competitor
from capture.models.captures import Capture
from capture.models.fields import CleanTextField


class Mention(models.Model):
    """The brand or a competitor is named in an answer: once for each of them, at the first place.

    Found again when names or the rules change; `Capture.named` has whom it names by the names of then.
    """

    capture = models.ForeignKey(Capture, models.CASCADE, related_name="mentions", db_index=False)
    brand = models.ForeignKey(Brand, models.CASCADE, null=True, related_name="mentions", db_index=False)
    competitor = models.ForeignKey(Competitor, models.CASCADE, null=True, related_name="mentions", db_index=False)
    rank = models.PositiveSmallIntegerField(help_text="1: the first to be named of the brand and its competitors")
    hits = models.PositiveIntegerField(help_text="at how many places")
    start = models.PositiveIntegerField(help_text="of the first place in the text, in characters")
    end = models.PositiveIntegerField()
    words = CleanTextField(most=1000, help_text="as they stand there")
    flags = ArrayField(models.CharField(max_length=30), default=list, help_text="what the text says of it there")
    matcher = models.PositiveSmallIntegerField(help_text="by whose rules it was found")

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["capture", "brand"], name="mention_of_brand", condition=Q(brand__isnull=False)
            ),
            models.UniqueConstraint(
                fields=["capture", "competitor"], name="mention_of_competitor", condition=Q(competitor__isnull=False)
            ),
            models.CheckConstraint(
                name="mention_of_one",
                condition=Q(brand__isnull=True, competitor__isnull=False)
                | Q(brand__isnull=False, competitor__isnull=True),
            ),
            models.CheckConstraint(
                name="mention_place", condition=Q(rank__gte=1, hits__gte=1, end__gt=models.F("start"))
            ),
        )
        indexes = (
            # With what history needs, so that it is read from the index alone.
            models.Index(
                fields=["brand", "capture"],
                name="mention_by_brand",
                include=["rank"],
                condition=Q(brand__isnull=False),
            ),
            models.Index(
                fields=["competitor", "capture"],
                name="mention_by_competitor",
                include=["rank"],
                condition=Q(competitor__isnull=False),
            ),
            models.Index(fields=["capture"], name="mention_by_capture"),
        )

    def __str__(self) -> str:
        return str(self.words)
