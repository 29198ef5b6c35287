"""Jobs and their attempts. A job row stays small and hot; long text lives in its capture."""

from __future__ import annotations

from collections.abc import Collection
from decimal import Decimal

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from capture.models.checks import Check, Prompt
from capture.models.clock import StatementTimestamp
from capture.models.fields import CleanCharField, CleanTextField
from capture.models.teams import Team
from capture.models.workers import Worker


class Status(models.TextChoices):
    """The states that `capture.queue` draws and alone moves jobs between."""

    PENDING = "pending"
    CLAIMED = "claimed"
    RUNNING = "running"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


HELD = (Status.CLAIMED, Status.RUNNING)
IN_FLIGHT = (*HELD, Status.WAITING)
OPEN = (Status.PENDING, *IN_FLIGHT)
FINAL = (Status.DONE, Status.FAILED, Status.CANCELLED)

IS_HELD = Q(status__in=HELD)
IS_FINAL = Q(status__in=FINAL)
# A constraint says that it is one and the same as being in one of those states. Said by the states, it would let the
# planner read all open jobs where it wants the pending ones of a lane: if there were few when it last counted, the one
# index is as good to it as the other.
IS_OPEN = Q(finished_at__isnull=True)


class JobQuerySet(models.QuerySet["CaptureJob"]):
    """Sets named after states; they chain."""

    def pending(self) -> JobQuerySet:
        return self.filter(status=Status.PENDING)

    def claimable(self) -> JobQuerySet:
        return self.pending().filter(run_after__isnull=True)

    def postponed(self) -> JobQuerySet:
        return self.pending().filter(run_after__isnull=False)

    def waiting(self) -> JobQuerySet:
        return self.filter(status=Status.WAITING)

    def due(self) -> JobQuerySet:
        return self.filter(run_after__lte=StatementTimestamp())

    def held(self) -> JobQuerySet:
        return self.filter(status__in=HELD)

    def in_flight(self) -> JobQuerySet:
        return self.filter(status__in=IN_FLIGHT)

    def open(self) -> JobQuerySet:
        return self.filter(IS_OPEN)

    def final(self) -> JobQuerySet:
        return self.filter(status__in=FINAL)

    def to_poll(self, lane: str, providers: Collection[str]) -> JobQuerySet:
        """Calls that are due to be looked after, in order."""
        return self.waiting().due().filter(lane=lane, provider__in=providers).order_by("run_after")

    def one_crashed_at_most(self, *, allowed: bool) -> JobQuerySet:
        """Without the jobs that were in a worker's hands when it died, but for the first one if that is allowed.

        One of them may kill its worker each time; together in one worker they would take each other along.
        """
        steady = Q(crashes=0)
        if not allowed:
            return self.filter(steady)
        return self.filter(steady | Q(pk__in=self.filter(crashes__gt=0).values("pk")[:1]))

    def to_start(self, lane: str, providers: Collection[str]) -> JobQuerySet:
        """Jobs that may be started now, in order."""
        return self.claimable().filter(lane=lane, provider__in=providers).order_by("turn", "id")

    def orphaned(self) -> JobQuerySet:
        """Held jobs of whose worker nothing is heard: it is silent, or lost, or has stopped."""
        return self.held().exclude(Exists(Worker.objects.alive().filter(pk=OuterRef("worker"))))

    def forsaken(self) -> JobQuerySet:
        """Held jobs whose worker is lost or has stopped, and that may be taken back by now.

        A start of a worker that is only silent may still be under way: its exchange's deadline is waited for.
        """
        owner = Worker.objects.filter(pk=OuterRef("worker"))
        surely_over = owner.filter(Q(proven_dead=True) | Q(stopped_at__isnull=False))
        return (
            self.held()
            .exclude(Exists(owner.serving()))
            .filter(Q(status=Status.CLAIMED) | Exists(surely_over) | ~Exists(Attempt.under_way()))
        )

    def to_promote(self) -> JobQuerySet:
        """Jobs that were put off and whose time has come, in order."""
        return self.postponed().due().order_by("run_after")


