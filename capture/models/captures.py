"""Captures: what came of the jobs, kept for good."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from capture.analysis.mentions import MATCHER_VERSION
from capture.models.brands import Brand
from capture.models.checks import Check, Prompt
from capture.models.fields import CleanCharField, CleanTextField
from capture.models.teams import Team

UNREAD = 0  # in place of an edition


class Outcome(models.TextChoices):
    """What came of a job. Only an answer counts in any figure; the others say why there is none."""

    ANSWERED = "answered"
    REFUSED = "refused"
    BLOCKED = "blocked"
    INCOMPLETE = "incomplete"
    EMPTY = "empty"
    FAILED = "failed"
    CANCELLED = "cancelled"


class CaptureQuerySet(models.QuerySet["Capture"]):
    def originals(self) -> CaptureQuerySet:
        """Answers that were made for us, not copied for us."""
        return self.answered().filter(cached=False)

    def answered(self) -> CaptureQuerySet:
        return self.filter(outcome=Outcome.ANSWERED)

    def unread(self, brand: Brand) -> CaptureQuerySet:
        """Answers about a brand that have to be read by its names of today, or by other rules than they were.

        One that could not be read (by no rules, yet by this edition) is not tried again. One of which history knows
        nothing was kept by AI Control as it was before there were gists.
        """
        told = Q(matcher__gte=MATCHER_VERSION) & (Q(cached=True) | Q(gist__isnull=False))
        read = Q(edition=brand.edition) & (Q(matcher=0) | told)
        return self.answered().filter(~read, of_check__brand=brand)

    def new_unread(self) -> CaptureQuerySet:
        """Answers that have come without being read, or by names that had changed meanwhile; few, by an index."""
        return self.answered().filter(edition=UNREAD)

    def without_answer(self) -> CaptureQuerySet:
        return self.exclude(outcome=Outcome.ANSWERED)


class Capture(models.Model):
    """An answer with its sources, or why there is none.

    `named` is what a check's own figures are made of, and stays as it is when names change: for the brand and each
    competitor that the answer names, in the order in which it first does, `{"key", "start", "end", "words", "hits",
    "flags"}`; keys are those of `Check.entities`. By the names of today there are `mentions`.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="+")
    of_check = models.ForeignKey(Check, models.CASCADE, related_name="captures")
    prompt = models.ForeignKey(Prompt, models.CASCADE, related_name="captures", db_index=False)
    provider = models.CharField(max_length=20)
    sample = models.PositiveSmallIntegerField(default=1)
    attempt = models.UUIDField(null=True, unique=True, help_text="which attempt this came from; that may be cleaned up")
    remote_id = CleanTextField(most=2000, blank=True, default="", help_text="of the call that this came from")
    outcome = models.CharField(max_length=10, choices=Outcome)
    reason = CleanCharField(max_length=60, blank=True, default="")
    detail = CleanTextField(most=2000, blank=True, default="", help_text="the last error in words")
    text = CleanTextField(most=1_000_000, blank=True, default="")
    model = CleanCharField(max_length=200, blank=True, default="")
    surface = models.CharField(max_length=200)
    attempts = models.PositiveSmallIntegerField()
    unknowns = models.PositiveSmallIntegerField(default=0, help_text="attempts of which nobody knows what they cost")
    seconds = models.FloatField(null=True, help_text="from the start of the call to its answer")
    cost = models.DecimalField(max_digits=14, decimal_places=6, default=0, help_text="US dollars, all attempts")
    simulated = models.BooleanField()
    cached = models.BooleanField(default=False, help_text="the system gave us a copy of an answer made before")
    copy_of = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="copies")
    answered_at = models.DateTimeField()
    named = models.JSONField(default=list, blank=True, help_text="whom it names by the names as they were when asked")
    matcher = models.PositiveSmallIntegerField(default=0, help_text="by whose rules; 0: the answer is not read")
    edition = models.PositiveIntegerField(default=0, help_text="of the brand's names, by which its mentions were found")

    objects = CaptureQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["prompt", "provider", "sample"], name="capture_once"),
            models.CheckConstraint(name="capture_outcome", condition=Q(outcome__in=Outcome.values)),
            models.CheckConstraint(
                name="capture_answer_has_text",
                condition=~Q(outcome=Outcome.ANSWERED) | ~Q(text=""),
            ),
        )
        indexes = (
            models.Index(fields=["remote_id"], name="capture_remote_id", condition=~Q(remote_id="")),
            models.Index(
                fields=["of_check"],
                name="capture_in_no_figure",
                condition=~Q(outcome=Outcome.ANSWERED) | Q(cached=True) | Q(matcher=0) | Q(edition=UNREAD),
            ),
            models.Index(
                fields=["of_check"], name="capture_unread", condition=Q(outcome=Outcome.ANSWERED, edition=UNREAD)
            ),
        )

    def __str__(self) -> str:
        return f"capture {self.pk}: {self.outcome}"


class Source(models.Model):
    """A web page that an answer rests on, once per answer."""

    capture = models.ForeignKey(Capture, models.CASCADE, related_name="sources", db_index=False)
    position = models.PositiveSmallIntegerField()
    url = CleanTextField(most=4000)
    raw_url = CleanTextField(most=4000)
    domain = CleanCharField(max_length=253)
    title = CleanTextField(most=1000, blank=True, default="")
    cited = models.BooleanField(help_text="tied to a place in the text, not only listed")
    spans = models.JSONField(default=list, help_text="[start, end] places in the text, in characters")

    class Meta:
        constraints = (models.UniqueConstraint(fields=["capture", "position"], name="source_position"),)
        indexes = (models.Index(fields=["domain"], name="source_domain"),)

    def __str__(self) -> str:
        return str(self.url)
