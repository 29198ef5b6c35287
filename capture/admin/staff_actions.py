"""What staff have decided about many jobs: asked whether it is to be done, carried out, and what came of it.

One page for all three. While it is carried out, an open page does a part of it every second; so do the workers, and
with neither of them it goes on when somebody looks.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.utils.translation import ngettext_lazy
from django.views.decorators.http import require_POST

from capture import staff_actions
from capture.admin.acting import Kind, may_act, place_in_words
from capture.admin.base import ReadOnlyAdmin, page_of
from capture.models import StaffAction

SECONDS_AT_ONCE = 1.5  # of one request, which a batch may exceed a little

# What would be done, is done or was done: the heading of the page for all three.
HEADINGS = {
    Kind.REQUEUE: ngettext_lazy("Ask %(count)s job again", "Ask %(count)s jobs again", "count"),
    Kind.CANCEL: ngettext_lazy("Cancel %(count)s job", "Cancel %(count)s jobs", "count"),
    Kind.FAIL: ngettext_lazy("Fail %(count)s job by hand", "Fail %(count)s jobs by hand", "count"),
    Kind.SETTLE_CHARGED: ngettext_lazy(
        "Settle %(count)s attempt as charged", "Settle %(count)s attempts as charged", "count"
    ),
    Kind.SETTLE_NOT_CHARGED: ngettext_lazy(
        "Settle %(count)s attempt as not charged", "Settle %(count)s attempts as not charged", "count"
    ),
}


@admin.register(StaffAction)
class StaffActionAdmin(ReadOnlyAdmin):
    list_display = ("id", "kind", "user", "confirmed_at", "count", "done", "changed", "state")
    list_select_related = ("user",)
    list_filter = ("kind", "user")
    ordering = ("-id",)
    change_form_template = "admin/capture/staffaction/change_form.html"

    def has_view_permission(self, request: HttpRequest, obj: StaffAction | None = None) -> bool:
        """Whoever may act has to see what would be done."""
        return may_act(request) or super().has_view_permission(request, obj)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("targets")

    def get_urls(self) -> list[URLPattern]:
        own = [
            path(f"<int:number>/{name}/", self.admin_site.admin_view(require_POST(view)), name=f"staffaction_{name}")
            for name, view in (("confirm", self.confirm), ("go-on", self.go_on))
        ]
        return [*own, *super().get_urls()]

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """A page of its own, instead of all fields."""
        own = _context(request, kwargs["obj"])
        return super().render_change_form(request, context | own, *args, **kwargs)

    def confirm(self, request: HttpRequest, number: int) -> HttpResponse:
        """Somebody has said yes to their own proposal. Said twice, it is done once."""
        action = self._action(request, number)
        if action.user_id != request.user.pk:
            raise PermissionDenied
        staff_actions.confirm(action)
        staff_actions.carry_on(SECONDS_AT_ONCE, action.pk)
        action.refresh_from_db()
        if action.is_under_way or action.trouble:
            return redirect(page_of(action))
        told = _("%(what)s: %(changed)s of %(count)s.") % {
            "what": action.get_kind_display().capitalize(),
            "changed": action.changed,
            "count": action.count,
        }
        self.message_user(request, told, messages.SUCCESS if action.changed else messages.WARNING)
        return redirect(action.origin)

    def go_on(self, request: HttpRequest, number: int) -> HttpResponse:
        """Carry out another part, and say how far it is."""
        action = self._action(request, number)
        staff_actions.carry_on(SECONDS_AT_ONCE, action.pk)
        action.refresh_from_db()
        if not request.headers.get("HX-Request"):
            return redirect(page_of(action))
        return render(request, "admin/capture/staffaction/_progress.html", _context(request, action))

    def _action(self, request: HttpRequest, number: int) -> StaffAction:
        if not may_act(request):
            raise PermissionDenied
        return get_object_or_404(StaffAction.objects.defer("targets"), pk=number)

    @admin.display(description="state")
    def state(self, action: StaffAction) -> str:
        return state_of(action)


def state_of(action: StaffAction) -> str:
    """How it is with an action, in a word."""
    if action.trouble:
        return _("broken off")
    if action.confirmed_at is None:
        return _("not confirmed")
    return _("under way") if action.ended_at is None else _("done")


def _context(request: HttpRequest, action: StaffAction) -> dict[str, Any]:
    own = action.user_id == request.user.pk
    return {
        "action": action,
        "title": HEADINGS[Kind(action.kind)] % {"count": action.count},
        "place": place_in_words(action.origin),
        "state": state_of(action),
        "most": staff_actions.MOST,
        "may_confirm": may_act(request) and own and action.confirmed_at is None,
        "may_go_on": may_act(request) and action.is_under_way,
    }
