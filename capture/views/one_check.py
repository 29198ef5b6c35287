"""What the views of one check share: it is the team's, or it is not there."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from capture import reports
from capture.models import Check, Team
from capture.views import for_team

P = ParamSpec("P")
CheckView = Callable[Concatenate[HttpRequest, Check, P], HttpResponseBase]


def for_check(view: CheckView[P]) -> Callable[..., HttpResponseBase]:
    """Let a view have the team's check of that address; another team's is not there, just as one that never was."""

    @for_team
    @wraps(view)
    def wrapper(request: HttpRequest, team: Team, /, uuid: UUID, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        check = get_object_or_404(Check.objects.of_team(team).select_related("team"), uuid=uuid)
        try:
            return view(request, check, *args, **kwargs)
        except Check.DoesNotExist:
            raise Http404 from None  # deleted meanwhile

    return wrapper


def for_button(view: CheckView[P]) -> Callable[..., HttpResponseBase]:
    """Let a view have the check when its button is pressed.

    Whoever had to log in first comes back to its address with nothing sent, and is told so on the page of the check.
    """

    @require_http_methods(["GET", "HEAD", "POST"])
    @never_cache
    @for_check
    @wraps(view)
    def wrapper(request: HttpRequest, check: Check, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if request.method == "POST":
            return view(request, check, *args, **kwargs)
        messages.warning(request, _("Nothing was done: you had to log in first. Please press again."))
        return redirect(reports.check_url(check))

    return wrapper
