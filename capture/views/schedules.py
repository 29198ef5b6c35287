"""Have a check asked by itself from now on, or no more: a plain form, which leads back to the check's page."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from capture import reports, schedules
from capture.forms.repeat import RepeatForm
from capture.models import Check
from capture.views.one_check import for_check


@require_POST
@for_check
def schedule(request: HttpRequest, check: Check) -> HttpResponse:
    """Plan the repetition of a check, or stop it."""
    form = RepeatForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Nothing was changed: choose how often, and an hour from 0 to 23."))
        return redirect(reports.check_url(check))
    planned = schedules.plan(check, form.cleaned_data["every"], form.cleaned_data["hour"])
    if planned and planned.next_due:
        due = date_format(timezone.localtime(planned.next_due), "D j M Y, H:i")
        messages.success(request, _("This check is asked by itself, next on %(due)s.") % {"due": due})
    else:
        messages.info(request, _("This check is not asked by itself."))
    return redirect(reports.check_url(check))
