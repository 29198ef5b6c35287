"""What people do with a check that is there: plain forms, each of which leads to a page that says what happened."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from capture import budgets, queue, reports, systems
from capture.forms.repetition import repetition_of
from capture.models import Check
from capture.orders import RefusedError
from capture.reports import Asking
from capture.views.one_check import for_button, for_check


@for_button
def ask_again(request: HttpRequest, check: Check) -> HttpResponse:
    """Ask the places of a check again that have no answer: the one that the form names, or all of them, or a kind."""
    place, kind = request.POST.get("place", ""), request.POST.get("kind", "")
    board = reports.board_of(check)
    if place and all(cell.anchor != place for cell in board.cells):
        raise Http404
    cells = [cell for cell in reports.without_answer(board, kind) if place in {"", cell.anchor}]
    asking = reports.asking(cells, kind)
    if asking.count and not place and "confirmed" not in request.POST:
        return _confirm(request, check, asking)
    places = [(cell.prompt.pk, cell.system.slug, cell.sample) for cell in cells]
    try:
        asked = queue.requeue_places(check, places, systems.estimates())
    except RefusedError as refusal:
        messages.error(request, str(refusal))
        return redirect(reports.check_url(check))
    if asked:
        told = ngettext("%(number)s question is asked again.", "%(number)s questions are asked again.", asked)
        messages.success(request, told % {"number": asked})
    else:
        messages.warning(request, _("Nothing is asked again: all of it has an answer or is being asked."))
    _tell_missing(request, (cell.system.slug for cell in cells))
    return redirect(reports.check_url(check))


@for_button
def cancel(request: HttpRequest, check: Check) -> HttpResponse:
    """Call off what was not asked yet."""
    called_off = queue.cancel(check.jobs.all())
    under_way = check.jobs.open().count()
    told = ngettext("%(number)s question is called off.", "%(number)s questions are called off.", called_off)
    rest = ngettext(
        "%(number)s was asked before; its answer still comes.",
        "%(number)s were asked before; their answers still come.",
        under_way,
    )
    words = [told % {"number": called_off} if called_off else _("Nothing was left to call off.")]
    words += [rest % {"number": under_way}] if under_way else []
    messages.info(request, " ".join(words))
    return redirect(reports.check_url(check))


@for_button
def repeat(request: HttpRequest, check: Check) -> HttpResponse:
    """Ask all of it again as a new check. The same form sent twice makes one."""
    form = repetition_of(check, request.POST.get("nonce", ""))
    if not form.is_valid():
        reasons = " ".join(str(error) for errors in form.errors.values() for error in errors)
        messages.error(request, _("Nothing was asked.") + f" {reasons}")
        return redirect(reports.check_url(check))
    asking = reports.asking(reports.board_of(check).cells)
    if asking.count > 1 and "confirmed" not in request.POST:
        return _confirm(request, check, asking, form.cleaned_data["nonce"])
    try:
        new, _created = queue.enqueue(
            form.to_order(),
            check.team,
            request.user,
            systems.estimates(),
            repeats=check,
            most_a_minute=settings.CAPTURE_CHECKS_A_MINUTE,
        )
    except RefusedError as refusal:
        messages.error(request, str(refusal))
        return redirect(reports.check_url(check))
    _tell_missing(request, check.providers)
    return redirect(reports.check_url(new))


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@for_check
def delete(request: HttpRequest, check: Check) -> HttpResponse:
    """Ask whether the check is to go for good; then delete it."""
    if request.method != "POST":
        context = {"check": check, "board": reports.board_of(check), "series": reports.series_of(check)}
        return render(request, "capture/delete_check.html", context)
    try:
        queue.delete_check(check)
    except queue.StillOpenError:
        messages.warning(request, _("Nothing was deleted: the check is still under way."))
        return redirect(reports.check_url(check))
    messages.success(request, _("The check is deleted."))
    return redirect("capture:checks")


def _confirm(request: HttpRequest, check: Check, asking: Asking, nonce: str = "") -> HttpResponse:
    """Say how many questions would be asked and for how much; the button there sends the same with a yes."""
    context = {"check": check, "asking": asking, "nonce": nonce, "room": budgets.room(check.team)}
    return render(request, "capture/confirm.html", context)


def _tell_missing(request: HttpRequest, slugs: Iterable[str]) -> None:
    """Say which AI systems are left out, since they cannot be asked here now."""
    missing = [reports.system_of(slug).label for slug in dict.fromkeys(slugs) if slug not in systems.configured()]
    if missing:
        messages.warning(request, _("Left out, since it cannot be asked here now: %s.") % ", ".join(missing))
