"""What the views of one check share: it is the team's, or it is not there."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404

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
