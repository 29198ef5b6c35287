"""What a team may spend in a month, and the refusal of what does not fit.

What counts is the month's real charges, unknown outcomes at their estimates among them, and the estimate of every open
job. An open job counts once, for the call that is out or for the next one, and what its earlier attempts were charged
counts beside it. A call that was given up, charged at its estimate and then taken up again counts twice until it ends:
rather too much for a while than ever too little.

A month is one of `Charge.day`: a calendar month in UTC, by the database's clock. The simulator's answers cost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from django.conf import settings
from django.db.models import DecimalField, Exists, Model, OuterRef, Q, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from capture import systems
from capture.models import Attempt, CaptureJob, Charge, Team
from capture.models.clock import database_today
from capture.models.jobs import JobQuerySet
from capture.orders import RefusedError

CENT = Decimal("0.01")
NOTHING = Value(Decimal(0), output_field=DecimalField())


class OverBudgetError(RefusedError):
    """It would cost more than is left of the month's budget.

    Arguments:
        what: would cost it, as the beginning of that sentence.
        cost: US dollars.
        room: of the team.
    """

    def __init__(self, what: str, cost: Decimal, room: Room) -> None:
        left = rounded_down(room.left) if room.left else _("nothing")
        sums = {"what": what, "cost": rounded_up(cost), "left": left, "budget": rounded_down(room.budget)}
        super().__init__(_("%(what)s would cost about %(cost)s; %(left)s of this month's %(budget)s is left.") % sums)
        self.cost = cost
        self.room = room


@dataclass(frozen=True, slots=True)
class Room:
    """A team's month, in US dollars.

    Arguments:
        budget: what it may spend.
        charged: what it was charged, or may have been.
        expected: what its open jobs will probably cost.
    """

    budget: Decimal
    charged: Decimal
    expected: Decimal

    @property
    def left(self) -> Decimal:
        return max(Decimal(0), self.budget - self.charged - self.expected)


def room(team: Team) -> Room:
    """How a team stands this month.

    Charges and jobs are read by one statement: a job that ends meanwhile is in the one or in the other, never in
    neither.
    """
    charges = Charge.objects.real().of_team(team).since(database_today().replace(day=1))
    jobs = _real(CaptureJob.objects.open().filter(team=team))
    own, charged, expected = Team.objects.values_list(
        "monthly_budget", _sum(charges, "amount"), _sum(jobs, "estimate")
    ).get(pk=team.pk)
    return Room(settings.CAPTURE_MONTHLY_BUDGET if own is None else own, charged, expected)


def require(team: Team, cost: Decimal, what: str = "") -> None:
    """Refuse what does not fit into the team's month. To be called within the transaction that opens the jobs.

    The team's row stays locked until that transaction ends, so that of two at once the second counts the first's jobs.
    What costs nothing always fits.

    Arguments:
        cost: US dollars; of jobs that are asked again, what `expected` says of them.
        what: costs it, as the beginning of a sentence; empty for a check.

    Raises:
        OverBudgetError: it does not fit.
    """
    Team.objects.lock(team)
    # A statement of its own after the lock; in one statement the sums would be older than the lock.
    found = room(team)
    if cost > found.left:
        raise OverBudgetError(what or _("This check"), cost, found)


def expected(jobs: JobQuerySet) -> Decimal:
    """What jobs will count at while they are open, in US dollars: their estimates, without simulated ones."""
    estimates: Decimal | None = _real(jobs).aggregate(sum=Sum("estimate"))["sum"]
    return estimates or Decimal(0)


def _real(jobs: JobQuerySet) -> JobQuerySet:
    """Jobs that are asked for money: where their call is out, or, before that, where they would be asked now.

    A system that cannot be asked here is taken for real: another machine may have its key.
    """
    out = Attempt.objects.filter(job=OuterRef("pk"), ended_at__isnull=True)
    would_be_simulated = Q(provider__in=systems.simulated())
    return jobs.filter(Exists(out.filter(simulated=False)) | (~Exists(out) & ~would_be_simulated))


def _sum(rows: QuerySet[Model], field: str) -> Coalesce:
    """The sum of a field over all rows, as a column of another query."""
    total = rows.order_by().values("team").annotate(sum=Sum(field)).values("sum")
    return Coalesce(Subquery(total), NOTHING)


def rounded_up(amount: Decimal) -> str:
    """A cost in words, so that it never looks as if it would fit."""
    return f"${amount.quantize(CENT, ROUND_CEILING):,}"


def rounded_down(amount: Decimal) -> str:
    """What is left, in words."""
    return f"${amount.quantize(CENT, ROUND_FLOOR):,}"
