"""The form by which staff invite somebody."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from capture.forms.fields import StorableField
from capture.models import Team

TAKEN = _("There is an account with this address already.")


class InvitationForm(forms.Form):
    """Whom to invite, and into which team: one that is there, or a new one."""

    use_required_attribute = False

    address = forms.EmailField(
        label=_("Mail address"),
        max_length=150,  # a username has no more
        help_text=_("The invitation goes there, and it becomes the username."),
    )
    team = forms.ModelChoiceField(
        Team.objects.order_by("name"), label=_("Team"), required=False, empty_label=_("A new team")
    )
    new_team = StorableField(label=_("Name of the new team"), required=False, max_length=150)

    def clean_address(self) -> str:
        address = str(self.cleaned_data["address"]).lower()
        if get_user_model().objects.filter(Q(username__iexact=address) | Q(email__iexact=address)).exists():
            raise ValidationError(TAKEN)
        return address

    def clean_new_team(self) -> str:
        return " ".join(str(self.cleaned_data["new_team"]).split())

    def clean(self) -> dict[str, Any]:
        chosen, name = self.cleaned_data.get("team"), self.cleaned_data.get("new_team")
        if chosen and name:
            self.add_error("new_team", _("Choose a team, or name a new one; not both."))
        elif not chosen and not name and not self.errors.keys() & {"team", "new_team"}:
            self.add_error("new_team", _("Choose a team above, or name a new one here."))
        elif name and Team.objects.filter(name__iexact=name).exists():
            self.add_error("new_team", _("There is a team of this name already; choose it above."))
        return self.cleaned_data

    def to_team(self) -> Team:
        """The team, once the form is valid; a new one is not saved yet."""
        return cast("Team | None", self.cleaned_data["team"]) or Team(name=self.cleaned_data["new_team"])
