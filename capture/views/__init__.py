"""The pages. They read reports, and write through the queue only."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, cast
from uuid import UUID

from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers
from django_htmx.http import HttpResponseClientRefresh
from django_htmx.middleware import HtmxDetails

from capture import reports
from capture.forms import new_nonce
from capture.forms.repeat import RepeatForm
from capture.models import Check, Team
from capture.reports import Progress, Shown
from capture.views.lists import page_of, search_words

UNAUTHORIZED = 401
NOTHING_NEW = 204  # htmx leaves the page as it is, and goes on polling

P = ParamSpec("P")
UserView = Callable[Concatenate[HttpRequest, P], HttpResponse]
TeamView = Callable[Concatenate[HttpRequest, Team, P], HttpResponseBase]


def for_team(view: TeamView[P]) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
    """Let a view have the team of whoever is logged in, and its time zone; anybody else is sent to log in."""

    @wraps(view)
    def wrapper(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return _to_login(request)
        team = Team.objects.of(request.user)
        with timezone.override(team.zone):
            return view(request, team, *args, **kwargs)

    return wrapper


def for_user(view: UserView[P]) -> UserView[P]:
    """Let a view have whoever is logged in; anybody else is sent to log in."""

    @wraps(view)
    def wrapper(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        return view(request, *args, **kwargs) if request.user.is_authenticated else _to_login(request)

    return wrapper


def _to_login(request: HttpRequest) -> HttpResponse:
    htmx = _htmx(request)
    if not htmx:
        return redirect_to_login(request.get_full_path())
    # htmx leaves the page as it is, and our script says what has happened; a login page would stand inside it.
    return render(request, "capture/_login.html", {"path": _where(htmx)}, status=UNAUTHORIZED)


def _where(htmx: HtmxDetails) -> str:
    try:
        return htmx.current_url_abs_path or "/"
    except ValueError:  # what the header says is no address
        return "/"


def _htmx(request: HttpRequest) -> HtmxDetails:
    return cast("HtmxDetails", request.htmx)  # type: ignore[attr-defined]  # set by its middleware


@require_safe
@for_team
def checks(request: HttpRequest, team: Team) -> HttpResponse:
    """The team's checks, newest first."""
    words = search_words(request)
    page = page_of(request, reports.checks_of(team, words))
    lines = reports.lines(page).values()
    return render(request, "capture/checks.html", {"page": page, "lines": lines, "words": words})


@require_safe
@never_cache
@vary_on_headers("HX-Request", "Shown")
@for_user
def check(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """A check's page, or, for htmx, what of it has changed since; a page that is open asks all the time."""
    glance = reports.glance_at(request.user, uuid)
    if glance is None:
        raise Http404
    shown = reports.Shown.read(request.headers.get("Shown", ""))
    if _htmx(request) and shown.stamp == glance.stamp:
        return HttpResponse(status=NOTHING_NEW)
    if _htmx(request) and "Over" in request.headers:
        return HttpResponseClientRefresh()  # the check was over on that page, which has none of what it needs now
    with timezone.override(glance.zone):
        return _check_page(request, reports.progress_of(glance), shown)


def _check_page(request: HttpRequest, progress: Progress, shown: Shown) -> HttpResponse:
    context = {"check": progress.check, "board": progress.board, "progress": progress, "nonce": new_nonce()}
    context |= {"again": reports.asking_again(progress.board), "whole": reports.asking(progress.board.cells)}
    # While it goes on, the sums change with each answer, and an open page asks all the time.
    if not (_htmx(request) and progress.board.open):
        context["spend"] = reports.spent_on(progress.check)
        context["summary"] = reports.summary_of(progress.check)
    if _htmx(request):
        news = progress.news(shown)
        context |= {"news": news, "groups": progress.groups_of(news)}
        return render(request, "capture/_news.html", context)
    context["series"] = series = reports.series_of(progress.check)
    context["repeat_form"] = RepeatForm.of(progress.check, series.schedule)
    return render(request, "capture/check.html", context)


@require_safe
@never_cache
def check_status(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """The check as programs read it; to them a login page would be no answer."""
    if not request.user.is_authenticated:
        return JsonResponse(
            {"error": "Log in first: this needs the session of a member of the check's team."}, status=401
        )
    found = Check.objects.of_team(Team.objects.of(request.user)).filter(uuid=uuid).first()
    if found is None:
        return JsonResponse({"error": "There is no such check."}, status=404)
    return JsonResponse(reports.check_status(found))


def _check(team: Team, uuid: UUID) -> Check:
    """The team's check. Another team's is not there, just as one that never was."""
    return get_object_or_404(Check.objects.of_team(team), uuid=uuid)
