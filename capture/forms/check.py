"""The form that starts a check. `startcheck` fills in the same one, so that both take and refuse the same."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from capture import systems
from capture.forms.codes import countries, languages
from capture.forms.fields import CodeField, LinesField, NameField, check_name, shortened
from capture.forms.system_choice import SystemChoice, all_systems, asked_with, available, choices
from capture.forms.words import ai_systems, competitors, questions, too_many
from capture.models import Prompt
from capture.orders import Order
from capture.providers import registry
from capture.reports import Wait

MOST_SAMPLES = 5
NONCE_LENGTH = 64


def new_nonce() -> str:
    """The random value by which one form is told from another."""
    return secrets.token_urlsafe(16)


def check_prompt(prompt: str) -> None:
    """Refuse a question that is none, or too long."""
    if not any(character.isalnum() for character in prompt):
        words = _("“%(question)s” is no question: it has neither letters nor digits.")
        raise ValidationError(words % {"question": shortened(prompt)})
    most = settings.CAPTURE_MAX_PROMPT_LENGTH
    if len(prompt) > most:
        words = _("“%(question)s” has %(length)s characters; at most %(most)s are allowed.")
        told = {"question": shortened(prompt), "length": f"{len(prompt):,}", "most": f"{most:,}"}
        raise ValidationError(words % told)


class CheckForm(forms.Form):
    """What is to be asked, of which AI systems, about which brand."""

    # Errors are told in our words, beside their fields, and not in the browser's.
    use_required_attribute = False

    brand = NameField(
        label=gettext_lazy("Brand"), error_messages={"required": gettext_lazy("Which brand is it about?")}
    )
    competitors = LinesField(label=gettext_lazy("Competitors"), required=False, help_text=gettext_lazy("One a line."))
    prompts = LinesField(
        label=gettext_lazy("Questions"),
        help_text=gettext_lazy("One a line, as somebody would ask an AI system."),
        error_messages={"required": gettext_lazy("Ask at least one question.")},
    )
    providers = forms.MultipleChoiceField(
        label=gettext_lazy("AI systems"),
        choices=all_systems,
        error_messages={"required": gettext_lazy("Choose an AI system.")},
    )
    country = CodeField(
        countries,
        str.upper,
        label=gettext_lazy("Country"),
        error_messages={
            "invalid_choice": gettext_lazy("There is no country “%(value)s”. A code has two letters, like DE.")
        },
    )
    language = CodeField(
        languages,
        str.lower,
        label=gettext_lazy("Language"),
        error_messages={
            "invalid_choice": gettext_lazy("There is no language “%(value)s”. A code has two letters, like de.")
        },
    )
    samples = forms.IntegerField(
        label=gettext_lazy("Samples"),
        required=False,
        min_value=1,
        max_value=MOST_SAMPLES,
        initial=1,
        help_text=gettext_lazy("How often each question is asked. A system seldom gives the same answer twice."),
        error_messages=dict.fromkeys(("invalid", "min_value", "max_value"), gettext_lazy("From 1 to 5, please.")),
    )
    nonce = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, obstacles: Mapping[str, Wait] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._obstacles = obstacles or {}
        self.first_wrong = ""
        unknown = _("There is no AI system “%(value)s”.")
        self.fields["providers"].error_messages["invalid_choice"] = f"{unknown} {available()}"
        for name, rows in {"competitors": 3, "prompts": 8}.items():
            self.fields[name].widget.attrs["rows"] = rows
        self.fields["brand"].widget.attrs["list"] = "brands"
        self.initial.setdefault("providers", list(systems.configured()))
        self.initial.setdefault("nonce", new_nonce())

    # ------------------------------------------------------------------------------------------------ what is typed

    def clean_competitors(self) -> list[str]:
        names = [" ".join(name.split()) for name in self.cleaned_data["competitors"]]
        if len(names) > settings.CAPTURE_MAX_COMPETITORS:
            raise ValidationError(too_many(competitors(len(names)), settings.CAPTURE_MAX_COMPETITORS))
        seen: set[str] = set()
        for name in names:
            check_name(name)
            if name.casefold() in seen:
                raise ValidationError(_("“%(name)s” is there twice.") % {"name": shortened(name)})
            seen.add(name.casefold())
        return names

    def clean_prompts(self) -> list[str]:
        first: dict[str, str] = {}
        for text in self.cleaned_data["prompts"]:
            first.setdefault(Prompt.key_of(text, "", ""), text)
        prompts = list(first.values())
        if len(prompts) > settings.CAPTURE_MAX_PROMPTS:
            raise ValidationError(too_many(questions(len(prompts)), settings.CAPTURE_MAX_PROMPTS))
        for text in prompts:
            check_prompt(text)
        return prompts

    def clean_providers(self) -> list[str]:
        chosen = set(self.cleaned_data["providers"])
        for provider in registry.PROVIDERS:
            if provider.slug in chosen - set(systems.configured()):
                words = _("%(system)s cannot be asked here: %(setting)s is not set.")
                missing = words % {"system": provider.label, "setting": asked_with(provider)}
                raise ValidationError(f"{missing} {available()}")
        return [slug for slug in systems.configured() if slug in chosen]

    def clean_samples(self) -> int:
        return self.cleaned_data["samples"] or 1

    def clean_nonce(self) -> str:
        return str(self.cleaned_data["nonce"])[:NONCE_LENGTH] or new_nonce()

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        self._refuse_brand_among(cleaned.get("competitors", []), cleaned.get("brand", ""))
        if {"prompts", "providers", "samples"} <= cleaned.keys():
            self._refuse_too_many(len(cleaned["prompts"]), cleaned["providers"], cleaned["samples"])
        return cleaned

    def _refuse_brand_among(self, competitors: Iterable[str], brand: str) -> None:
        if brand.casefold() in (name.casefold() for name in competitors):
            self.add_error("competitors", _("“%(name)s” is the brand itself.") % {"name": shortened(brand)})

    def _refuse_too_many(self, prompts: int, providers: Sequence[str], samples: int) -> None:
        jobs = prompts * sum(systems.samples_of(slug, samples) for slug in providers)
        most = settings.CAPTURE_MAX_JOBS
        if jobs > most:
            told = {"questions": questions(prompts), "systems": ai_systems(len(providers)), "samples": samples}
            words = ngettext(
                "%(questions)s to %(systems)s make %(jobs)s jobs; at most %(most)s are allowed.",
                "%(questions)s to %(systems)s, %(samples)s times each, make %(jobs)s jobs; "
                "at most %(most)s are allowed.",
                samples,
            )
            self.add_error("prompts", words % {**told, "jobs": f"{jobs:,}", "most": f"{most:,}"})

    # --------------------------------------------------------------------------------------------- what is shown

    @property
    def systems(self) -> list[SystemChoice]:
        """All AI systems, those that cannot be asked as well."""
        value = self["providers"].value() or []
        chosen = {value} if isinstance(value, str) else set(value)
        return choices(chosen, self._obstacles)

    def focus_what_is_wrong(self) -> None:
        """Let the page begin at the first field that has to be looked at."""
        self.first_wrong = next((field.name for field in self.visible_fields() if field.errors), "")
        if self.first_wrong:
            self.fields[self.first_wrong].widget.attrs["autofocus"] = True

    @property
    def unseen_errors(self) -> list[str]:
        """What is wrong with fields that the page does not show; only a changed page sends that."""
        return [str(message) for message in self["nonce"].errors]

    @property
    def can_ask(self) -> bool:
        return bool(systems.configured())

    # --------------------------------------------------------------------------------------------- what comes of it

    def to_order(self) -> Order:
        """The order, once the form is valid."""
        data = self.cleaned_data
        return Order(
            brand=data["brand"],
            competitors=tuple(data["competitors"]),
            prompts=tuple(data["prompts"]),
            providers=tuple(data["providers"]),
            samples=data["samples"],
            country=data["country"],
            language=data["language"],
            nonce=data["nonce"],
        )
