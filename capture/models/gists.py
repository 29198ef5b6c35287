"""Gists: what history reads of answers, without their texts."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from capture.models.brands import Brand
from capture.models.captures import Capture
from capture.models.fields import CleanCharField

# As many as an entry of the index has room for; who is named after so many others in one answer is not counted.
MOST_RIVALS = 300


class Gist(models.Model):
    """All that a brand's history reads of an answer, in one narrow row.

    Every answer that counts has one, and no other capture has. All of it stands in captures, prompts, mentions and
    sources as well; there it would take five tables to add up a hundred thousand answers. Written with the mentions, in
    the transaction that keeps an answer and whenever it is read again.
    """

    capture = models.OneToOneField(Capture, models.CASCADE, primary_key=True, related_name="gist")
    brand = models.ForeignKey(Brand, models.CASCADE, related_name="+", db_index=False)
    provider = models.CharField(max_length=20)
    country = models.CharField(max_length=2, blank=True, default="")
    branded = models.BooleanField(help_text="the question itself names the brand")
    simulated = models.BooleanField()
    answered_at = models.DateTimeField()
    model = CleanCharField(max_length=200, blank=True, default="")
    question = models.BigIntegerField(help_text="number of the prompt's key")
    cell = models.BigIntegerField(help_text="number of question, provider and surface")
    rank = models.PositiveSmallIntegerField(null=True, help_text="of the brand among those named; none: it is not")
    rivals = ArrayField(models.BigIntegerField(), default=list, help_text="the competitors that are named")
    sites = ArrayField(CleanCharField(max_length=253), default=list, help_text="each once; empty: nobody knows which")
    kinds = ArrayField(models.SmallIntegerField(), default=list, help_text="of the sites, as places in `sites.KINDS`")
    matcher = models.PositiveSmallIntegerField(help_text="by whose rules it was read")
    edition = models.PositiveIntegerField(help_text="of the brand's names, by which it was read")

    class Meta:
        constraints = (
            models.CheckConstraint(name="gist_rank", condition=Q(rank__isnull=True) | Q(rank__gte=1)),
            models.CheckConstraint(name="gist_is_read", condition=Q(matcher__gte=1, edition__gte=1)),
        )
        indexes = (
            # With all that figures are made of, so that the rows themselves, which have the sites, are passed by.
            models.Index(
                fields=["brand", "answered_at"],
                name="gist_by_brand",
                include=[
                    *("provider", "country", "branded", "simulated", "question", "cell"),
                    *("rank", "rivals", "matcher", "edition"),
                ],
            ),
        )

    def __str__(self) -> str:
        return f"gist of {self.capture_id}"
