"""What staff may do to jobs, as lists and pages offer it: what is chosen is frozen, and a page asks about it."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import resolve
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext

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


# What they are called of which something is chosen.
LISTS = {
    "capture_capturejob_changelist": _lazy("the list of jobs"),
    "capture_attempt_changelist": _lazy("the list of attempts"),
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
        origin: path of the page where they were chosen; this list unless another is named.
    """
    across = request.POST.get("select_across") == "1"
    origin = origin or _as_filtered(own, request)
    action = staff_actions.propose(request.user, kind, targets, origin, across=across)
    if action is None:
        none = _(
            "With none of them anything would be done: that may have happened already, and what is settled stays so."
        )
        own.message_user(request, none, messages.WARNING)
        return None
    _tell_of_others(own, request, targets)
    return redirect(page_of(action))


def _tell_of_others(own: Any, request: HttpRequest, targets: QuerySet[Any, Any]) -> None:
    """Say how many of those that were ticked one by one the action leaves as they are."""
    ticked = len(request.POST.getlist(ACTION_CHECKBOX_NAME))
    # To settle is chosen with jobs, and done to attempts.
    wanted = targets if targets.model is own.model else targets.order_by().values("job").distinct()
    others = ticked - wanted.count() if ticked and request.POST.get("select_across") != "1" else 0
    if others > 0:
        words = ngettext(
            "%(others)s of the %(ticked)s that were chosen is left as it is: the action does nothing to it.",
            "%(others)s of the %(ticked)s that were chosen are left as they are: the action does nothing to them.",
            others,
        )
        own.message_user(request, words % {"others": f"{others:,}", "ticked": f"{ticked:,}"}, messages.INFO)


def _as_filtered(own: Any, request: HttpRequest) -> str:
    """The path of a list as its filters narrow it.

    What was searched for may name somebody, and an action is kept for good: nothing else of the query is in it.
    """
    filters = own.get_changelist_instance(request).filter_specs
    names = [name for each in filters for name in each.expected_parameters()]
    query = urlencode({name: request.GET[name] for name in names if name in request.GET})
    return f"{request.path}?{query}" if query else request.path


def place_in_words(origin: str) -> str:
    """What the page is called where something was chosen, and by what its list was narrowed."""
    path, _mark, query = origin.partition("?")
    page = resolve(path)
    number = page.kwargs.get("object_id")
    words = _("job %(number)s") % {"number": number} if number else str(LISTS.get(page.url_name or "", _("the admin")))
    narrowed = "; ".join(f"{name.partition('__')[0]}: {value}" for name, value in parse_qsl(query))
    return f"{words} ({narrowed})" if narrowed else words


def offers_for(job: CaptureJob) -> list[tuple[str, str]]:
    """The actions that would do something to a job, with what their buttons say."""
    one = CaptureJob.objects.filter(pk=job.pk)
    return [(kind.value, OFFERS[kind]) for kind in Kind if staff_actions.targets_of(kind, one).exists()]
