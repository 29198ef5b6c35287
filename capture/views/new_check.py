"""The start of a check: the form, what is typed into it, and what it sends."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from capture import budgets, queue, reports, starters, systems
from capture.forms import CheckForm, Draft, initial_of, means_starters, new_nonce, only_text, wanted_of
from capture.models import Check, Team
from capture.models.clock import database_now
from capture.orders import RefusedError
from capture.views import UNAUTHORIZED, _htmx, for_team

# Pressing the button again so soon is no wish to ask again.
DOUBLE_CLICK = timedelta(seconds=10)

# The parts of the page that htmx asks for, by the element that they replace.
PARTS = {"check-form": "capture/_form.html", "sum": "capture/_sum.html", "earlier": "capture/_earlier.html"}


@require_http_methods(["GET", "HEAD", "POST"])
def new_check(request: HttpRequest) -> HttpResponseBase:
    """The form, and what it sends; whoever is not logged in any more loses nothing that was typed."""
    if request.method == "POST" and not request.user.is_authenticated:
        return kept(request, UNAUTHORIZED, _("Your session has ended, and nothing was asked yet."), log_in=True)
    return _start(request) if request.method == "POST" else _form(request)


@for_team
def _form(request: HttpRequest, team: Team) -> HttpResponse:
    """An empty form.

    Its random value is in its address: going back finds the same form, a new one is another.
    """
    if not request.GET.get("form"):
        return redirect(f"{request.path}?{urlencode({**request.GET.dict(), 'form': new_nonce()})}")
    typed = QueryDict(mutable=True)
    typed["nonce"] = request.GET["form"]
    typed["do"] = f"brand:{request.GET.get('brand', '')}"
    typed.setlist("providers", list(systems.configured()))
    draft = Draft(only_text(typed), team)
    return render(request, "capture/new_check.html", _context(team, draft.typed, initial=draft.initial))


@for_team
def _start(request: HttpRequest, team: Team) -> HttpResponse:
    typed = only_text(request.POST)
    if means_starters(typed):
        typed["do"] = "starters"
        return _drafted(request, team, typed)
    context = _context(team, typed, data=typed)
    form = context["form"]
    if not form.is_valid():
        form.focus_what_is_wrong()
        return render(request, "capture/new_check.html", context)
    try:
        check, created = queue.enqueue(
            form.to_order(),
            team,
            request.user,
            systems.estimates(),
            most_a_minute=settings.CAPTURE_CHECKS_A_MINUTE,
        )
    except RefusedError as refusal:
        form.add_error(None, str(refusal))
        return render(request, "capture/new_check.html", context)
    if created or database_now() - check.created_at < DOUBLE_CLICK:
        return redirect(reports.check_url(check))
    return _asked_already(request, check, typed)


def _asked_already(request: HttpRequest, check: Check, typed: QueryDict) -> HttpResponse:
    """The same form was sent before; another random value would make it another check."""
    typed["nonce"] = new_nonce()
    return render(request, "capture/asked_already.html", {"check": check, "form": CheckForm(typed)})


@require_POST
@for_team
def draft_check(request: HttpRequest, team: Team) -> HttpResponse:
    """What is typed so far, counted, or changed by what was picked: as a page, or, for htmx, the part that it names."""
    return _drafted(request, team, only_text(request.POST))


def _drafted(request: HttpRequest, team: Team, typed: QueryDict) -> HttpResponse:
    draft = Draft(typed, team)
    part = PARTS.get(_htmx(request).target or "") if _htmx(request) else None
    context = _context(team, draft.typed, initial=draft.initial)
    return render(request, part or "capture/new_check.html", {**context, "note": draft.note, "part": part})


def _context(team: Team, typed: QueryDict, **fields: Any) -> dict[str, Any]:
    outlook = reports.outlook_for(team, wanted_of(typed))
    brand, prompts = typed.get("brand", ""), typed.get("prompts", "")
    return {
        "form": CheckForm(obstacles=outlook.obstacles, **fields),
        "outlook": outlook,
        "room": budgets.room(team),
        "brands": reports.earlier_brands(team),
        "earlier": reports.earlier_prompts(team, brand, without=prompts.splitlines()) if brand else [],
        "categories": starters.CATEGORIES,
        "typed": typed,
    }


def kept(request: HttpRequest, status: int, why: str, *, log_in: bool = False) -> HttpResponse:
    """The form as it was sent, nothing of it lost, and why nothing was asked. Asks the database nothing.

    Arguments:
        log_in: a link to log in stands beside it.
    """
    typed = only_text(request.POST)
    context = {
        "form": CheckForm(initial=initial_of(typed)),
        "typed": typed,
        "why": why,
        "log_in": log_in,
        "csrf_token": get_token(request),
    }
    return HttpResponse(render_to_string("capture/new_check.html", context), status=status)


def is_new_check(request: HttpRequest) -> bool:
    """Whether somebody has pressed Check."""
    return request.method == "POST" and request.path == reverse("capture:new_check")
