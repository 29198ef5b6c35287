"""Users in the admin: as Django has them, and staff can invite people by mail."""

from __future__ import annotations

import logging
from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from capture import invitations
from capture.admin.base import OwnActions
from capture.forms.invitation import TAKEN, InvitationForm

log = logging.getLogger(__name__)

NEEDED = ("auth.add_user", "capture.add_team", "capture.add_membership")

admin.site.unregister(User)


@admin.register(User)
class PeopleAdmin(OwnActions, UserAdmin):  # type: ignore[type-arg]  # generic in the type checker only
    change_list_template = "admin/auth/user/people.html"
    actions = ("invite_again",)

    def has_invite_permission(self, request: HttpRequest) -> bool:
        """Whether somebody may invite: it can put people into any team."""
        return request.user.has_perms(NEEDED)

    def get_urls(self) -> list[URLPattern]:
        own = path("invite/", self.admin_site.admin_view(self.invite), name="auth_user_invite")
        return [own, *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        may_invite = {"may_invite": self.has_invite_permission(request)}
        return super().changelist_view(request, {**(extra_context or {}), **may_invite})

    def invite(self, request: HttpRequest) -> HttpResponse:
        """The form, and what it sends."""
        if not self.has_invite_permission(request):
            raise PermissionDenied
        form = InvitationForm(request.POST or None)
        if form.is_valid() and self._invite(request, form):
            return redirect("admin:auth_user_changelist")
        context = {**self.admin_site.each_context(request), "title": _("Invite somebody"), "opts": self.opts}
        return TemplateResponse(request, "admin/auth/user/invite.html", {**context, "form": form})

    def _invite(self, request: HttpRequest, form: InvitationForm) -> bool:
        """Return whether it went out; if not, the form says why."""
        team = form.to_team()
        try:
            user = invitations.invite(form.cleaned_data["address"], team, request)
        except IntegrityError:  # somebody else was quicker
            form.add_error("address", TAKEN)
        except OSError:
            log.exception("An invitation could not be mailed")
            form.add_error(None, _("The mail could not be sent, so nobody was invited. The log says why."))
        else:
            self.log_addition(request, user, f"Invited to the team {team}.")
            self.message_user(request, gettext("An invitation went to %s.") % user, messages.SUCCESS)
            return True
        return False

    @admin.action(description=_("Invite again those who have not chosen a password"), permissions=["invite"])
    def invite_again(self, request: HttpRequest, users: QuerySet[User]) -> None:
        waiting = [user for user in users if user.is_active and user.email and not user.has_usable_password()]
        try:
            for user in waiting:
                invitations.send(user, request)
                self.log_change(request, user, "Invited again.")
        except OSError:
            log.exception("An invitation could not be mailed")
            self.message_user(request, gettext("Not all mails could be sent. The log says why."), messages.ERROR)
            return
        words = ngettext("%d invitation was mailed again.", "%d invitations were mailed again.", len(waiting))
        self.message_user(request, words % len(waiting), messages.SUCCESS if waiting else messages.WARNING)
