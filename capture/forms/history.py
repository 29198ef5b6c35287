"""Of which answers a brand's history is to be told: filters in an address, so that a view can be kept and sent on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any, cast

from django import forms
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from capture import reports
from capture.models import Brand
from capture.reports import AskedSoFar, Scope

USUAL_DAYS = 91
MOST_DAYS = 1_830  # five years

EARLIEST = 2000  # the year

ANY, NONE = "any", "none"  # countries
USUAL = ("since", "until", "prompts", "country", "answers")


class _Day(forms.DateInput):
    """The browser's own choice of a day, which takes one form only."""

    input_type = "date"

    def __init__(self) -> None:
        super().__init__(format="%Y-%m-%d")


class HistoryForm(forms.Form):
    """The filters. What is not said is as usual: a quarter, all systems, questions that do not name the brand.

    Arguments:
        asked: what there is to choose from.
    """

    since = forms.DateField(label=_("From"), required=False, widget=_Day())
    until = forms.DateField(label=_("To"), required=False, widget=_Day())
    prompts = forms.ChoiceField(
        label=_("Questions"),
        required=False,
        choices=[("plain", _("that do not name the brand")), ("branded", _("that name the brand"))],
    )
    country = forms.ChoiceField(label=_("Country"), required=False)
    answers = forms.ChoiceField(
        label=_("Answers"), required=False, choices=[("real", _("real")), ("simulated", _("simulated"))]
    )
    systems = forms.MultipleChoiceField(label=_("AI systems"), required=False, widget=forms.CheckboxSelectMultiple())

    def __init__(self, told: QueryDict, brand: Brand, asked: AskedSoFar) -> None:
        self.brand, self.asked = brand, asked
        data = self._usual(asked) | {name: told[name] for name in USUAL if told.get(name)}
        if "until" in told and not told.get("since"):
            data["since"] = ""
        super().__init__(data | {"systems": told.getlist("systems")}, label_suffix="")
        self._choose("systems", [(slug, reports.system_of(slug).label) for slug in asked.systems])
        countries = [(code or NONE, code or _("none")) for code in asked.countries]
        self._choose("country", [(ANY, _("all")), *countries])

    @staticmethod
    def _usual(asked: AskedSoFar) -> dict[str, Any]:
        """What is not said is shown filled in, as it is taken."""
        today = timezone.localdate()
        since = today - timedelta(days=USUAL_DAYS - 1)
        return dict(zip(USUAL, (since, today, "plain", ANY, "real" if asked.real else "simulated"), strict=True))

    def _choose(self, name: str, choices: Sequence[tuple[str, Any]]) -> None:
        cast("forms.ChoiceField", self.fields[name]).choices = choices

    def clean(self) -> dict[str, Any]:
        told: dict[str, Any] = super().clean() or self.cleaned_data
        if self.errors:
            return told
        today = timezone.localdate()
        until: date = told["until"] or today
        if until > today or until.year <= EARLIEST:
            self.add_error("until", _("There are no answers of that day."))
            return told
        since: date = told["since"] or until - timedelta(days=USUAL_DAYS - 1)
        if since.year < EARLIEST:
            self.add_error("since", _("There are no answers of that day."))
        elif since > until:
            self.add_error("since", _("This is after the last day."))
        elif (until - since).days >= MOST_DAYS:
            self.add_error("since", _("At most five years are shown at once."))
        return told | {"since": since, "until": until}

    @property
    def scope(self) -> Scope:
        """What was asked for; the usual period and questions where that cannot be."""
        told = self.cleaned_data if self.is_valid() else self._unfiltered()
        return Scope(
            brand=self.brand,
            since=told["since"],
            until=told["until"],
            zone=timezone.get_current_timezone(),
            simulated=told["answers"] == "simulated",
            branded=told["prompts"] == "branded",
            systems=tuple(told["systems"]),
            country={ANY: None, NONE: ""}.get(told["country"], told["country"]),
        )

    def _unfiltered(self) -> dict[str, Any]:
        return self._usual(self.asked) | {"systems": ()}
