"""Checks with their questions; staff may open one as its team sees it, to read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from capture import reports
from capture.admin.base import ReadOnlyAdmin, ReadOnlyInline, list_link
from capture.models import Capture, CaptureJob, Check, Prompt

PERMISSION = "capture.open_checks"


class PromptInline(ReadOnlyInline):
    model = Prompt
    fields = ("position", "text", "branded", "key")


@admin.register(Check)
class CheckAdmin(ReadOnlyAdmin):
    list_display = ("uuid", "brand", "team", "created_by", "created_at", "providers", "samples", "jobs", "captures")
    list_select_related = ("brand", "team", "created_by")
    list_filter = ("created_at",)
    search_fields = ("uuid", "brand__name", "team__name")
    readonly_fields = ("jobs", "captures")
    ordering = ("-id",)
    inlines = (PromptInline,)
    view_on_site = False  # that is the team's
    change_form_template = "admin/capture/check/change_form.html"

    def get_urls(self) -> list[URLPattern]:
        pages: dict[str, Callable[..., HttpResponse]] = {
            "<uuid:uuid>/open/": self.open_check,
            "<uuid:uuid>/open/answers/<int:position>/<slug:provider>/<int:sample>/": self.open_answer,
        }
        own = [
            path(route, self.admin_site.admin_view(never_cache(require_safe(view))), name=f"capture_{view.__name__}")
            for route, view in pages.items()
        ]
        return [*own, *super().get_urls()]

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        may_open = {"may_open": request.user.has_perm(PERMISSION)}
        return super().render_change_form(request, context | may_open, *args, **kwargs)

    def open_check(self, request: HttpRequest, uuid: UUID) -> HttpResponse:
        """The page of a check as it is now; it stands still."""
        check = self._opened(request, uuid, "Opened, to read")
        glance = reports.glance_for_staff(uuid)
        if glance is None:
            raise Http404
        progress = reports.progress_of(glance)
        context = {"check": check, "board": progress.board, "progress": progress}
        context |= {"spend": reports.spent_on(check), "summary": reports.summary_of(check)}
        return _shown(request, "admin/capture/check/opened_check.html", check, context)

    def open_answer(self, request: HttpRequest, uuid: UUID, position: int, provider: str, sample: int) -> HttpResponse:
        """The page of one of its answers."""
        check = self._opened(request, uuid, f"Opened, to read: question {position}, {provider}, sample {sample}")
        root = reverse("admin:capture_open_check", args=[uuid])
        found = reports.answer_at(check, position, provider, sample, root)
        if found is None:
            raise Http404
        return _shown(request, "admin/capture/check/opened_answer.html", check, {"answer": found})

    def _opened(self, request: HttpRequest, uuid: UUID, what: str) -> Check:
        """A check of any team, with a line in the log of who has opened it.

        Raises:
            PermissionDenied: somebody may not.
            Http404: there is none.
        """
        if not request.user.has_perm(PERMISSION):
            raise PermissionDenied
        check = Check.objects.select_related("team", "brand").filter(uuid=uuid).first()
        if check is None:
            raise Http404
        if request.method == "GET":
            self.log_change(request, check, what)
        return check

    @admin.display(description="jobs")
    def jobs(self, check: Check) -> SafeString:
        return list_link(CaptureJob, "jobs", of_check__id__exact=check.pk)

    @admin.display(description="captures")
    def captures(self, check: Check) -> SafeString:
        return list_link(Capture, "captures", of_check__id__exact=check.pk)


def _shown(request: HttpRequest, template: str, check: Check, context: dict[str, Any]) -> HttpResponse:
    """A page of the team's, in its time zone, on which nothing can be pressed."""
    with timezone.override(check.team.zone):
        return render(request, template, {"check": check, "read_only": True, "now": timezone.now(), **context})
