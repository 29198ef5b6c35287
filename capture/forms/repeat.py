"""The form by which a check is repeated by itself: how often, and at which hour."""

from __future__ import annotations

from django import forms
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from capture.models import Check, Schedule

HOURS = [(hour, f"{hour:02}:00") for hour in range(24)]


class RepeatForm(forms.Form):
    """How often a check is repeated, and at which hour of the team's day. Shown in the team's time zone."""

    use_required_attribute = False

    every = forms.ChoiceField(label=gettext_lazy("Repeat"), choices=Schedule.Every.choices)
    hour = forms.TypedChoiceField(label=gettext_lazy("Hour"), choices=HOURS, coerce=int)

    @classmethod
    def of(cls, check: Check, schedule: Schedule | None) -> RepeatForm:
        """The form as it stands for a check, that of its schedule if it has one."""
        planned = schedule or Schedule(template=check)
        form = cls(initial={"every": planned.every, "hour": planned.hour})
        first = timezone.localtime(planned.template.due or planned.template.created_at)
        form.fields["every"].choices = [  # type: ignore[attr-defined]  # a field with choices
            (Schedule.Every.OFF, _("Off")),
            (Schedule.Every.DAILY, _("Daily")),
            (Schedule.Every.WEEKLY, _("Weekly, %(day)s") % {"day": date_format(first, "l")}),
        ]
        form.fields["hour"].label = _("Hour (%(zone)s)") % {"zone": timezone.get_current_timezone_name()}
        return form
