"""Lanes: the limits and pauses of one account that providers share."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import connection, models
from django.db.models import Q

# Whoever freezes while it holds a lane's lock holds up that lane for a moment only.
LOCK_TIMEOUT = timedelta(seconds=2)
IDLE_TIMEOUT = timedelta(seconds=2)

# Written out, as every claim begins with it, and the ORM takes longer to write it, and to read the row, than the server
# to answer.
LOCK = """
    SELECT clock_timestamp(), set_config('lock_timeout', %s, true),
        set_config('idle_in_transaction_session_timeout', %s, true), {columns}
    FROM capture_lane
    WHERE name = %s
    FOR NO KEY UPDATE SKIP LOCKED
"""


class LaneBusyError(Exception):
    """Somebody else has the lane. Nobody waits for it: one that freezes would hold up the other lanes, too."""


class LaneQuerySet(models.QuerySet["Lane"]):
    def lock(self, name: str) -> Any:
        """The lane, locked until the end of the transaction, with the time as `now`.

        The transaction's waits are bounded from here on, for itself only, so that it works behind a connection pooler.

        Raises:
            LaneBusyError: somebody else has it now, or it is not there.
        """
        columns = [f'"{field.column}"' for field in Lane._meta.concrete_fields]
        bounds = [str(span // timedelta(milliseconds=1)) for span in (LOCK_TIMEOUT, IDLE_TIMEOUT)]
        with connection.cursor() as cursor:
            cursor.execute(LOCK.format(columns=", ".join(columns)), [*bounds, name])
            row = cursor.fetchone()
        if row is None:
            raise LaneBusyError(name)
        now, _, _, *values = row
        lane: Any = Lane.from_db(self.db, columns, values)
        lane.now = now
        return lane


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
    last_cooling_since = models.DateTimeField(null=True, blank=True, help_text="of the spell that ended last")
    cooling_repeats = models.PositiveSmallIntegerField(default=0, help_text="how often in a row it was told to wait")
    probe = models.UUIDField(null=True, blank=True, help_text="the claim that finds out whether it goes again")
    opened_at = models.DateTimeField(null=True, blank=True, help_text="when its account last answered again")
    turn = models.BigIntegerField(default=0, help_text="the turn that is being served")

    objects = LaneQuerySet.as_manager()

    class Meta:
        constraints = (models.CheckConstraint(name="lane_limit", condition=Q(limit__gte=1)),)

    def __str__(self) -> str:
        return self.name

    def is_cooling_at(self, now: datetime) -> bool:
        """Whether nothing is asked of its account at a moment; a time that is left of an earlier cooling is none."""
        return self.cooling_since is not None and self.cooling_until is not None and self.cooling_until > now

    @property
    def next_start(self) -> datetime | None:
        """When the next call may be started at the earliest, or None when starts are not spaced."""
        if not self.least_seconds_between_starts or self.last_start_at is None:
            return None
        return self.last_start_at + timedelta(seconds=self.least_seconds_between_starts)
