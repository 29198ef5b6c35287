"""Attempts; unknown outcomes are found and settled here."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from capture import ledger
from capture.admin.base import ReadOnlyAdmin, link_to
from capture.models import Attempt, AttemptOutcome


class UnsettledFilter(admin.SimpleListFilter):
    """Attempts of which a person has to find out whether they were charged."""

    title = "unknown outcome"
    parameter_name = "unsettled"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "not settled yet")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() != "yes":
            return queryset
        return queryset.filter(outcome=AttemptOutcome.UNKNOWN, settled__isnull=True)


@admin.register(Attempt)
class AttemptAdmin(ReadOnlyAdmin):
    list_display = ("id", "job_link", "number", "started_at", "ended_at", "outcome", "reason", "worker", "simulated")
    list_select_related = ("job",)
    list_filter = (UnsettledFilter, "outcome", "simulated", "started_at")
    search_fields = ("id", "remote_id", "reason", "error", "worker")
    readonly_fields = ("job_link",)
    ordering = ("-started_at",)
    actions = ("settle_as_charged", "settle_as_not_charged")

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("capture.change_attempt"))

    @admin.action(description="Settle: it was charged", permissions=["operate"])
    def settle_as_charged(self, request: HttpRequest, attempts: QuerySet[Attempt]) -> None:
        self._settle(request, attempts, charged=True)

    @admin.action(description="Settle: it was not charged", permissions=["operate"])
    def settle_as_not_charged(self, request: HttpRequest, attempts: QuerySet[Attempt]) -> None:
        self._settle(request, attempts, charged=False)

    def _settle(self, request: HttpRequest, attempts: QuerySet[Attempt], *, charged: bool) -> None:
        chosen = list(attempts.select_related("job"))
        settled = [attempt for attempt in chosen if ledger.settle(attempt, charged=charged)]
        for attempt in settled:
            self.log_change(request, attempt, f"settled as {'' if charged else 'not '}charged")
        level = messages.SUCCESS if settled else messages.WARNING
        self.message_user(request, f"{len(settled)} of {len(chosen)} attempts settled.", level)

    @admin.display(description="job", ordering="job")
    def job_link(self, attempt: Attempt) -> SafeString | str:
        return link_to(attempt.job)
