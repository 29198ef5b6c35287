"""What staff may do to jobs, as lists and pages offer it: what is chosen is frozen, and a page asks about it."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from capture import staff_actions
from capture.admin.base import page_of
from capture.models import CaptureJob, StaffAction
from capture.models.jobs import JobQuerySet

PERMISSIONS = ("capture.act_on_jobs", "capture.view_capturejob")

Kind = StaffAction.Kind

# As the list of jobs and the page of one offer them.
OFFERS = {
    Kind.REQUEUE: "Ask again, where there is no answer",
    Kind.CANCEL: "Cancel what was not asked yet",
    Kind.FAIL: "Fail by hand what is open",
    Kind.SETTLE_CHARGED: "Settle unknown outcomes: charged",
    Kind.SETTLE_NOT_CHARGED: "Settle unknown outcomes: not charged",
}


def may_act(request: HttpRequest) -> bool:
    """Whether somebody may do something to jobs, which only those may who see them. The rows nobody may change."""
    return bool(request.user.has_perms(PERMISSIONS))


def offer(kind: Kind) -> Any:
    """An action of the list: what was chosen is frozen, and a page asks whether it is to be done."""

    @admin.action(description=OFFERS[kind], permissions=["act"])
    def act(self: Any, request: HttpRequest, jobs: JobQuerySet) -> HttpResponse | None:
        return proposed(self, request, kind, staff_actions.targets_of(kind, jobs))

    act.__name__ = kind.value
    return act


def proposed(
    own: Any, request: HttpRequest, kind: Kind, targets: QuerySet[Any, Any], origin: str = ""
) -> HttpResponse | None:
    """Lead to the page that asks; None, with a word, if there is nothing to be done.

    Arguments:
        origin: path of the page where they were chosen; this one unless another is named.
    """
    across = request.POST.get("select_across") == "1"
    origin = origin or request.get_full_path()
    action = staff_actions.propose(request.user, kind, targets, origin, across=across)
    if action is None:
        own.message_user(request, _("With none of them anything would be done."), messages.WARNING)
        return None
    return redirect(page_of(action))


def offers_for(job: CaptureJob) -> list[tuple[str, str]]:
    """The actions that would do something to a job, with what their buttons say."""
    one = CaptureJob.objects.filter(pk=job.pk)
    return [(kind.value, OFFERS[kind]) for kind in Kind if staff_actions.targets_of(kind, one).exists()]