class CaptureJob(models.Model):
    """The ticket: one prompt, one AI system, one sample."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="+", db_index=False)
    of_check = models.ForeignKey(Check, models.CASCADE, related_name="jobs", db_index=False)
    prompt = models.ForeignKey(Prompt, models.CASCADE, related_name="jobs", db_index=False)
    provider = models.CharField(max_length=20)
    lane = models.CharField(max_length=20)
    sample = models.PositiveSmallIntegerField(default=1)

    status = models.CharField(max_length=9, choices=Status, default=Status.PENDING)
    turn = models.BigIntegerField(default=0, help_text="place in the lane's order; equal turns go by number")
    run_after = models.DateTimeField(null=True, help_text="not before; empty on a job that may be claimed now")
    worker = models.UUIDField(null=True)
    claim_token = models.UUIDField(null=True)
    remote_id = CleanTextField(most=2000, null=True)
    polls = models.PositiveIntegerField(default=0)

    attempts = models.PositiveSmallIntegerField(default=0)
    unknowns = models.PositiveSmallIntegerField(default=0, help_text="attempts whose outcome nobody knows")
    crashes = models.PositiveSmallIntegerField(default=0)
    reason = CleanCharField(max_length=60, blank=True, default="", help_text="of the last trouble")
    estimate = models.DecimalField(max_digits=10, decimal_places=6, default=0)

    tried_before = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="start calls of an earlier ticket for this place, which was cleaned up"
    )
    spent_before = models.DecimalField(
        max_digits=14, decimal_places=6, default=Decimal(0), db_default=0, help_text="US dollars, what those have cost"
    )

    created_at = models.DateTimeField(db_default=Now())
    asked_at = models.DateTimeField(null=True, help_text="when the call that is live was started")
    finished_at = models.DateTimeField(null=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        verbose_name = "job"
        permissions = (("act_on_jobs", "Can ask jobs again, cancel and fail them, and settle outcomes"),)
        constraints = (
            models.UniqueConstraint(fields=["prompt", "provider", "sample"], name="job_once"),
            models.CheckConstraint(name="job_status", condition=Q(status__in=Status.values)),
            models.CheckConstraint(
                name="job_token_while_held",
                condition=Q(IS_HELD, claim_token__isnull=False, worker__isnull=False)
                | Q(~IS_HELD, claim_token__isnull=True, worker__isnull=True),
            ),
            models.CheckConstraint(
                name="job_waiting_has_call_and_due_time",
                condition=~Q(status=Status.WAITING) | Q(remote_id__isnull=False, run_after__isnull=False),
            ),
            models.CheckConstraint(
                name="job_no_call_before_its_id",
                condition=~Q(status__in=[Status.PENDING, Status.RUNNING]) | Q(remote_id__isnull=True),
            ),
            models.CheckConstraint(
                name="job_due_time_only_while_put_off",
                condition=Q(status__in=[Status.PENDING, Status.WAITING]) | Q(run_after__isnull=True),
            ),
            models.CheckConstraint(
                name="job_finish_time_when_final",
                condition=Q(IS_FINAL, finished_at__isnull=False) | Q(~IS_FINAL, finished_at__isnull=True),
            ),
        )
        indexes = (
            models.Index(
                fields=["lane", "turn", "id"],
                name="job_claimable",
                condition=Q(status=Status.PENDING, run_after__isnull=True),
            ),
            models.Index(
                fields=["run_after"],
                name="job_postponed",
                condition=Q(status=Status.PENDING, run_after__isnull=False),
            ),
            models.Index(fields=["lane", "run_after"], name="job_waiting", condition=Q(status=Status.WAITING)),
            models.Index(
                fields=["lane"],
                name="job_crashed",
                condition=Q(crashes__gt=0, status__in=[Status.PENDING, Status.WAITING]),
            ),
            models.Index(fields=["lane"], name="job_in_flight", condition=Q(status__in=IN_FLIGHT)),
            models.Index(fields=["worker"], name="job_held", condition=IS_HELD),
            models.Index(fields=["of_check"], name="job_open", condition=IS_OPEN),
            models.Index(fields=["team"], name="job_open_by_team", condition=IS_OPEN),
            models.Index(fields=["of_check"], name="job_by_check"),
            models.Index(fields=["team", "lane", "turn"], name="job_team_turn"),
            models.Index(fields=["finished_at"], name="job_finished", condition=IS_FINAL),
            # For people on call. Only what has gone wrong is in them, so that a job that goes well writes neither.
            models.Index(fields=["reason", "id"], name="job_reason", condition=~Q(reason="")),
            models.Index(
                fields=["status", "finished_at"],
                name="job_failed",
                include=["reason", "provider"],
                condition=Q(status__in=[Status.FAILED, Status.CANCELLED]),
            ),
        )

    def __str__(self) -> str:
        return f"job {self.pk}"


class AttemptOutcome(models.TextChoices):
    """How a start call ended."""

    OPEN = "open"
    REPLIED = "replied", "the system replied"
    ERROR = "error", "the system or the way to it failed"
    UNKNOWN = "unknown", "nobody knows; it may have been charged"


UNSETTLED = Q(outcome=AttemptOutcome.UNKNOWN, settled__isnull=True)


class AttemptQuerySet(models.QuerySet["Attempt"]):
    def undecided(self) -> AttemptQuerySet:
        """Those that are not over: under way, with a call that may still end, or with a charge nobody has settled.

        Of what a person has settled, nobody waits for the end.
        """
        may_end = Q(Q(ended_at__isnull=True) | Q(live=True), settled__isnull=True)
        return self.filter(may_end | UNSETTLED)

    def unsettled(self) -> AttemptQuerySet:
        """Those of which a person has to find out whether they were charged.

        Beside unknown outcomes these are calls that may still end, and that nobody looks after since their jobs failed.
        """
        failed = CaptureJob.objects.filter(pk=OuterRef("job"), status=Status.FAILED)
        return self.filter(UNSETTLED | Q(Exists(failed), ended_at__isnull=True, live=True, settled__isnull=True))


class Attempt(models.Model):
    """One start call of a job: who, when, remote id, how it ended."""

    id = models.UUIDField(primary_key=True, editable=False)
    job = models.ForeignKey(CaptureJob, models.CASCADE, related_name="tries")
    number = models.PositiveSmallIntegerField()
    worker = models.UUIDField()
    base_url = models.CharField(max_length=300)
    simulated = models.BooleanField()
    started_at = models.DateTimeField()
    remote_id = CleanTextField(most=2000, null=True)
    remote_at = models.DateTimeField(null=True)
    live = models.BooleanField(default=False, help_text="its system has not said that the call has ended or is gone")
    deadline = models.DateTimeField(help_text="when the exchange of the start is over at the latest")
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=7, choices=AttemptOutcome, default=AttemptOutcome.OPEN)
    reason = CleanCharField(max_length=60, blank=True, default="")
    error = CleanTextField(most=2000, blank=True, default="")
    spent = models.BooleanField(default=True, help_text="it counts among those that its job may use up")
    settled = models.BooleanField(null=True, help_text="what a person found out of an unknown outcome: charged or not")

    objects = AttemptQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["job", "number"], name="attempt_number"),
            models.UniqueConstraint(fields=["job"], name="attempt_one_open", condition=Q(ended_at__isnull=True)),
            models.CheckConstraint(name="attempt_live_by_its_id", condition=Q(live=False) | Q(remote_id__isnull=False)),
            models.CheckConstraint(
                name="attempt_open_until_ended",
                condition=Q(outcome=AttemptOutcome.OPEN, ended_at__isnull=True)
                | Q(~Q(outcome=AttemptOutcome.OPEN), ended_at__isnull=False),
            ),
        )
        indexes = (models.Index(fields=["ended_at"], name="attempt_unsettled", condition=UNSETTLED),)

    def __str__(self) -> str:
        return f"attempt {self.number} of job {self.job_id}"

    @staticmethod
    def under_way() -> models.QuerySet[Attempt]:
        """Of an outer query's job: the attempt whose exchange may not be over yet."""
        return Attempt.objects.filter(job=OuterRef("pk"), ended_at__isnull=True, deadline__gt=StatementTimestamp())

    @property
    def is_unsettled(self) -> bool:
        """Whether nobody knows if it was charged."""
        return self.outcome == AttemptOutcome.UNKNOWN and self.settled is None
