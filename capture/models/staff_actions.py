"""What staff have decided about many jobs at once, and how far that is carried out."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

UNDER_WAY = Q(confirmed_at__isnull=False, ended_at__isnull=True)


class StaffActionQuerySet(models.QuerySet["StaffAction"]):
    def proposed(self) -> StaffActionQuerySet:
        """Those to which nobody has said yes."""
        return self.filter(confirmed_at__isnull=True)

    def under_way(self) -> StaffActionQuerySet:
        """Those that are to be carried out, the oldest first."""
        return self.filter(UNDER_WAY).defer("targets").order_by("pk")

    def batch(self, number: int, start: int, most: int) -> list[str]:
        """So many of an action's targets; all of them may be many."""
        found: list[str] = self.values_list(f"targets__{start}_{start + most}", flat=True).get(pk=number)
        return found


class StaffAction(models.Model):
    """One decision of one person. What it is about is frozen when proposed, so no more is done than was confirmed."""

    class Kind(models.TextChoices):
        REQUEUE = "requeue", _("ask again")
        CANCEL = "cancel", _("cancel")
        FAIL = "fail", _("fail by hand")
        SETTLE_CHARGED = "settle_charged", _("settle as charged")
        SETTLE_NOT_CHARGED = "settle_not_charged", _("settle as not charged")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    kind = models.CharField(max_length=20, choices=Kind)
    targets = ArrayField(
        models.CharField(max_length=36), help_text="numbers of jobs, or of attempts to settle; none once it has ended"
    )
    count = models.PositiveIntegerField(help_text="of its targets")
    origin = models.CharField(max_length=2000, help_text="path of the page where they were chosen, with its filters")
    across = models.BooleanField(default=False, help_text="all that matched the filters there were chosen")
    cost = models.DecimalField(max_digits=14, decimal_places=6, default=0, help_text="US dollars, about")
    created_at = models.DateTimeField(db_default=Now())
    confirmed_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    done = models.PositiveIntegerField(default=0, help_text="targets that were gone through")
    changed = models.PositiveIntegerField(default=0, help_text="targets with which something was done")
    trouble = models.CharField(max_length=200, blank=True, default="", help_text="why it was broken off")

    objects = StaffActionQuerySet.as_manager()

    class Meta:
        constraints = (
            models.CheckConstraint(
                name="staff_action_confirmed_before_done",
                condition=Q(confirmed_at__isnull=False) | Q(ended_at__isnull=True, done=0, changed=0),
            ),
        )
        indexes = (models.Index(fields=["id"], name="staff_action_under_way", condition=UNDER_WAY),)

    def __str__(self) -> str:
        return f"staff action {self.pk}"

    @property
    def settles(self) -> bool:
        """Whether it is about attempts, not about jobs."""
        return self.kind in (self.Kind.SETTLE_CHARGED, self.Kind.SETTLE_NOT_CHARGED)

    @property
    def unchanged(self) -> int:
        """Targets that were gone through and had moved on by themselves since they were chosen."""
        return self.done - self.changed

    @property
    def is_under_way(self) -> bool:
        return self.confirmed_at is not None and self.ended_at is None
