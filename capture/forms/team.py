"""The form by which staff change a team."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zoneinfo import available_timezones

from django import forms
from django.utils.translation import gettext_lazy as _

from capture.models import Team

if TYPE_CHECKING:
    ModelForm = forms.ModelForm[Team]
else:  # generic in the type checker only
    ModelForm = forms.ModelForm


def zones() -> list[tuple[str, str]]:
    return [(name, name) for name in sorted(available_timezones())]


class TeamForm(ModelForm):
    """A team, whose time zone is one of those that there are."""

    time_zone = forms.ChoiceField(
        choices=zones, label=_("Time zone"), initial="UTC", help_text=_("Its pages show times in it.")
    )

    class Meta:
        model = Team
        fields = ("name", "time_zone", "monthly_budget")
