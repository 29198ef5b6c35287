"""Attempts; unknown outcomes are found and settled here one by one, and with their jobs."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from capture import staff_actions
from capture.admin.acting import Kind, may_act, proposed
from capture.admin.base import FoundByName, ReadOnlyInline, as_number, as_uuid, in_words, link_to
from capture.models import Attempt, Charge, Worker
from capture.reports.times import span


class UnsettledFilter(admin.SimpleListFilter):
    """Attempts of which a person has to find out whether they were charged."""

    title = _lazy("unknown outcome")
    parameter_name = "unsettled"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", _("not settled yet"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        return queryset.unsettled() if self.value() == "yes" else queryset  # type: ignore[attr-defined]


class AttemptInline(ReadOnlyInline):
    model = Attempt
    ordering = ("number",)
    verbose_name_plural = "attempts"
    fields = ("number", "worker_link", "started_at", "took", "ended_how", "why", "remote_id", "charge")
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> Any:
        worker = Worker.objects.filter(pk=OuterRef("worker"))
        charge = Charge.objects.filter(attempt=OuterRef("pk"))
        return (
            super()
            .get_queryset(request)
            .annotate(
                host=Subquery(worker.values("host")),
                pid=Subquery(worker.values("pid")),
                amount=Subquery(charge.values("amount")),
                basis=Subquery(charge.values("basis")),
            )
        )

    @admin.display(description="worker")
    def worker_link(self, attempt: Any) -> SafeString | str:
        if attempt.host is None:
            return _("%(id)s…, whose row is gone") % {"id": str(attempt.worker)[:8]}
        return link_to(Worker(pk=attempt.worker, host=attempt.host, pid=attempt.pid))

    @admin.display(description="took")
    def took(self, attempt: Attempt) -> str:
        """From its start to its end, as far as it has come."""
        if attempt.ended_at is None:
            return "not over"
        return span((attempt.ended_at - attempt.started_at).total_seconds())

    @admin.display(description="outcome")
    def ended_how(self, attempt: Attempt) -> str:
        """How it ended, and what else is known of it."""
        settled = {None: "", True: _("settled: charged"), False: _("settled: not charged")}[attempt.settled]
        live = _("the call is live") if attempt.live else ""
        simulated = _("simulated") if attempt.simulated else ""
        return "; ".join(filter(None, (attempt.get_outcome_display(), settled, live, simulated)))

    @admin.display(description="why")
    def why(self, attempt: Attempt) -> str:
        return f"{in_words(attempt.reason)}: {attempt.error}" if attempt.error else in_words(attempt.reason)

    @admin.display(description="charge, US dollars")
    def charge(self, attempt: Any) -> str:
        return "-" if attempt.amount is None else f"{attempt.amount} ({attempt.basis})"


@admin.register(Attempt)
class AttemptAdmin(FoundByName):
    list_display = ("id", "job_link", "number", "started_at", "ended_at", "outcome", "reason", "worker", "simulated")
    list_select_related = ("job",)
    list_filter = (UnsettledFilter, "outcome", "simulated", "started_at")
    search_help_text = "The uuid of an attempt, or the number of a job."
    readonly_fields = ("job_link",)
    ordering = ("-job", "-number")
    actions = ("settle_as_charged", "settle_as_not_charged")

    def has_act_permission(self, request: HttpRequest) -> bool:
        return may_act(request)

    def found(self, rows: QuerySet[Any], words: str) -> QuerySet[Any]:
        if number := as_number(words):
            return rows.filter(job=number)
        return rows.filter(pk=uuid) if (uuid := as_uuid(words)) else rows.none()

    @admin.action(description="Settle: it was charged", permissions=["act"])
    def settle_as_charged(self, request: HttpRequest, attempts: Any) -> HttpResponse | None:
        return proposed(self, request, Kind.SETTLE_CHARGED, staff_actions.to_settle(attempts))

    @admin.action(description="Settle: it was not charged", permissions=["act"])
    def settle_as_not_charged(self, request: HttpRequest, attempts: Any) -> HttpResponse | None:
        return proposed(self, request, Kind.SETTLE_NOT_CHARGED, staff_actions.to_settle(attempts))

    @admin.display(description="job", ordering="job")
    def job_link(self, attempt: Attempt) -> SafeString | str:
        return link_to(attempt.job)
